// SPDX-License-Identifier: MIT
// Which element of a matrix each lane of a warp holds, as machine code for sm_80 to sm_90 has it: matrices
// consist of blocks of 8 x 8, of each of which a lane holds two neighbours; where k is 8, of 8 x 4, of which it holds
// one element. (CUDA leaves it open, and
// promises no more than that all fragments of one kind are alike.)
#pragma once
#include "cpu_device/qualifiers.h"

namespace cpu_device {

enum class MatrixUse { a, b, accumulator };

struct MatrixPlace {
    int row, col;
};

// Element `index` of lane `lane` in a product m x n x k of wmma: A is m x k, B is k x n, accumulators are
// m x n.
__host__ __device__ constexpr MatrixPlace matrix_place(MatrixUse use, int m, int n, int k, int lane,
                                                       int index) {
    if (k == 8 && use == MatrixUse::a)
        return {lane / 4 + 8 * (index % 2), lane % 4 + 4 * (index / 2)};
    if (k == 8 && use == MatrixUse::b)
        return {lane % 4 + 4 * (index % 2), lane / 4 + 8 * (index / 2)};
    const int slow = lane / 4, fast = lane % 4 * 2 + index % 2, block = index / 2;
    switch (use) {
        case MatrixUse::a:  // pairs along k; blocks first down, then along k, 16 x 16 at a time
            return m == 8 ? MatrixPlace{slow, fast + 8 * block}
                          : MatrixPlace{slow + 8 * (block % 2) + 16 * (block / 4),
                                        fast + 8 * (block / 2 % 2)};
        case MatrixUse::b:  // pairs along k
            return {fast + 8 * (block % 2), slow + 8 * (block / 2)};
        case MatrixUse::
            accumulator:  // pairs along n; where m is 8, the transposed product is computed
            break;
    }
    if (m == 8) return {fast, slow + 8 * block};
    if (n == 8) return {slow + 8 * block, fast};
    return {slow + 8 * (block % 2), fast + 8 * (block / 2)};
}

// Which lane holds an element, and as which of its own: the other way round.
struct MatrixOwner {
    int lane, index;
};
__host__ __device__ constexpr MatrixOwner owner_in_a(int m, int k, int row, int col) {
    if (k == 8) return {row % 8 * 4 + col % 4, col / 4 * 2 + row / 8};
    const int block = m == 8 ? col / 8 : row / 16 * 4 + col / 8 * 2 + row / 8 % 2;
    return {row % 8 * 4 + col % 8 / 2, block * 2 + col % 2};
}
__host__ __device__ constexpr MatrixOwner owner_in_b(int k, int row, int col) {
    if (k == 8) return {col % 8 * 4 + row % 4, col / 8 * 2 + row / 4};
    return {col % 8 * 4 + row % 8 / 2, (col / 8 * 2 + row / 8) * 2 + row % 2};
}

}  // namespace cpu_device
