// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 04_warp_softmax/further/any_width, version 1.0
//
// Softmax at full speed of rows that do not consist of whole packs of 16 bytes: a warp copies several
// contiguous rows to shared memory in packs, and each lane reads its elements there.
//   new here   asynchronous copies to shared memory; kernels for many widths, so that few registers stay empty
//   traffic    1 read + 1 write per element, in full sectors; row_groups writes such rows of __half in
//              pieces of 2 bytes, each of which costs the L2 as much as a sector of 32 bytes
//   accepts    as row_groups; calls row_groups if the addresses of x and y differ modulo 16 bytes
//   source     ours
#pragma once
#include <cuda_pipeline.h>

#include "row_groups.cuh"

// The array needs a unique name, because one of the same name in another header may have a smaller alignment.
extern __shared__ __align__(128) unsigned char shared_lines[];

namespace warp_softmax {

constexpr int kLine = 128;  // bytes of a line, in the cache and in shared memory
constexpr int kFlatThreads = 128;

// Divides `count` contiguous elements into aligned packs of 16 bytes, and the head and tail that fill no pack.
// phase: number of elements between the last multiple of 16 bytes and the first element.
template <class T>
struct Flat {
    static constexpr int kPack = 16 / sizeof(T);
    int head;  // elements before the first pack
    int packs;
    int tail;  // elements after the last pack

    __device__ Flat(int phase, int count) {
        head = min((kPack - phase) % kPack, count);
        packs = (count - head) / kPack;
        tail = count - head - packs * kPack;
    }
};

// Returns the number of elements between the last multiple of kBytes bytes and an address.
template <int kBytes, class T>
__host__ __device__ int phase_of(const T* address) {
    return static_cast<int>(reinterpret_cast<uintptr_t>(address) % kBytes / sizeof(T));
}

// Number of blocks that must fit on a multiprocessor; 0 leaves this number to the compiler. With more than 58
// elements per lane, only five would fit. Requiring six makes two registers spill, but halves become 8% faster.
// (Floats would become 5% slower, because they have half as much arithmetic per byte to hide.)
template <class T, int kMost>
constexpr int kBlocks = sizeof(T) == 2 && kMost > 58 ? 6 : 0;

// A tile is the piece of shared memory that holds the rows of a warp: group_rows rows for each group of kLanes
// lanes. A lane has at least kLeast and at most kMost elements of a row.
template <Algorithm kAlgorithm, int kLanes, int kLeast, int kMost, class T>
__global__ void __launch_bounds__(kFlatThreads, kBlocks<T, kMost>)
    flat_rows_kernel(const T* x, T* y, int64_t rows, int64_t cols, int group_rows, int tile_bytes) {
    using Compute = ComputeOf<T>;
    constexpr Compute kNothing = -static_cast<Compute>(INFINITY);
    constexpr int kWarps = kFlatThreads / 32;
    const int warp = threadIdx.x / 32;
    const int in_warp = threadIdx.x % 32;
    const int lane = in_warp % kLanes;
    const int width = static_cast<int>(cols);
    const int tile_rows = group_rows * (32 / kLanes);

    const int64_t first = (int64_t{blockIdx.x} * kWarps + warp) * tile_rows;
    if (first >= rows) return;  // all lanes of a warp return together
    const int have = static_cast<int>(min(int64_t{tile_rows}, rows - first));
    const T* from = x + first * cols;
    T* to = y + first * cols;
    const Flat<T> flat(phase_of<16>(from), have * width);

    // The tile starts at the same offset in a line as in global memory; otherwise each request of the copy
    // would be split in two.
    T* tile = reinterpret_cast<T*>(shared_lines + warp * tile_bytes) + phase_of<kLine>(from);
    for (int i = in_warp; i < flat.packs; i += 32) {
        const int at = flat.head + i * Flat<T>::kPack;
        __pipeline_memcpy_async(tile + at, from + at, 16);
    }
    const int behind = flat.head + flat.packs * Flat<T>::kPack;
    if (in_warp < flat.head) tile[in_warp] = from[in_warp];
    if (in_warp < flat.tail) tile[behind + in_warp] = from[behind + in_warp];
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncwarp();  // the copies of all lanes have arrived

    const int filled = (width + kLanes - 1) / kLanes;
    for (int i = 0; i < group_rows; ++i) {
        const int r = in_warp / kLanes * group_rows + i;
        T* row = tile + r * width + lane;
        const auto has = [&](int k) {  // lanes without a row stay: the others shuffle with them
            return r < have && (k < kLeast || k * kLanes + lane < width);
        };
        Compute held[kMost];
#pragma unroll
        for (int k = 0; k < kMost; ++k) {
            held[k] = has(k) ? static_cast<Compute>(row[k * kLanes]) : kNothing;
        }
        normalize<kAlgorithm, T, kLanes, kLeast, false>(held, filled);
#pragma unroll
        for (int k = 0; k < kMost; ++k) {
            if (has(k)) row[k * kLanes] = static_cast<T>(held[k]);
        }
    }
    __syncwarp();  // all results are in the tile

    for (int i = in_warp; i < flat.packs; i += 32) {
        const int at = flat.head + i * Flat<T>::kPack;
        using Sixteen = Pack<T, Flat<T>::kPack>;
        *reinterpret_cast<Sixteen*>(to + at) = *reinterpret_cast<const Sixteen*>(tile + at);
    }
    if (in_warp < flat.head) to[in_warp] = tile[in_warp];
    if (in_warp < flat.tail) to[behind + in_warp] = tile[behind + in_warp];
}

// Returns how many rows of a tile each group takes, one after another: at most `most`. Chooses the number with
// the fewest bank conflicts among the groups, which read different rows at the same time.
inline int rows_of_a_group(int lanes, int row_bytes, int element_bytes, int most) {
    int best = most;
    int best_worst = 33;
    for (int rows = most; rows > most / 2; --rows) {
        int words[32] = {};  // requested from each bank
        int worst = 0;
        int last = -1;
        for (int group = 0; group < 32 / lanes; ++group) {
            for (int lane = 0; lane < lanes; ++lane) {
                const int word = (group * rows * row_bytes + lane * element_bytes) / 4;
                if (word != last) worst = std::max(worst, ++words[word % 32]);
                last = word;
            }
        }
        if (worst < best_worst) {
            best = rows;
            best_worst = worst;
        }
    }
    return best;
}

template <Algorithm kAlgorithm, int kLanes, int kLeast, int kMost, class T>
cudaError_t launch_flat_rows(const T* x, T* y, int64_t rows, int64_t cols, cudaStream_t stream) {
    constexpr int kTileBytes = 5120;         // or one row per group if that is more
    constexpr int64_t kEnoughWarps = 16384;  // tiles shrink to keep this many warps
    constexpr int kGroups = 32 / kLanes;
    constexpr int kWarps = kFlatThreads / 32;
    const auto row_bytes = static_cast<int>(cols * sizeof(T));
    const int64_t most =
        std::min(kTileBytes / (kGroups * int64_t{row_bytes}), rows / (kGroups * kEnoughWarps));
    const int group_rows =
        rows_of_a_group(kLanes, row_bytes, sizeof(T), static_cast<int>(std::max<int64_t>(1, most)));
    const int tile_bytes =  // enough for any offset in a line
        (kGroups * group_rows * row_bytes + 2 * kLine - 1) / kLine * kLine;
    const int64_t block_rows = int64_t{group_rows} * kGroups * kWarps;
    const auto kernel = flat_rows_kernel<kAlgorithm, kLanes, kLeast, kMost, T>;
    const int shared = tile_bytes * kWarps;
    static_assert(kWarps * (32 * 256 + 2 * kLine) <= 48 * 1024,
                  "tiles of the widest rows fit into the 48 KB that every block may use");
    kernel<<<static_cast<unsigned>((rows + block_rows - 1) / block_rows), kFlatThreads,
             static_cast<size_t>(shared), stream>>>(x, y, rows, cols, group_rows, tile_bytes);
    return cudaGetLastError();
}

// Returns the next larger kMost for which a kernel is compiled. The steps are those of OneFlow's layer norm.
constexpr int next_most(int most) {
    constexpr int kMost[] = {8, 12, 17, 22, 28, 36, 46, 52, 58, 64};
    for (const int each : kMost) {
        if (each > most) return each;
    }
    return 2 * most;
}

// Launches the kernel with the fewest lanes per row for which a lane holds at most 17 elements (double: 12). If a row
// needs all 32 lanes, a lane may hold more.
template <Algorithm kAlgorithm, int kLanes = 1, int kLeast = 0, int kMost = 4, class T>
cudaError_t launch_flat(const T* x, T* y, int64_t rows, int64_t cols, cudaStream_t stream) {
    constexpr int kFew = sizeof(T) == 8 ? 12 : 17;
    if (cols <= kLanes * kMost) {
        return launch_flat_rows<kAlgorithm, kLanes, kLeast, kMost>(x, y, rows, cols, stream);
    }
    if constexpr (kMost == kFew && kLanes < 32) {
        constexpr int kHalf = kFew / 2;  // half as many lanes hold the narrower rows
        return launch_flat<kAlgorithm, 2 * kLanes, kHalf, next_most(kHalf)>(x, y, rows, cols,
                                                                            stream);
    } else if constexpr (kMost < kMaxHeld<T>) {
        constexpr int kNext = std::min(next_most(kMost), kMaxHeld<T>);
        return launch_flat<kAlgorithm, kLanes, kMost, kNext>(x, y, rows, cols, stream);
    }
    return cudaErrorInvalidValue;
}

// True if row_groups is fast for rows of `cols` columns, which consist of whole packs. It is not if a lane has one
// or two packs and the row leaves more than a quarter of all packs empty.
template <int kPack, int kHeld>
bool fits_packs(int64_t cols) {
    bool fits = false;
    with_spread<kPack, kHeld>(cols, [&](auto lanes, auto, auto packs) {
        fits = packs.value > 2 || 4 * cols >= 3 * kPack * lanes.value * packs.value;
        return cudaSuccess;
    });
    return fits;
}

template <Algorithm kAlgorithm, class T>
cudaError_t launch_any_width(const T* x, T* y, int64_t rows, int64_t cols, cudaStream_t stream) {
    if (rows < 0 || cols < 0) return cudaErrorInvalidValue;
    if (rows == 0 || cols == 0) return cudaSuccess;
    if (cols > kMaxCols<T>) return cudaErrorInvalidValue;
    constexpr int kPack = 16 / sizeof(T);
    const bool whole_packs = takes_packs<kPack>(x, cols, cols) && takes_packs<kPack>(y, cols, cols);
    const bool alike = phase_of<16>(x) == phase_of<16>(y) && takes_packs<1>(x, cols, cols) &&
                       takes_packs<1>(y, cols, cols);
    if ((whole_packs && fits_packs<kPack, kMaxHeld<T>>(cols)) || !alike) {
        return launch<kAlgorithm>(DirectLoad<T>{x, cols}, DirectStore<T>{y, cols}, rows, cols,
                                  stream);
    }
    return launch_flat<kAlgorithm>(x, y, rows, cols, stream);
}

// Compute what row_groups_softmax and log_softmax compute, for contiguous x and y (rows x cols).
template <class T>
cudaError_t softmax_any_width(const T* x, T* y, int64_t rows, int64_t cols, cudaStream_t stream) {
    return launch_any_width<Algorithm::softmax>(x, y, rows, cols, stream);
}
template <class T>
cudaError_t log_softmax_any_width(const T* x, T* y, int64_t rows, int64_t cols,
                                  cudaStream_t stream) {
    return launch_any_width<Algorithm::log_softmax>(x, y, rows, cols, stream);
}

}  // namespace warp_softmax
