// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 07_batched_gemm/tiles, version 1.0
//
// What the steps share: where the matrices of a batch lie, which part of C is a block's, how tiles get into
// shared memory in packs of 16 bytes, and how results go out.
#pragma once
#include <cstdint>
#include <type_traits>

#include <cuda_runtime.h>
#include <mma.h>

#include "../04_warp_softmax/ask_once.cuh"

namespace batched_gemm {

// One matrix as it is multiplied; ld: from one line in memory to the next.
template <class T>
struct Matrix {
    T* data;
    int64_t ld;
    bool transposed;
    __device__ T& operator()(int64_t row, int64_t col) const {
        return data[transposed ? col * ld + row : row * ld + col];
    }
};

// Those of a batch: `stride` elements apart (0: one for all), or wherever `each` says, an array of pointers
// in device memory.
template <class T>
struct Matrices {
    T* data = nullptr;
    int64_t ld = 0;
    int64_t stride = 0;
    bool transposed = false;
    T* const* each = nullptr;
    __device__ Matrix<T> operator[](int64_t b) const {
        T* const first = each == nullptr ? data + b * stride : each[b];
        __builtin_assume(__isGlobal(first));  // else, since it was loaded, nvcc uses generic loads
        return {first, ld, transposed};
    }
};

// A[b] is m x k, B[b] is k x n, C[b] is m x n. Where beta is 0, C is written and not read.
template <class T>
struct Problem {
    int64_t batch, m, n, k;
    float alpha = 1.f;
    Matrices<const T> a, b;
    float beta = 0.f;
    Matrices<T> c;
};

template <class T>
__device__ void write(T& c, float sum, const Problem<T>& of) {
    float result = of.alpha * sum;
    if (of.beta != 0.f) result += of.beta * static_cast<float>(c);
    c = static_cast<T>(result);
}

// A block's share of C: tiles along n first, then along m, then the batch.
struct Tile {
    int64_t batch, row, col;
    __device__ Tile(int64_t m, int64_t n, int rows, int cols) {
        const int64_t down = (m + rows - 1) / rows, across = (n + cols - 1) / cols;
        batch = blockIdx.x / across / down;
        row = blockIdx.x / across % down * rows;
        col = blockIdx.x % across * cols;
    }
};

// ---- packs: elements beside each other in memory, loaded or stored by one instruction

constexpr int kThreads = 256;  // of a block that loads packs

template <class T, int kCount>
struct __align__(sizeof(T) * kCount) Pack {
    T of[kCount];
};
template <class T>
constexpr int kPerPack = 16 / sizeof(T);  // in 16 bytes

template <class T, int kCount>
__device__ float4 four_of(const Pack<T, kCount>& pack, int i) {
    return make_float4(static_cast<float>(pack.of[i]), static_cast<float>(pack.of[i + 1]),
                       static_cast<float>(pack.of[i + 2]), static_cast<float>(pack.of[i + 3]));
}

// Loads kRows x kCols elements of x as it lies in memory, from element `at` of line `line` on; beyond its `lines`
// lines of `length` elements are zeros. put(row, col, pack) gets each pack once, in one of the block's threads;
// kAtOnce of a thread's are on their way before it waits for the first.
template <int kRows, int kCols, int kCount, class T, class Put>
__device__ void for_each_pack(const Matrix<const T>& x, int64_t line, int64_t lines, int64_t at,
                              int64_t length, Put put) {
    constexpr int kEach = kRows * kCols / kCount / kThreads, kAtOnce = kEach < 4 ? kEach : 4;
    static_assert(kEach % kAtOnce == 0 && kEach * kThreads * kCount == kRows * kCols,
                  "all threads load as many packs");
#pragma unroll(kCount == 1 ? 1 : kEach)  // single elements would be too many at once
    for (int begin = 0; begin < kEach; begin += kAtOnce) {
        const int first = (static_cast<int>(threadIdx.x) + begin * kThreads) * kCount;
        Pack<T, kCount> packs[kAtOnce] = {};
#pragma unroll  // an array that a variable indexes would lie in no registers
        for (int i = 0; i < kAtOnce; ++i) {
            const int place = first + i * kThreads * kCount;
            const int64_t row = line + place / kCols, col = at + place % kCols;
            if (row >= lines || col >= length) continue;
            packs[i] = *reinterpret_cast<const Pack<T, kCount>*>(x.data + row * x.ld + col);
        }
#pragma unroll
        for (int i = 0; i < kAtOnce; ++i) {
            const int place = first + i * kThreads * kCount;
            put(place / kCols, place % kCols, packs[i]);
        }
    }
}

// Four sums beside each other go to columns col to col + 3 of a line of C: as one pack, or each for itself.
template <int kCount, class T>
__device__ void write_pack(const Problem<T>& g, T* c, const float* sums) {
    Pack<T, kCount> pack{};
    if (g.beta != 0.f) pack = *reinterpret_cast<Pack<T, kCount>*>(c);
    for (int i = 0; i < kCount; ++i) write(pack.of[i], sums[i], g);
    *reinterpret_cast<Pack<T, kCount>*>(c) = pack;
}
template <int kCount, class T>
__device__ void write_four(const Problem<T>& g, T* line, int64_t col, float4 four) {
    constexpr int kAtOnce = kCount == 1 ? 1 : 4;
    const float sums[] = {four.x, four.y, four.z, four.w};
#pragma unroll
    for (int i = 0; i < 4; i += kAtOnce) {
        if (col + i < g.n) write_pack<kAtOnce>(g, line + col + i, sums + i);
    }
}

// ---- the tiles of steps 3 and 4, for 128 x 128 elements of C

constexpr int kBlockTile = 128;
constexpr int kDepth = 16;  // of step 3's tiles, along k

// What a thread multiplies lies side by side: k goes down. Four columns more, so that rows begin in
// different banks, but still at multiples of 16 bytes.
using DepthTile = float[kDepth][kBlockTile + 4];

// A pack that runs along k goes down its column, others go across.
template <class T, int kCount>
__device__ void put_down(DepthTile& tile, int row, int col, const Pack<T, kCount>& pack) {
    for (int i = 0; i < kCount; ++i) tile[col + i][row] = static_cast<float>(pack.of[i]);
}
template <class T, int kCount>
__device__ void put_across(DepthTile& tile, int row, int col, const Pack<T, kCount>& pack) {
    if constexpr (kCount == 1) tile[row][col] = static_cast<float>(pack.of[0]);
    for (int i = 0; i + 4 <= kCount; i += 4)
        *reinterpret_cast<float4*>(&tile[row][col + i]) = four_of(pack, i);
}

// line: of A a row, of B a column. along_k: whether neighbours in memory are neighbours along k.
template <int kCount, class T>
__device__ void load_tile(DepthTile& tile, const Matrix<const T>& x, bool along_k, int64_t line,
                          int64_t lines, int64_t p, int64_t k) {
    if (along_k) {
        for_each_pack<kBlockTile, kDepth, kCount>(
            x, line, lines, p, k,
            [&](int row, int col, const auto& pack) { put_down(tile, row, col, pack); });
    } else {
        for_each_pack<kDepth, kBlockTile, kCount>(
            x, p, k, line, lines,
            [&](int row, int col, const auto& pack) { put_across(tile, row, col, pack); });
    }
}

constexpr int kSlab = 64;  // of step 4's tiles, along k

// How A and B are stored: row_major, or col_major where transposed.
template <class OfA, class OfB>
struct Stored {
    using A = OfA;
    using B = OfB;
};

// A tile as its matrix lies in memory. 8 columns more, so that the eight lines of 16 bytes that ldmatrix
// reads at once lie in different banks.
template <class Layout, int kTall, int kWide>
struct StoredTile {
    static constexpr bool kIsStraight = std::is_same_v<Layout, nvcuda::wmma::row_major>;
    static constexpr int kRows = kIsStraight ? kTall : kWide, kCols = kIsStraight ? kWide : kTall;
    static constexpr int kPitch = kCols + 8;
    // Of element (row, col) of the matrix as it is multiplied.
    __device__ static int at(int row, int col) {
        return kIsStraight ? row * kPitch + col : col * kPitch + row;
    }
    template <int kCount, class T>
    __device__ static void load(T* tile, const Matrix<const T>& x, int64_t row, int64_t rows,
                                int64_t col, int64_t cols) {
        const auto put = [&](int line, int place, const Pack<T, kCount>& pack) {
            *reinterpret_cast<Pack<T, kCount>*>(tile + line * kPitch + place) = pack;
        };
        if constexpr (kIsStraight)
            for_each_pack<kRows, kCols, kCount>(x, row, rows, col, cols, put);
        if constexpr (!kIsStraight)
            for_each_pack<kRows, kCols, kCount>(x, col, cols, row, rows, put);
    }
};

// ---- launching

// Of the current device, and as steps 4 and beyond want them: for half and bfloat16.
inline bool has_tensor_cores() {
    return warp_softmax::device_attribute(cudaDevAttrComputeCapabilityMajor) >= 8;
}

// Whether the matrices consist of whole packs: lines of such a length begin and end at multiples of 16
// bytes. Of matrices that `each` points to nobody on the host knows.
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

// launch(blocks) for as many blocks as there are tiles of rows x cols in all of C; nothing where C is
// empty. cudaErrorInvalidValue for a null pointer, an address that no T has, a negative size or stride, lines
// that overlap, one C for several products, 2^31 tiles or more.
template <class T, class Launch>
cudaError_t launch_tiles(const Problem<T>& g, int rows, int cols, Launch launch) {
    if (g.batch < 0 || g.m < 0 || g.n < 0 || g.k < 0) return cudaErrorInvalidValue;
    if (g.batch == 0 || g.m == 0 || g.n == 0) return cudaSuccess;
    if (!is_placed(g.c, g.n) || g.c.transposed) return cudaErrorInvalidValue;
    if (g.batch > 1 && g.c.each == nullptr && g.c.stride == 0) return cudaErrorInvalidValue;
    const int64_t row_a = g.a.transposed ? g.m : g.k, row_b = g.b.transposed ? g.k : g.n;
    if (g.k > 0 && !(is_placed(g.a, row_a) && is_placed(g.b, row_b))) return cudaErrorInvalidValue;
    const int64_t down = (g.m - 1) / rows + 1, across = (g.n - 1) / cols + 1;
    if (g.batch > INT32_MAX / down / across) return cudaErrorInvalidValue;
    launch(static_cast<unsigned>(g.batch * down * across));
    return cudaGetLastError();
}

}  // namespace batched_gemm
