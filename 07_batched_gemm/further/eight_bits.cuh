// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 07_batched_gemm/further/eight_bits, version 1.0
//
// Products of 8-bit numbers, e4m3 or int8_t, with the scales that turn their sums into results.
//   new here   after hopper_gemm.cuh, whose kernel this is: a line of 128 bytes has 128 elements, so a step along k multiplies
//              twice as many pairs in the same time; an epilogue with scales
//   traffic    as hopper_gemm.cuh, with elements of one byte
//   accepts    __nv_fp8_e4m3 and int8_t; A row-major, B transposed: wgmma reads 8-bit operands only along k. Results: half,
//              bfloat16, float, and of int8_t also int
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
