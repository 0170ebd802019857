// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 05_smem_softmax/further/short_rows, version 1.0
//
// For short rows and for few rows. Dependent instructions limit the time of such a launch, so this kernel has as
// few instructions as possible.
//   new here   all sizes are compile-time constants; one exponential per element, relative to the warp's maximum;
//              one instruction for the maximum
//   traffic    1 read + 1 write per element
//   accepts    four types; rows of up to 32 kB if they are whole packs of 16 bytes, otherwise of up to 4096
//              elements; y may be x
//   rows       as in 04
//   source     (m, d): Milakov & Gimelshein 2018
#pragma once
#include <iterator>
#include <optional>

#include "row_launch.cuh"

namespace smem_softmax {

// ---------------------------------------------------------------- the kernel

// Maximum number of threads resident on a multiprocessor, or 0 where it is not known to be 2048 (as on an A100,
// an H200, a B200).
#if defined(__CUDA_ARCH__) && (__CUDA_ARCH__ == 800 || __CUDA_ARCH__ == 900 || \
                               __CUDA_ARCH__ == 1000 || __CUDA_ARCH__ == 1030)
inline constexpr int kResidentThreads = 2048;
#else
inline constexpr int kResidentThreads = 0;
#endif

// A tile is a division of short rows among threads. `threads` threads, a part of a warp or several warps, share a
// row; each thread has `packs` packs of `pack` elements. If threads == 1, a thread has `packs` packs, each of
// which holds several rows.
struct Tile {
    int threads;
    int pack;
    int packs;

    // Return the threads and the rows of a block, and the lanes per warp and the warps that share a row.
    __host__ __device__ constexpr int block() const {
        return threads == 1 ? 256 : threads < 64 ? 64 : threads;
    }
    __host__ __device__ constexpr int rows() const { return block() / threads; }
    __host__ __device__ constexpr int lanes() const { return threads < 32 ? threads : 32; }
    __host__ __device__ constexpr int warps() const { return threads / lanes(); }
    // Returns the blocks that must fit on a multiprocessor; 0: any number. Tiles with up to 16 floats per thread
    // use all threads of a multiprocessor (4000 x 8064: 62.0 instead of 62.6 us); larger tiles would get too few
    // registers.
    template <class Compute>
    __host__ __device__ static constexpr int resident(const Tile& tile) {
        const bool small = sizeof(Compute) == 4 && tile.pack * tile.packs <= 16;
        return small ? kResidentThreads / tile.block() : 0;
    }
    constexpr int64_t cols() const { return int64_t{threads} * pack * packs; }  // the most columns
    constexpr bool operator==(const Tile& other) const {
        return threads == other.threads && pack == other.pack && packs == other.packs;
    }
};

// Returns the maximum of a group of lanes, in each of these lanes. From compute capability 8.0 on, a warp has an
// instruction for the maximum of integers. Floats compare like their bits as integers if the bits of negative
// floats are flipped: 4.3 instead of 4.4 us at 10 x 4000 floats on an H200.
template <int kLanes, class Compute>
__device__ Compute max_in_group(Compute value) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    constexpr bool kInOne = kLanes == 32 && sizeof(Compute) == 4;
#else
    constexpr bool kInOne = false;
#endif
    if constexpr (kInOne) {
        const auto turned = [](int bits) { return bits ^ ((bits >> 31) & INT32_MAX); };
        return bits_as<float>(turned(__reduce_max_sync(~0u, turned(bits_as<int>(value)))));
    } else {
        return warp_softmax::group_max<kLanes>(value);
    }
}

template <Algorithm kAlgorithm, int kThreads, int kPack, int kPacks, class T>
__global__ void __launch_bounds__(Tile{kThreads, kPack, kPacks}.block(),
                                  Tile::resident<ComputeOf<T>>({kThreads, kPack, kPacks}))
    short_row_kernel(const T* x, T* y, int64_t rows, int cols) {
    using Compute = ComputeOf<T>;
    using ThisPack = Pack<T, kPack>;
    constexpr Tile kTile{kThreads, kPack, kPacks};
    constexpr int kWarps = kTile.warps();
    constexpr Compute kNothing = -static_cast<Compute>(INFINITY);
    const int thread = threadIdx.x % kThreads;
    const int64_t row = int64_t{blockIdx.x} * kTile.rows() + threadIdx.x / kThreads;
    const auto has = [&](int p) {  // threads without a row stay for the shuffles
        return (kTile.rows() == 1 || row < rows) && (p * kThreads + thread) * kPack < cols;
    };
    const auto* const from = reinterpret_cast<const ThisPack*>(x + row * cols) + thread;
    auto* const to = reinterpret_cast<ThisPack*>(y + row * cols) + thread;

    ThisPack packs[kPacks];
#pragma unroll
    for (int p = 0; p < kPacks; ++p) {
#pragma unroll
        for (T& element : packs[p].element) element = static_cast<T>(kNothing);
        if (has(p)) packs[p] = from[p * kThreads];
    }
    Compute held[kPacks * kPack];
    Normalizer<Compute> set{kNothing, 0};  // of the warp, or of its lanes that share the row
#pragma unroll
    for (int i = 0; i < kPacks * kPack; ++i) {
        held[i] = static_cast<Compute>(packs[i / kPack].element[i % kPack]);
        set.m = fmax(set.m, held[i]);
    }
    set.m = max_in_group<kTile.lanes()>(set.m);
#pragma unroll
    for (Compute& element : held) {
        const Compute power = warp_softmax::lifted_exp<T>(element - base_of(set.m));
        set.d += power;
        if (kAlgorithm == Algorithm::softmax) element = power;
    }
    set.d = warp_softmax::group_sum<kTile.lanes()>(set.d);

    Normalizer<Compute> of_row = set;
    Compute rescaled = kLift<T>;  // the exponential of 0, relative to the row's maximum
    if constexpr (kWarps > 1) {
        constexpr int kSets = kWarps <= 2 ? 2 : kWarps <= 4 ? 4 : kWarps <= 8 ? 8 : 16;
        __shared__ Normalizer<Compute> sets[kWarps];
        if (thread % 32 == 0) sets[thread / 32] = set;
        __syncthreads();
        const int other = thread % kSets;
        of_row = other < kWarps ? sets[other] : Normalizer<Compute>::of_none();
        const Compute m = warp_softmax::group_max<kSets>(of_row.m);
        of_row.d *= std::exp(of_row.m - base_of(m));
        of_row = {m, warp_softmax::group_sum<kSets>(of_row.d)};
        rescaled = warp_softmax::lifted_exp<T>(set.m - base_of(m));
    }
    const Compute scale = rescaled / of_row.d;
    const Compute log_sum = std::log(of_row.d / kLift<T>);
#pragma unroll
    for (int p = 0; p < kPacks; ++p) {
#pragma unroll
        for (int i = 0; i < kPack; ++i) {
            const Compute element = held[p * kPack + i];
            packs[p].element[i] = static_cast<T>(kAlgorithm == Algorithm::softmax
                                                     ? element * scale / kLift<T>
                                                     : element - base_of(of_row.m) - log_sum);
        }
        if (has(p)) to[p * kThreads] = packs[p];
    }
}

// For rows so short that a pack of 16 bytes holds one or several rows: a thread computes each of these rows
// alone. count: number of elements.
template <Algorithm kAlgorithm, int kCols, int kPacks, class T>
__global__ void __launch_bounds__(Tile{1, kWidest<T>, kPacks}.block())
    rows_in_packs_kernel(const T* x, T* y, int64_t count) {
    using Compute = ComputeOf<T>;
    constexpr int kPack = kWidest<T>;
    constexpr int kBlock = Tile{1, kPack, kPacks}.block();
    const int64_t first = int64_t{blockIdx.x} * (kBlock * kPacks) + threadIdx.x;
    // Copies pack p; of the tensor's last pack, only the existing elements.
    const auto move_pack = [&](int p, const T* from, T* to) {
        const int64_t elements = count - (first + p * kBlock) * kPack;
        if (elements >= kPack) {
            *reinterpret_cast<WidePack<T>*>(to) = *reinterpret_cast<const WidePack<T>*>(from);
        } else {
#pragma unroll
            for (int i = 0; i < kPack; ++i) {
                if (i < elements) to[i] = from[i];
            }
        }
    };

    WidePack<T> packs[kPacks];
#pragma unroll
    for (int p = 0; p < kPacks; ++p) {
#pragma unroll
        for (T& element : packs[p].element) element = T(0.f);
        move_pack(p, x + (first + p * kBlock) * kPack, packs[p].element);
    }
#pragma unroll
    for (int p = 0; p < kPacks; ++p) {
#pragma unroll
        for (int r = 0; r < kPack; r += kCols) {
            Compute row[kCols];
            for (int c = 0; c < kCols; ++c) {
                row[c] = static_cast<Compute>(packs[p].element[r + c]);
            }
            // A row of one column is exp(x - x) / exp(x - x), or x - x: NaN unless x is finite.
            if constexpr (kCols == 1) {
                row[0] -= row[0];
                if (kAlgorithm == Algorithm::softmax) row[0] += 1;
            } else {
                warp_softmax::normalize<kAlgorithm, T, 1, kCols, false>(row, kCols);
            }
            for (int c = 0; c < kCols; ++c) packs[p].element[r + c] = static_cast<T>(row[c]);
        }
        move_pack(p, packs[p].element, y + (first + p * kBlock) * kPack);
    }
}

// ---------------------------------------------------------------- the launch

// The tiles that have a kernel: several rows per pack; single elements, for rows that are short or not whole
// packs of 16 bytes; two packs per thread, for few rows and for the shortest rows; four packs, for all other
// rows. (Some thread counts are not powers of two: rows of 4160 floats take 8% longer with 512 threads than with
// 384.)
template <class T>
constexpr Tile kTiles[] = {{1, kWidest<T>, 2},   {4, 1, 4},
                           {16, 1, 4},           {32, 1, 4},
                           {32, 1, 8},           {64, 1, 8},
                           {128, 1, 8},          {512, 1, 8},
                           {64, kWidest<T>, 2},  {128, kWidest<T>, 2},
                           {256, kWidest<T>, 2}, {512, kWidest<T>, 2},
                           {64, kWidest<T>, 4},  {128, kWidest<T>, 4},
                           {192, kWidest<T>, 4}, {256, kWidest<T>, 4},
                           {384, kWidest<T>, 4}, {512, kWidest<T>, 4}};

// Returns the tile for rows of `cols` columns, if there is one. aligned: true if x and y start at multiples of 16
// bytes. packs: packs per thread, 2 or 4, for rows of whole packs.
template <class T>
std::optional<Tile> tile_for(int64_t cols, bool aligned, int packs) {
    const bool in_packs = aligned && cols > 0 && cols <= kWidest<T> && kWidest<T> % cols == 0;
    const bool whole = aligned && cols > int64_t{1024 / sizeof(T)} && cols % kWidest<T> == 0;
    for (const Tile& tile : kTiles<T>) {
        const bool fits = tile.threads == 1 ? in_packs
                          : tile.pack == 1  ? !whole
                                            : whole && tile.packs == packs;
        if (fits && cols <= tile.cols()) return tile;
    }
    return {};
}

// Returns the tile for `rows` rows: few rows get two packs per thread.
template <class T>
std::optional<Tile> tile_for_rows(int64_t rows, int64_t cols, bool aligned,
                                  int64_t multiprocessors) {
    const auto of_two = tile_for<T>(cols, aligned, 2);
    return of_two && rows <= 4 * multiprocessors ? of_two : tile_for<T>(cols, aligned, 4);
}

template <Algorithm kAlgorithm, int kPacks, int kCols = 1, class T>
cudaError_t launch_rows_in_packs(const T* x, T* y, int64_t rows, int64_t cols,
                                 cudaStream_t stream) {
    constexpr Tile kTile{1, kWidest<T>, kPacks};
    if constexpr (kCols > kWidest<T>) {
        return cudaErrorInvalidValue;
    } else {
        if (cols != kCols) {
            return launch_rows_in_packs<kAlgorithm, kPacks, 2 * kCols>(x, y, rows, cols, stream);
        }
        const int64_t blocks = divided_up(rows * cols, int64_t{kTile.block()} * kTile.cols());
        if (blocks > INT32_MAX) return cudaErrorInvalidValue;
        const auto kernel = rows_in_packs_kernel<kAlgorithm, kCols, kPacks, T>;
        kernel<<<static_cast<unsigned>(blocks), kTile.block(), 0, stream>>>(x, y, rows * cols);
        return cudaGetLastError();
    }
}

template <Algorithm kAlgorithm, size_t kIndex = 0, class T>
cudaError_t launch_tile(const Tile& tile, const T* x, T* y, int64_t rows, int64_t cols,
                        cudaStream_t stream) {
    if constexpr (kIndex == std::size(kTiles<T>)) {
        return cudaErrorInvalidValue;
    } else {
        constexpr Tile kTile = kTiles<T>[kIndex];
        if (!(tile == kTile)) {
            return launch_tile<kAlgorithm, kIndex + 1>(tile, x, y, rows, cols, stream);
        }
        if constexpr (kTile.threads == 1) {
            return launch_rows_in_packs<kAlgorithm, kTile.packs>(x, y, rows, cols, stream);
        } else {
            const auto kernel =
                short_row_kernel<kAlgorithm, kTile.threads, kTile.pack, kTile.packs, T>;
            constexpr int64_t kMaxRows = int64_t{INT32_MAX} * kTile.rows();
            for (int64_t row = 0; row < rows; row += kMaxRows) {
                const int64_t now = std::min(rows - row, kMaxRows);
                kernel<<<static_cast<unsigned>(divided_up(now, kTile.rows())), kTile.block(), 0,
                         stream>>>(x + row * cols, y + row * cols, now, static_cast<int>(cols));
            }
            return cudaGetLastError();
        }
    }
}

// True if x and y start at multiples of 16 bytes.
template <class T>
bool are_aligned(const T* x, const T* y) {
    return (reinterpret_cast<uintptr_t>(x) | reinterpret_cast<uintptr_t>(y)) % 16 == 0;
}

// Launches softmax or log-softmax of each row. Returns cudaErrorInvalidValue for a null or misaligned pointer, a negative
// size, or more than 32 kB of whole packs of 16 bytes; if rows are not whole packs, or x or y is not aligned to 16 bytes,
// more than 4096 columns.
template <Algorithm kAlgorithm, class T>
cudaError_t launch_short_rows(const T* x, T* y, int64_t rows, int64_t cols, cudaStream_t stream) {
    bool empty = false;
    const cudaError_t error = check_rows(x, y, rows, cols, &empty);
    if (error != cudaSuccess || empty) return error;
    const auto tile = tile_for_rows<T>(rows, cols, are_aligned(x, y),
                                       device_attribute(cudaDevAttrMultiProcessorCount));
    return tile ? launch_tile<kAlgorithm>(*tile, x, y, rows, cols, stream) : cudaErrorInvalidValue;
}

}  // namespace smem_softmax
