// SPDX-License-Identifier: MIT
#include "common/operations/topk/inputs.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "common/operations/softmax/inputs.cuh"
#include "common/operations/softmax/reference.cuh"
#include "common/runner/device.hpp"

namespace operations::topk {
namespace {

using runner::mix;

// A permutation of [0, count) for each key: a Feistel network on the next larger even number of bits, again
// and again until its result lies in the range.
__host__ __device__ int64_t shuffled(int64_t index, int64_t count, uint64_t key) {
    int half = 1;
    while ((int64_t{1} << (2 * half)) < count) ++half;
    const uint64_t mask = (uint64_t{1} << half) - 1;
    auto at = static_cast<uint64_t>(index);
    do {
        for (uint64_t round = 0; round < 4; ++round) {
            const uint64_t left = at >> half;
            const uint64_t right = at & mask;
            at = right << half | (left ^ (mix(key ^ mix(right + round)) & mask));
        }
    } while (at >= static_cast<uint64_t>(count));
    return static_cast<int64_t>(at);
}

// Of cols numbers from -4 to 4 the one with so many below.
__host__ __device__ double evenly_spaced(int64_t rank, int64_t cols) {
    return 8 * ((static_cast<double>(rank) + 0.5) / static_cast<double>(cols)) - 4;
}

struct Distinct {
    uint64_t seed;
    int64_t cols;
    __device__ double operator()(int64_t row, int64_t col) const {
        return evenly_spaced(shuffled(col, cols, mix(seed + static_cast<uint64_t>(row))), cols);
    }
};

struct Sorted {
    int64_t cols;
    bool descending;
    __device__ double operator()(int64_t, int64_t col) const {
        return evenly_spaced(descending ? cols - 1 - col : col, cols);
    }
};

// Rank 0, 1, ... in a shuffled row; of rows some have none of these, some one, some three, some ten.
struct Ranked {
    uint64_t seed;
    int64_t cols;
    __device__ int64_t rank(int64_t row, int64_t col) const {
        return shuffled(col, cols, mix(seed + static_cast<uint64_t>(row)));
    }
    __device__ int64_t few(int64_t row) const {
        constexpr int kFew[] = {3, 0, 10, 1};
        return kFew[row % 4];
    }
};

struct Plateau : Ranked {
    __device__ double operator()(int64_t row, int64_t col) const {
        const int64_t place = rank(row, col);
        if (place < few(row)) return static_cast<double>(1 + place % 4);
        return place % 8 == 7 ? -1. : 0.25;  // and a few lie below
    }
};

// step: 1 + step is the type's next number to 1. A type with fewer numbers has each several times.
struct Neighbours : Ranked {
    double step;
    __device__ double operator()(int64_t row, int64_t col) const {
        const auto numbers = static_cast<int64_t>(1 / step);
        return 1 + static_cast<double>(rank(row, col) % numbers) * step;
    }
};

// Probabilities fall as rank^-1.5: the first 60 of 100,000 have nine tenths.
struct Peaked : Ranked {
    __device__ double operator()(int64_t row, int64_t col) const {
        return 12 - 1.5 * log(static_cast<double>(rank(row, col) + 1));
    }
};

struct FewLeft : Ranked {
    __device__ double operator()(int64_t row, int64_t col) const {
        const int64_t place = rank(row, col);
        return place < few(row) ? static_cast<double>(place % 3) : -INFINITY;
    }
};

struct Special {
    uint64_t seed;
    __device__ double operator()(int64_t row, int64_t col) const {
        const uint64_t bits =
            mix(mix(seed + static_cast<uint64_t>(row)) + static_cast<uint64_t>(col));
        const double normal = softmax::nearly_normal(mix(bits), false);
        const int64_t kind = row % 4;
        if (kind == 2) return -INFINITY;
        switch (bits % 16) {
            case 0:
                return kind != 1 ? NAN : normal;
            case 1:
                return kind != 0 ? INFINITY : normal;
            case 2:
            case 3:
                return -INFINITY;
            case 4:
                return 0;
            case 5:
                return -0.;
            default:
                return normal;
        }
    }
};

template <class T, class Value>
__global__ void fill_kernel(T* x, int64_t count, int64_t cols, Value value) {
    const int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x;
    for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
         i += step) {
        x[i] = static_cast<T>(value(i / cols, i % cols));
    }
}

template <class Value>
void fill_with(void* x, DType dtype, const Shape& shape, Value value) {
    const int64_t count = shape.rows * shape.cols;
    if (count == 0) return;
    constexpr int kThreads = 256;
    const auto blocks =
        static_cast<unsigned>(std::min<int64_t>((count + kThreads - 1) / kThreads, 1 << 14));
    visit(dtype, [&](auto of) {
        using T = typename decltype(of)::type;
        fill_kernel<<<blocks, kThreads>>>(static_cast<T*>(x), count, shape.cols, value);
    });
    runner::check_cuda(cudaGetLastError(), "filling the input");
}

}  // namespace

std::vector<runner::NamedInput> all_inputs() {
    std::vector<runner::NamedInput> inputs = {
        {kDistinct, "evenly spaced from -4 to 4 and shuffled: no two are equal"},
        {kSpecial, "rows with NaN, with +inf, of -inf alone, in turn"},
        {kAscending, "evenly spaced from -4 up to 4"},
        {kDescending, "evenly spaced from 4 down to -4"},
        {kPlateau, "up to ten above, some below, all others equal"},
        {kNeighbours, "numbers from 1 that follow each other in the type, shuffled"},
        {kPeaked, "12 - 1.5 log(rank), shuffled: a few have most of the weight"},
        {kFewLeft, "-inf but for 0, 1, 3 or 10 elements"}};
    for (const softmax::Input input : softmax::all_inputs()) {
        if (input != softmax::Input::special) inputs.push_back({name_of(input), summary_of(input)});
    }
    return inputs;
}

void fill(void* x, DType dtype, const Shape& shape, const std::string& input, uint64_t seed) {
    if (input == kDistinct) return fill_with(x, dtype, shape, Distinct{seed, shape.cols});
    if (input == kSpecial) return fill_with(x, dtype, shape, Special{seed});
    if (input == kAscending) return fill_with(x, dtype, shape, Sorted{shape.cols, false});
    if (input == kDescending) return fill_with(x, dtype, shape, Sorted{shape.cols, true});
    const Ranked ranked{seed, shape.cols};
    if (input == kPlateau) return fill_with(x, dtype, shape, Plateau{ranked});
    if (input == kPeaked) return fill_with(x, dtype, shape, Peaked{ranked});
    if (input == kFewLeft) return fill_with(x, dtype, shape, FewLeft{ranked});
    if (input == kNeighbours) {
        const double step = std::ldexp(1., -softmax::precision_of(dtype).fraction_bits);
        return fill_with(x, dtype, shape, Neighbours{ranked, step});
    }
    for (const softmax::Input each : softmax::all_inputs()) {
        if (input == name_of(each))
            return softmax::fill(x, dtype, {shape.rows, shape.cols}, each, seed);
    }
    throw std::invalid_argument("no input is called " + input);
}

}  // namespace operations::topk
