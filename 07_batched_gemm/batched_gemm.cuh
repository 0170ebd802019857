// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 07_batched_gemm, version 2.0
//
// C[b] = alpha A[b] B[b] + beta C[b] for each matrix b of a batch, in six kernels with a header each. Each kernel is a
// rung of a ladder: it changes one thing to remove the limit of the rung before. This header has the launchers.
//   traffic    loads per element of C: naive 2k, tiled 2k / 32, register_column 2k / 64, all others 2k / 128
//   accepts    float, half, bfloat16 (tensor_core: half and bfloat16), sums in float; any sizes, k = 0 included;
//              A and B each row-major or stored transposed, C row-major; any strides; addresses aligned as their type
//   needs      for tensor_core a GPU of compute capability 8.0
//   source     Hong & Kung 1981 (tiles); Volkov & Demmel 2008 (registers); S. Boehm 2022 (this order)
#pragma once
#include <algorithm>

#include "../04_warp_softmax/ask_once.cuh"
#include "naive.cuh"
#include "register_column.cuh"
#include "register_tile.cuh"
#include "tensor_core.cuh"
#include "tiled.cuh"
#include "vector_loads.cuh"

namespace batched_gemm {

// True if the current device multiplies half and bfloat16 on tensor cores.
inline bool has_tensor_cores() {
    return warp_softmax::device_attribute(cudaDevAttrComputeCapabilityMajor) >= 8;
}

template <class T>
constexpr int kPerPack = 16 / sizeof(T);  // elements in 16 bytes

// True if all lines, of `length` elements, begin and end at multiples of 16 bytes; false if `each` holds the addresses.
template <class T>
bool consists_of_packs(const Matrices<T>& x, int64_t length) {
    const auto address = reinterpret_cast<uintptr_t>(x.data);
    const auto elements = static_cast<uint64_t>(length | x.ld | x.stride);
    return x.each == nullptr && address % 16 == 0 && elements % kPerPack<T> == 0;
}
template <class T>
bool consists_of_packs(const Problem<T>& g) {
    return consists_of_packs(g.a, g.a.transposed ? g.m : g.k) &&
           consists_of_packs(g.b, g.b.transposed ? g.k : g.n) && consists_of_packs(g.c, g.n);
}

template <class T>
bool is_placed(const Matrices<T>& x, int64_t length) {
    return (x.data != nullptr || x.each != nullptr) && x.ld >= length && x.stride >= 0 &&
           reinterpret_cast<uintptr_t>(x.data) % sizeof(T) == 0;
}
template <class T, class Result>
bool is_empty(const Problem<T, Result>& g) {
    return g.batch == 0 || g.m == 0 || g.n == 0;
}
// Returns cudaErrorInvalidValue for a null or misaligned pointer, a negative size or stride, overlapping lines, one C
// shared by several products, or at least 2^31 tiles of rows x cols; otherwise cudaSuccess.
template <class T, class Result>
cudaError_t status_of(const Problem<T, Result>& g, int rows, int cols) {
    if (g.batch < 0 || g.m < 0 || g.n < 0 || g.k < 0) return cudaErrorInvalidValue;
    if (is_empty(g)) return cudaSuccess;
    if (!is_placed(g.c, g.n) || g.c.transposed) return cudaErrorInvalidValue;
    if (g.batch > 1 && g.c.each == nullptr && g.c.stride == 0) return cudaErrorInvalidValue;
    const int64_t row_a = g.a.transposed ? g.m : g.k, row_b = g.b.transposed ? g.k : g.n;
    if (g.k > 0 && !(is_placed(g.a, row_a) && is_placed(g.b, row_b))) return cudaErrorInvalidValue;
    const int64_t down = (g.m - 1) / rows + 1, across = (g.n - 1) / cols + 1;
    return g.batch > INT32_MAX / down / across ? cudaErrorInvalidValue : cudaSuccess;
}

// ---- launchers: asynchronous on stream; they return the errors of status_of(), and launch nothing for an empty C

// Returns the matrices of the batch from number b on.
template <class T>
Matrices<T> from(Matrices<T> x, int64_t b) {
    if (x.data != nullptr) x.data += b * x.stride;
    if (x.each != nullptr) x.each += b;
    return x;
}
// Launches a block for each tile of C: blockIdx.x counts tiles down, y tiles across, z matrices. A grid has at most
// 65,535 blocks along y and z. A larger batch takes several launches; for more rows of tiles it returns cudaErrorInvalidValue.
template <class T>
cudaError_t launch(void (*kernel)(Problem<T>), const Problem<T>& g, int rows, int cols, dim3 block,
                   cudaStream_t stream) {
    constexpr int64_t kMost = 65535;
    const cudaError_t status = status_of(g, rows, cols);
    if (status != cudaSuccess || is_empty(g)) return status;
    dim3 grid(static_cast<unsigned>((g.m - 1) / rows + 1),
              static_cast<unsigned>((g.n - 1) / cols + 1));
    if (grid.y > kMost) return cudaErrorInvalidValue;
    for (int64_t b = 0; b < g.batch; b += kMost) {
        Problem<T> part = g;
        part.a = from(g.a, b), part.b = from(g.b, b), part.c = from(g.c, b);
        grid.z = static_cast<unsigned>(std::min(kMost, g.batch - b));
        kernel<<<grid, block, 0, stream>>>(part);
    }
    return cudaGetLastError();
}

template <class T>
cudaError_t naive(const Problem<T>& g, cudaStream_t stream) {
    return launch(naive_kernel<T>, g, kNaiveSide, kNaiveSide, {kNaiveSide, kNaiveSide}, stream);
}
template <class T>
cudaError_t tiled(const Problem<T>& g, cudaStream_t stream) {
    return launch(tiled_kernel<T>, g, kTile, kTile, dim3(kTile, kTile), stream);
}
template <class T>
cudaError_t register_column(const Problem<T>& g, cudaStream_t stream) {
    return launch(register_column_kernel<T>, g, kColumnSide, kColumnSide, kColumnThreads, stream);
}
template <class T>
cudaError_t register_tile(const Problem<T>& g, cudaStream_t stream) {
    return launch(register_tile_kernel<T>, g, kSide, kSide, kSideThreads, stream);
}
// Loads single elements if lines do not consist of packs. tensor_core does so too, and also if A or B is transposed.
template <class T>
cudaError_t vector_loads(const Problem<T>& g, cudaStream_t stream) {
    const auto kernel =
        consists_of_packs(g) ? vector_loads_kernel<T, 4> : vector_loads_kernel<T, 1>;
    return launch(kernel, g, kVectorSide, kVectorSide, kVectorThreads, stream);
}
template <class T>
cudaError_t tensor_core(const Problem<T>& g, cudaStream_t stream) {
    static_assert(sizeof(T) == 2, "tensor cores multiply half or bfloat16 here");
    if (!has_tensor_cores()) return cudaErrorNotSupported;
    const bool in_packs = consists_of_packs(g) && !g.a.transposed && !g.b.transposed;
    const auto kernel = in_packs ? tensor_core_kernel<T, 8> : tensor_core_kernel<T, 1>;
    return launch(kernel, g, kCoreSide, kCoreSide, kCoreThreads, stream);
}

}  // namespace batched_gemm
