// SPDX-License-Identifier: MIT
// The named inputs: every value is a pure function of (type, seed, row, col), the same on every
// device.
#pragma once
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <cuda_runtime.h>

#include "common/operations/softmax/shape.hpp"
#include "common/runner/random.cuh"

namespace operations::softmax {

using runner::mix;
using runner::unit;

enum class Input {
    uniform,       // [0, 1): what most benchmarks use, and what hides most faults
    normal,        // mean 0, standard deviation 1 (nearly)
    large,         // normal + 1000: exp(x) overflows
    all_negative,  // normal - 200 (- 1000 in float64): exp(x) vanishes
    ties,          // small integers: many equal maxima
    spike,         // normal, and one 50 in each row: nearly all the weight on one element
    masked,        // normal, three in ten replaced by -inf, one in each row kept
    masked_slice,  // normal, -inf in all but the last quarter: slices of -inf alone
    constant,      // all 3.25
    denormal,      // one 0 in each row, beside which results are subnormal: in float from -103 on
    special,  // rows with a NaN, with +inf, of -inf alone, in turn: all of each is NaN, or 0 where masked
};
const std::vector<Input>& all_inputs();
const char* name_of(Input input);
const char* summary_of(Input input);

// The sum of four uniforms, centred and scaled: exact, hence equal on every device. A wide one has
// digits that no float has: a kernel that takes a double for a float must not go unseen.
__host__ __device__ inline double nearly_normal(uint64_t bits, bool wide) {
    const int sum = static_cast<int>(bits & 0xffff) + static_cast<int>((bits >> 16) & 0xffff) +
                    static_cast<int>((bits >> 32) & 0xffff) + static_cast<int>(bits >> 48);
    const double normal = (sum - 2 * 0xffff) * (1.75 / 0x10000);
    return wide ? normal + unit(mix(bits), true) * 0x1p-16 : normal;
}

// Where softmax beside a 0 is subnormal in the type: from `lowest` on, `width` wide.
struct SubnormalLogarithms {
    double lowest;
    double width;
};
__host__ __device__ inline SubnormalLogarithms subnormal_logarithms(DType dtype) {
    switch (dtype) {
        case DType::float16:
            return {-16.5, 6.75};  // 2^-24 to 2^-14
        case DType::bfloat16:
            return {-92, 4.5};  // 2^-133 to 2^-126
        case DType::float64:
            return {-744, 35};  // 2^-1074 to 2^-1022
        case DType::float32:
            break;
    }
    return {-103, 15.625};  // 2^-149 to 2^-126
}

// The value before it is rounded to the type, which is done once.
__host__ __device__ inline double unrounded_input_value(DType dtype, Input input, uint64_t seed,
                                                        int64_t row, int64_t col, int64_t cols) {
    const uint64_t bits = mix(mix(seed + static_cast<uint64_t>(row)) + static_cast<uint64_t>(col));
    const int64_t chosen =
        static_cast<int64_t>(mix(seed ^ static_cast<uint64_t>(row)) % static_cast<uint64_t>(cols));
    const bool wide = dtype == DType::float64;
    const double normal = nearly_normal(bits, wide);
    switch (input) {
        case Input::uniform:
            return unit(bits, wide);
        case Input::normal:
            return normal;
        case Input::large:
            return normal + 1000;
        case Input::all_negative:
            return normal - (wide ? 1000 : 200);
        case Input::ties:
            return static_cast<double>(bits % 4);
        case Input::spike:
            return col == chosen ? 50 : normal;
        case Input::masked:
            return col != chosen && mix(bits) % 10 < 3 ? -INFINITY : normal;
        case Input::masked_slice:
            return col < cols - (cols + 3) / 4 ? -INFINITY : normal;
        case Input::constant:
            return 3.25;
        case Input::denormal: {
            const SubnormalLogarithms range = subnormal_logarithms(dtype);
            // In 24 bits: the product is exact, fused with the sum or not.
            return col == chosen ? 0 : range.lowest + range.width * unit(bits, false);
        }
        case Input::special:
            if (row % 3 == 2) return -INFINITY;
            return col != chosen ? normal : row % 3 == 0 ? NAN : INFINITY;
    }
    return 0;
}

template <class T>
__host__ __device__ T input_value(Input input, uint64_t seed, int64_t row, int64_t col,
                                  int64_t cols) {
    return static_cast<T>(unrounded_input_value(dtype_of<T>, input, seed, row, col, cols));
}

// A mask: row 1 of four is masked out, row 2 kept, of the others two elements in three.
__host__ __device__ inline bool mask_value(uint64_t seed, int64_t row, int64_t col) {
    if (row % 4 == 1 || row % 4 == 2) return row % 4 == 2;
    return mix(mix(seed + static_cast<uint64_t>(row)) + static_cast<uint64_t>(col)) % 3 != 0;
}

// Fills x (device memory of shape and dtype) on the default stream.
void fill(void* x, DType dtype, Shape shape, Input input, uint64_t seed);

// The same of x2, where the operation has one: a mask, or a gradient, which is `normal`.
void fill_x2(void* x2, Kind kind, DType dtype, Shape shape, uint64_t seed);

// Where the operation is a backward one, x becomes what it takes: softmax or log_softmax of x, in
// fp64, rounded once.
void apply_forward(void* x, Kind kind, DType dtype, Shape shape);

}  // namespace operations::softmax
