// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 07_batched_gemm/further/eight_bits, version 1.0
//
// Products of 8-bit numbers, e4m3 or int8_t, with the scales that turn their sums into results.
//   new here   after hopper_gemm.cuh, whose kernel this is: a line of 128 bytes has 128 elements, so a step along k multiplies
//              twice as many pairs in the same time; epilogues with scales, and one that writes 8 bits for the next product
//   traffic    as hopper_gemm.cuh, with elements of one byte
//   accepts    __nv_fp8_e4m3 and int8_t; A row-major, B transposed: wgmma reads 8-bit operands only along k. Results: half,
//              bfloat16, float, e4m3, int8_t, and of int8_t also int
//   accuracy   sums of int8_t are exact. Tensor cores keep about 14 bits of the significand of a sum of e4m3 products
//   needs      compute capability 9.0, compiled for sm_90a
//   source     PTX ISA 9.0: wgmma.mma_async with .e4m3 and .s8; Micikevicius et al. 2022, FP8 Formats for Deep Learning
#pragma once
#include "hopper_gemm.cuh"

namespace batched_gemm {

// An epilogue: multiplies a result by scales in device memory. nullptr stands for ones. Scales of rows and of columns of the
// next matrix begin rows_apart and cols_apart floats further; 0: all matrices share them.
struct Scales {
    const float* of_all = nullptr;
    const float* of_rows = nullptr;
    const float* of_cols = nullptr;
    int64_t rows_apart = 0, cols_apart = 0;
    __device__ float operator()(float x, int64_t b, int64_t row, int64_t col) const {
        if (of_all != nullptr) x *= *of_all;
        if (of_rows != nullptr) x *= of_rows[b * rows_apart + row];
        return of_cols != nullptr ? x * of_cols[b * cols_apart + col] : x;
    }
};

// An epilogue for results of 8 bits: rounds scale times what `inner`, an epilogue for single results, returns. If there is a
// `largest`, *largest must be 0 or positive; it becomes the largest magnitude before the scale if that is larger (NaN counts as
// larger than all others), so that the caller can choose the next scale. Both lie in device memory.
template <class Inner = Plain>
struct Quantise {
    static constexpr bool kFinishesTiles = true;
    static_assert(!batched_gemm::kFinishesTiles<Inner>, "inner returns one result for one sum");
    const float* scale;
    float* largest = nullptr;
    Inner inner{};

    template <int kSums, class Problem>
    __device__ void finish_tile(float (&sums)[kSums], const Problem& g, int batch, int first_row,
                                int first_col) const {
        const float by = *scale;
        unsigned most = 0;  // magnitudes are ordered as their bits are
        for_each_sum(sums, g, first_row, first_col, [&](float& sum, int row, int col) {
            const float x = inner(sum, batch, row, col);
            most = max(most, __float_as_uint(x) & 0x7fffffffu);
            sum = by * x;
        });
        if (largest == nullptr) return;
        most = __reduce_max_sync(~0u, most);
        if (threadIdx.x % 32 == 0) atomicMax(reinterpret_cast<unsigned*>(largest), most);
    }
};

// An epilogue that also sums the rows of C: parts[(batch * count + i) * g.m + row] is the sum, in float and before rounding, of
// the row's results in tile i of `count` across C. See row_sum_parts().
template <class Inner = Plain>
struct RowSums {
    static constexpr bool kFinishesTiles = true;
    static_assert(!batched_gemm::kFinishesTiles<Inner>, "inner returns one result for one sum");
    float* parts;
    Inner inner{};

    template <int kSums, class Problem>
    __device__ void finish_tile(float (&sums)[kSums], const Problem& g, int batch, int first_row,
                                int first_col) const {
        constexpr int kCols = 2 * kSums;
        float upper = 0.f, lower = 0.f;  // the thread's rows lie 8 apart
        for_each_sum(sums, g, first_row, first_col, [&](float& sum, int row, int col) {
            sum = inner(sum, batch, row, col);
            if (row % 16 < 8) {
                upper += sum;
            } else {
                lower += sum;
            }
        });
#pragma unroll
        for (int apart = 1; apart <= 2; apart *= 2) {  // four lanes share a row
            upper += __shfl_xor_sync(~0u, upper, apart);
            lower += __shfl_xor_sync(~0u, lower, apart);
        }
        const int thread = static_cast<int>(threadIdx.x) % 128, lane = thread % 32;
        const int64_t row = first_row + thread / 32 * 16 + lane / 4;
        const int64_t part = batch * ((g.n - 1) / kCols + 1) + first_col / kCols;
        if (lane % 4 == 0 && row < g.m) parts[part * g.m + row] = upper;
        if (lane % 4 == 0 && row + 8 < g.m) parts[part * g.m + row + 8] = lower;
    }
};
// Returns in how many parts hopper_with() sums a row.
template <class T, class Result>
int64_t row_sum_parts(const Problem<T, Result>& g) {
    return (g.n - 1) / hopper_plan(g).cols + 1;
}

// Computes C = scales(alpha A B + beta C). Asynchronous on stream. Returns the errors of hopper_with(); cudaErrorNotSupported
// also if A is transposed or B is not.
template <class T, class Result>
cudaError_t eight_bit_gemm(const Problem<T, Result>& g, const Scales& scales, cudaStream_t stream) {
    static_assert(sizeof(T) == 1, "elements of e4m3 or int8_t");
    const bool are_ones =
        scales.of_all == nullptr && scales.of_rows == nullptr && scales.of_cols == nullptr;
    return are_ones ? hopper_with(g, Plain{}, stream) : hopper_with(g, scales, stream);
}

}  // namespace batched_gemm
