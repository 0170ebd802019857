// SPDX-License-Identifier: MIT
#include "common/operations/gemm/inputs.hpp"

#include <algorithm>
#include <cmath>

#include "common/operations/gemm/check.hpp"
#include "common/operations/named_inputs.hpp"
#include "common/operations/softmax/inputs.cuh"
#include "common/runner/device.hpp"

namespace operations::gemm {
namespace {

using runner::mix;

enum class Input { normal, integers, positive, cancelling, wide, tiny, special };
enum class Which : uint64_t { a, b, c };

struct Named {
    Input input;
    const char* name;
    const char* summary;
};
constexpr Named kInputs[] = {
    {Input::normal, kNormal, "mean 0, standard deviation 1 (nearly)"},
    {Input::integers, kIntegers, "whole numbers from -3 to 3: sums are exact in any order"},
    {Input::positive, "positive", "uniform in [0, 1): nothing cancels"},
    {Input::cancelling, "cancelling", "each product followed by its negative: sums of nearly 0"},
    {Input::wide, kWide, "normal times 64: products that leave the range of float16"},
    {Input::tiny, "tiny", "normal times 2^-12: products that are subnormal in float16"},
    {Input::special, kSpecial, "rows of A with NaN or inf, columns of B with -inf"},
};

// What one matrix holds. row, col: of the matrix as it is multiplied, however it is stored.
struct Value {
    Input input;
    Which which;
    uint64_t seed;
    double scale = 1;

    __device__ uint64_t bits(int64_t b, int64_t row, int64_t col) const {
        const uint64_t of_matrix =
            mix(mix(seed + static_cast<uint64_t>(which)) + static_cast<uint64_t>(b));
        return mix(mix(of_matrix + static_cast<uint64_t>(row)) ^ static_cast<uint64_t>(col));
    }
    __device__ double normal(int64_t b, int64_t row, int64_t col) const {
        return softmax::nearly_normal(bits(b, row, col), false);
    }
    __device__ double operator()(int64_t b, int64_t row, int64_t col) const {
        return scale * unscaled(b, row, col);
    }
    __device__ double unscaled(int64_t b, int64_t row, int64_t col) const {
        switch (input) {
            case Input::normal:
                break;
            case Input::integers:
                return static_cast<double>(bits(b, row, col) % 7) - 3;
            case Input::positive:
                return runner::unit(bits(b, row, col), false);
            case Input::cancelling:  // along k, pairs: equal in A, opposite in B
                if (which == Which::a) return normal(b, row, col / 2);
                if (which == Which::b)
                    return row % 2 == 0 ? normal(b, row, col) : -normal(b, row - 1, col);
                break;
            case Input::wide:
                return 64 * normal(b, row, col);
            case Input::tiny:
                return 0x1p-12 * normal(b, row, col);
            case Input::special:
                return special(b, row, col);
        }
        return normal(b, row, col);
    }
    // One in eight elements of a row of A, or of a column of B, of every fourth or fifth.
    __device__ double special(int64_t b, int64_t row, int64_t col) const {
        const uint64_t draw = bits(b, row, col);
        const double usual = draw % 16 == 1 ? 0 : softmax::nearly_normal(mix(draw), false);
        if (draw % 8 != 0) return usual;
        if (which == Which::a) return row % 4 == 1 ? NAN : row % 4 == 2 ? INFINITY : usual;
        if (which == Which::b) return col % 5 == 3 ? -INFINITY : usual;
        return draw % 64 == 0 ? NAN : usual;
    }
};

// Of four neighbours along k in B, two that chance chooses become 0.
struct PrunedValue {
    Value value;
    __device__ double operator()(int64_t b, int64_t row, int64_t col) const {
        constexpr unsigned kPairs[] = {0b0011, 0b0101, 0b0110, 0b1001, 0b1010, 0b1100};
        const uint64_t of_four = mix(value.bits(b, row / 4, col));
        return (kPairs[of_four % 6] >> row % 4 & 1) != 0 ? value(b, row, col) : 0;
    }
};

struct Nan {
    __device__ double operator()(int64_t, int64_t, int64_t) const { return NAN; }
};

template <class T>
__device__ T element_of(double value) {
    if constexpr (std::is_same_v<T, int8_t>) {
        return static_cast<int8_t>(value == value ? fmin(fmax(rint(value), -127.), 127.) : 0.);
    } else {
        return static_cast<T>(value);
    }
}

// rows x cols: as stored.
template <class T, class At>
__global__ void fill_kernel(T* x, int64_t count, int64_t rows, int64_t cols, bool transposed,
                            At at) {
    const int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x;
    for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
         i += step) {
        const int64_t b = i / (rows * cols), row = i / cols % rows, col = i % cols;
        x[i] = element_of<T>(transposed ? at(b, col, row) : at(b, row, col));
    }
}

// rows x cols: as multiplied.
template <class T, class At>
void fill_matrices(T* x, int64_t batch, int64_t rows, int64_t cols, bool transposed, At at) {
    const int64_t count = batch * rows * cols;
    if (x == nullptr || count == 0) return;
    constexpr int kThreads = 256;
    const auto blocks =
        static_cast<unsigned>(std::min<int64_t>((count + kThreads - 1) / kThreads, 1 << 14));
    fill_kernel<<<blocks, kThreads>>>(x, count, transposed ? cols : rows, transposed ? rows : cols,
                                      transposed, at);
    runner::check_cuda(cudaGetLastError(), "filling a matrix");
}

}  // namespace

std::vector<runner::NamedInput> all_inputs() {
    return listed(kInputs);
}

void fill(void* a, void* b, void* c, DType dtype, Kind kind, const Shape& shape,
          const std::string& input, uint64_t seed) {
    const Input which = input_named(input, kInputs).input;
    double scale = kind == Kind::s8 ? 32 : 1;
    if (which == Input::integers) scale = 1;
    if (which == Input::tiny) scale = kind == Kind::s8 ? 0x1p12 : kind == Kind::e4m3 ? 0x1p3 : 1;
    visit_operands(dtype, kind, [&](auto of) {
        using T = typename decltype(of)::type;
        fill_matrices(static_cast<T*>(a), shape.batch, shape.m, shape.k, shape.transpose_a,
                      Value{which, Which::a, seed, scale});
        const auto fill_b = [&](auto at) {
            fill_matrices(static_cast<T*>(b), shape.batch, shape.k, shape.n, shape.transpose_b, at);
        };
        const Value of_b{which, Which::b, seed, scale};
        kind == Kind::pruned ? fill_b(PrunedValue{of_b}) : fill_b(of_b);
    });
    visit(dtype, [&](auto of) {
        auto* const results = static_cast<typename decltype(of)::type*>(c);
        if (shape.beta == 0) {
            fill_matrices(results, shape.batch, shape.m, shape.n, false, Nan{});
        } else {
            fill_matrices(results, shape.batch, shape.m, shape.n, false,
                          Value{which, Which::c, seed});
        }
    });
}

}  // namespace operations::gemm
