// SPDX-License-Identifier: MIT
#include "common/operations/attention/inputs.hpp"

#include <algorithm>
#include <cmath>

#include "common/operations/named_inputs.hpp"
#include "common/operations/softmax/inputs.cuh"
#include "common/runner/device.hpp"

namespace operations::attention {
namespace {

using runner::mix;

enum class Input { normal, lengths, large, ties, ascending, tiny, special };
enum class Which : uint64_t { q, k, v };

struct Named {
    Input input;
    const char* name;
    const char* summary;
};
constexpr Named kInputs[] = {
    {Input::normal, kNormal, "mean 0, standard deviation 1 (nearly)"},
    {Input::lengths, kLengths, "as normal; sequences of any length, 0 and 1 too"},
    {Input::large, "large", "normal times 8: nearly all the weight on one key"},
    {Input::ties, "ties", "small whole numbers: many equal scores"},
    {Input::ascending, kAscending, "each key's score is the largest so far"},
    {Input::tiny, "tiny", "normal times 2^-12: products that are subnormal in float16"},
    {Input::special, kSpecial, "some queries and keys with NaN or inf, values with NaN"},
};

// Keys that count: all, or, of four sequences, some, none, one and all.
__host__ __device__ int32_t length_of(Input input, uint64_t seed, int64_t b, int64_t keys) {
    int64_t length = keys;
    if (input == Input::lengths && b % 4 == 0)
        length = static_cast<int64_t>(mix(seed + static_cast<uint64_t>(b)) %
                                      static_cast<uint64_t>(keys + 1));
    if (input == Input::lengths && b % 4 == 1) length = 0;
    if (input == Input::lengths && b % 4 == 2) length = keys < 1 ? keys : 1;
    return static_cast<int32_t>(length);
}

struct Value {
    Input input;
    Which which;
    uint64_t seed;
    int64_t rows;  // of a head
    bool causal;

    __device__ double operator()(int64_t head, int64_t row, int64_t col) const {
        const uint64_t of_head =
            mix(mix(seed + static_cast<uint64_t>(which)) + static_cast<uint64_t>(head));
        const uint64_t bits =
            mix(mix(of_head + static_cast<uint64_t>(row)) ^ static_cast<uint64_t>(col));
        const double normal = softmax::nearly_normal(bits, false);
        switch (input) {
            case Input::large:
                return which == Which::v ? normal : 8 * normal;
            case Input::ties:
                return static_cast<double>(bits % 5) - 2;
            case Input::ascending:
                if (which == Which::q) return 1;
                if (which == Which::k)
                    return 2 * static_cast<double>(row) / static_cast<double>(rows);
                return normal;
            case Input::tiny:
                return 0x1p-12 * normal;
            case Input::special:
                return special(bits, row, col, normal);
            default:
                return normal;
        }
    }
    // Rare: a key that is NaN makes all that see it NaN. A value that is NaN only where nobody looks past it.
    __device__ double special(uint64_t bits, int64_t row, int64_t col, double normal) const {
        const uint64_t draw = mix(bits);
        if (which == Which::q && row % 4 == 1) return draw % 8 == 0 ? NAN : normal;
        if (which == Which::q && row % 4 == 2) return draw % 8 == 0 ? INFINITY : normal;
        if (which == Which::k && row > 8 && mix(row) % 16 == 0 && col % 8 == 0) return -INFINITY;
        if (which == Which::k && row > 40 && mix(row) % 64 == 1 && col == 1) return NAN;
        if (which == Which::v && !causal && row > 2 && mix(row) % 32 == 3 && col % 5 == 0)
            return NAN;
        return normal;
    }
};

// Rows of heads, of which those that do not count are NaN.
template <class T>
__global__ void fill_kernel(T* x, int64_t count, int64_t size, int64_t heads, Value value) {
    const int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x;
    for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
         i += step) {
        const int64_t head = i / size / value.rows, row = i / size % value.rows;
        const bool counts = value.which == Which::q ||
                            row < length_of(value.input, value.seed, head / heads, value.rows);
        x[i] = static_cast<T>(counts ? value(head, row, i % size) : NAN);
    }
}

__global__ void lengths_kernel(int32_t* lengths, int64_t count, Input input, uint64_t seed,
                               int64_t keys) {
    for (int64_t b = threadIdx.x; b < count; b += blockDim.x)
        lengths[b] = length_of(input, seed, b, keys);
}

void fill_rows(void* x, DType dtype, const Shape& shape, const Value& value) {
    const int64_t heads = value.which == Which::q ? shape.heads : shape.heads_of_keys();
    const int64_t count = shape.batch * heads * value.rows * shape.size;
    if (x == nullptr || count == 0) return;
    constexpr int kThreads = 256;
    const auto blocks =
        static_cast<unsigned>(std::min<int64_t>((count + kThreads - 1) / kThreads, 1 << 14));
    visit(dtype, [&](auto of) {
        using T = typename decltype(of)::type;
        fill_kernel<<<blocks, kThreads>>>(static_cast<T*>(x), count, shape.size, heads, value);
    });
    runner::check_cuda(cudaGetLastError(), "filling rows");
}

}  // namespace

std::vector<runner::NamedInput> all_inputs() {
    return listed(kInputs);
}

void fill(const Filled& into, DType dtype, const Shape& shape, const std::string& input,
          uint64_t seed) {
    const Input which = input_named(input, kInputs).input;
    fill_rows(into.q, dtype, shape, {which, Which::q, seed, shape.queries, shape.causal});
    fill_rows(into.k, dtype, shape, {which, Which::k, seed, shape.keys, shape.causal});
    fill_rows(into.v, dtype, shape, {which, Which::v, seed, shape.keys, shape.causal});
    if (into.lengths == nullptr || shape.batch == 0) return;
    lengths_kernel<<<1, 128>>>(static_cast<int32_t*>(into.lengths), shape.batch, which, seed,
                               shape.keys);
    runner::check_cuda(cudaGetLastError(), "filling lengths");
}

}  // namespace operations::attention
