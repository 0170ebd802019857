// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 07_batched_gemm/mma_gemm, version 1.2
//
// The last rung by the instructions behind wmma: tiles come while others are multiplied, and lie without gaps.
//   new here   cp.async in three stages; an XOR in place of padding (a swizzle); fragments loaded while others are
//              multiplied; what is done to a result on its way out (an epilogue); a warp has 64 x 64 sums, and
//              loads half as much for each of them; where k is short, blocks that walk from tile to tile
//   traffic    as tensor_core: 2k / 128 loads per element of C
//   accepts    half and bfloat16 (half_sums_gemm(): half; tf32_gemm(): float); lines that begin and end at
//              multiples of 16 bytes: for others mma_gemm() calls tensor_core()
//   needs      a GPU of compute capability 8.0
//   source     PTX ISA, ldmatrix and mma.m16n8k16; CUTLASS's multistage kernels
#pragma once
#include <algorithm>

#include "../../04_warp_softmax/ask_once.cuh"
#include "activations.cuh"
#include "mma_instructions.cuh"
#include "register_tiled.cuh"
#include "swizzled_tile.cuh"
#include "tiles.cuh"

extern __shared__ __align__(128) unsigned char shared_bytes[];

namespace batched_gemm {

// ---- epilogues: alpha A B + beta C as it is wanted, for element (row, col) of matrix b

struct Plain {
    __device__ float operator()(float x, int64_t, int64_t, int64_t) const { return x; }
};
// One number a column, for all matrices.
template <class T>
struct Bias {
    const T* bias;
    __device__ float operator()(float x, int64_t, int64_t, int64_t col) const {
        return x + static_cast<float>(bias[col]);
    }
};
template <class T, class Activation>
struct BiasActivation {
    Bias<T> bias;
    Activation activation;
    __device__ float operator()(float x, int64_t b, int64_t row, int64_t col) const {
        return activation(bias(x, b, row, col));
    }
};
// And another matrix of C's sizes.
template <class T>
struct BiasResidual {
    Bias<T> bias;
    Matrices<const T> residual;
    __device__ float operator()(float x, int64_t b, int64_t row, int64_t col) const {
        return bias(x, b, row, col) + static_cast<float>(residual[b](row, col));
    }
};

// What a lane holds of 16 x 8 sums: floats, or halves in pairs.
template <class Sum>
using LaneSums = std::conditional_t<std::is_same_v<Sum, float>, float[4], uint32_t[2]>;

// How a block's part of C is shared out: so many warps down and across, of kWarpRows x kWarpCols sums each; tiles of
// kLine bytes along k, kStages of them on their way or in use; kBlocks blocks to be on a multiprocessor at once.
template <int kDown, int kAcross, int kWarpRows, int kLine, int kStages, int kBlocks,
          int kWarpCols = 64>
struct MmaShape {
    static constexpr int kWarpsAcross = kAcross, kThreads = kDown * kAcross * 32;
    static constexpr int kSumRows = kWarpRows, kSumCols = kWarpCols;
    static constexpr int kRows = kDown * kWarpRows, kCols = kAcross * kSumCols;
    static constexpr int kBytesAlongK = kLine, kTiles = kStages, kAtOnce = kBlocks;
};
// What most products want; those of one step along k, as of a head's queries and keys, where the time goes into what
// comes before and after it: so four blocks at once, of half the rows; and those of 64 columns.
template <class T>
using Square = MmaShape<2, 2, 64, sizeof(T) == 2 ? 128 : 64, sizeof(T) == 2 ? 3 : 4, 2>;
using Short = MmaShape<2, 2, 32, 128, 3, 4>;
using Narrow = MmaShape<4, 1, 32, 128, 3, 4>;

// The tiles of a block in shared memory, A's and B's of one step beside each other; and when these have been used,
// each warp's results, of which a line begins 4 banks behind the one above (of floats 8).
template <class T, class Layouts, class Shape, bool kSwizzled>
struct MmaTiles {
    static constexpr bool kRowsA = std::is_same_v<typename Layouts::A, nvcuda::wmma::row_major>;
    static constexpr bool kRowsB = std::is_same_v<typename Layouts::B, nvcuda::wmma::row_major>;
    static constexpr int kDeep = Shape::kBytesAlongK / sizeof(T);
    using A = SwizzledTile<kRowsA ? Shape::kRows : kDeep, kRowsA ? kDeep : Shape::kRows, kSwizzled,
                           kPerPack<T>>;
    using B = SwizzledTile<kRowsB ? kDeep : Shape::kCols, kRowsB ? Shape::kCols : kDeep, kSwizzled,
                           kPerPack<T>>;
    static constexpr int kStage = A::kElements + B::kElements;
    static constexpr int kPatchPitch = Shape::kSumCols + 8;
    static constexpr int kPatch = Shape::kSumRows * kPatchPitch;
    // Where k is short, fewer tiles than there could be.
    static size_t bytes(int64_t k) {
        const int64_t tiles = std::min<int64_t>(Shape::kTiles, (k + kDeep - 1) / kDeep);
        return std::max<int64_t>(tiles * kStage, Shape::kThreads / 32 * kPatch) * sizeof(T);
    }
};

// What ldmatrix gives of halves, of floats in a tile with k going down, which it cannot transpose: 16 x 8 of a from
// (p, first) on, or two times 8 x 8 of b. A lane's places differ from its first one by an XOR of columns below 32 and
// a sum beyond, as the swizzle leaves it: four numbers that it keeps.
template <class Tile, bool kOfB>
__device__ void load_one_by_one(uint32_t (&to)[4], const float* tile, int p, int first) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int own = Tile::at(lane % 4, lane / 4) + lane / 4 % 4;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        const int rows = p + (kOfB ? i % 2 : i / 2) * 4;
        const int cols = first + (kOfB ? i / 2 : i % 2) * 8;
        to[i] = __float_as_uint(tile[Tile::further(own, rows, cols & 31) + (cols & ~31)]);
    }
}

// What a warp has of a block's tile, 16 x 8 sums each.
template <class Sum, class Shape>
using WarpSums = LaneSums<Sum>[Shape::kSumRows / 16][Shape::kSumCols / 8];

// What a warp multiplies at once: two chunks along k of all its rows and columns.
template <class T, class Layouts, class Shape, bool kSwizzled>
struct Slice {
    using Tiles = MmaTiles<T, Layouts, Shape, kSwizzled>;
    using TileA = typename Tiles::A;
    using TileB = typename Tiles::B;
    static constexpr bool kRowsA = Tiles::kRowsA, kRowsB = Tiles::kRowsB;
    static constexpr bool kOneByOne = std::is_same_v<T, float>;
    static constexpr int kChunk = kPerPack<T>, kDepth = 2 * kChunk;
    static constexpr int kRows = Shape::kSumRows, kCols = Shape::kSumCols;

    uint32_t of_a[kRows / 16][4];  // rows 0 to 7, rows 8 to 15; the same with k a chunk further
    uint32_t of_b[kCols / 16][4];  // two chunks of k for 8 columns, then for 8 more

    // A warp's first row and column in the block's tile, and the places of what a lane loads first.
    struct Lane {
        int row, col, own_a, own_b;
        __device__ Lane() {
            const int warp = static_cast<int>(threadIdx.x) / 32;
            const int lane = static_cast<int>(threadIdx.x) % 32;
            row = warp / Shape::kWarpsAcross * kRows;
            col = warp % Shape::kWarpsAcross * kCols;
            own_a = kRowsA ? TileA::at(row + lane % 16, lane / 16 * kChunk)
                           : TileA::at(lane % 8 + lane / 16 * 8, row + lane / 8 % 2 * 8);
            own_b = kRowsB ? TileB::at(lane % 16, col + lane / 16 * 8)
                           : TileB::at(col + lane % 8 + lane / 16 * 8, lane / 8 % 2 * kChunk);
        }
    };

    // From p along k on.
    __device__ void load(const T* a_tile, const T* b_tile, const Lane& at, int p) {
#pragma unroll
        for (int j = 0; j < kCols / 16; ++j) {
            if constexpr (kRowsB && kOneByOne)
                load_one_by_one<TileB, true>(of_b[j], b_tile, p, at.col + 16 * j);
            else
                ldmatrix<kRowsB>(
                    of_b[j], b_tile,
                    TileB::further(at.own_b, kRowsB ? p : 16 * j, kRowsB ? 16 * j : p));
        }
#pragma unroll
        for (int i = 0; i < kRows / 16; ++i) {
            if constexpr (!kRowsA && kOneByOne)
                load_one_by_one<TileA, false>(of_a[i], a_tile, p, at.row + 16 * i);
            else
                ldmatrix<!kRowsA>(
                    of_a[i], a_tile,
                    TileA::further(at.own_a, kRowsA ? 16 * i : p, kRowsA ? p : 16 * i));
        }
    }
    template <class Sums>
    __device__ void add_to(Sums& sums) const {
#pragma unroll
        for (int r = 0; r < kRows / 16; ++r) {
#pragma unroll
            for (int c = 0; c < kCols / 8; ++c) {
                const uint32_t half[2] = {of_b[c / 2][c % 2 * 2], of_b[c / 2][c % 2 * 2 + 1]};
                mma<T>(sums[r][c], of_a[r], half);
            }
        }
    }
};

struct Nothing {
    __device__ void operator()() const {}
};

// sums += A B, of a tile of C and of columns begin to end of A: all, or so many that they are whole tiles of A.
// before_a: called when the first tiles of B are on their way, before any of A is asked for.
template <class Layouts, class Shape, bool kSwizzled, class Sum, class T, class BeforeA>
__device__ void multiply_tiles(WarpSums<Sum, Shape>& sums, const Problem<T>& g, const Tile& tile,
                               int64_t begin, int64_t end, BeforeA before_a) {
    using Tiles = MmaTiles<T, Layouts, Shape, kSwizzled>;
    using TileA = typename Tiles::A;
    using TileB = typename Tiles::B;
    constexpr bool kRowsA = Tiles::kRowsA, kRowsB = Tiles::kRowsB;
    constexpr bool kOneByOne = std::is_same_v<T, float>;
    constexpr int kDeep = Tiles::kDeep, kStages = Shape::kTiles;
    constexpr int kRows = Shape::kSumRows, kCols = Shape::kSumCols;  // of a warp's sums
    T* const tiles = reinterpret_cast<T*>(shared_bytes);
    const auto a = g.a[tile.batch], b = g.b[tile.batch];

    // Copies of the tiles at p along k, A's and B's, into a place for both.
    const auto fetch = [](auto tile, T* to, const auto& x, int64_t line, int64_t lines,
                          int64_t first, int64_t length) {
        decltype(tile)::template fetch<true, Shape::kThreads>(to, x, line, lines, first, length);
    };
    const auto fetch_a = [&](int64_t p, int place) {
        T* const to = tiles + place * Tiles::kStage;
        if constexpr (kRowsA) fetch(TileA{}, to, a, tile.row, g.m, p, g.k);
        if constexpr (!kRowsA) fetch(TileA{}, to, a, p, g.k, tile.row, g.m);
    };
    const auto fetch_b = [&](int64_t p, int place) {
        T* const to = tiles + place * Tiles::kStage + TileA::kElements;
        if constexpr (kRowsB) fetch(TileB{}, to, b, p, g.k, tile.col, g.n);
        if constexpr (!kRowsB) fetch(TileB{}, to, b, tile.col, g.n, p, g.k);
    };
    const auto arrive = [] {
        __pipeline_wait_prior(kStages - 2);
        __syncthreads();  // everybody's copies are there, and nobody needs the tile before
    };

    using Slice = batched_gemm::Slice<T, Layouts, Shape, kSwizzled>;
    constexpr int kSlices = kDeep / Slice::kDepth;
    const typename Slice::Lane lane;
    const auto load = [&](Slice& to, int place, int p) {
        const T* const a_tile = tiles + place * Tiles::kStage;
        to.load(a_tile, a_tile + TileA::kElements, lane, p);
    };

    // While one slice is multiplied the next is loaded, where registers are enough for two.
    constexpr int kRegisters = 65536 / (Shape::kThreads * Shape::kAtOnce);
    constexpr int kTaken = kRows * kCols / 32 + 2 * sizeof(Slice) / 4 + 40;  // 40: for addresses
    constexpr int kSets = kTaken <= kRegisters && (kRowsA || !kOneByOne) ? 2 : 1;
    Slice slices[kSets];
    // Every thread makes a group of copies for each tile, an empty one behind the last: so it knows by
    // their number which have arrived.
    constexpr bool kBFirst = !std::is_same_v<BeforeA, Nothing>;
    for (int i = 0; kBFirst && i < kStages - 1; ++i) {
        if (begin + i * kDeep < end) fetch_b(begin + i * kDeep, i);
    }
    before_a();
    for (int i = 0; i < kStages - 1; ++i) {
        if (begin + i * kDeep < end) {
            fetch_a(begin + i * kDeep, i);
            if (!kBFirst) fetch_b(begin + i * kDeep, i);
        }
        __pipeline_commit();
    }
    arrive();
    if (begin < end) load(slices[0], 0, 0);
    int use = 0,
        fill = kStages - 1;  // the place of the tile at p, and of the next one to be fetched
    const auto next = [](int place) { return place + 1 < kStages ? place + 1 : 0; };
    const auto step = [&](int64_t p, auto fetches, bool is_last) {
        constexpr bool kFetches = decltype(fetches)::value;
        const auto load_next = [&](int i) {
            if (i + 1 < kSlices) {
                load(slices[(i + 1) % kSets], use, (i + 1) * Slice::kDepth);
            } else if (!is_last) {  // all of this tile is in registers
                arrive();
                load(slices[0], next(use), 0);
            }
        };
#pragma unroll
        for (int i = 0; i < kSlices; ++i) {
            if (kSets == 2) load_next(i);
            if (i == 0 && kFetches) fetch_a(p + (kStages - 1) * kDeep, fill);
            if (i == kSlices / 2 - 1 && kFetches) fetch_b(p + (kStages - 1) * kDeep, fill);
            if (i == kSlices / 2 - 1) __pipeline_commit();
            slices[i % kSets].add_to(sums);
            if (kSets == 1) load_next(i);
        }
        use = next(use), fill = next(fill);
    };
    int64_t p = begin;
    for (; p + (kStages - 1) * kDeep < end; p += kDeep) step(p, std::true_type{}, false);
    for (; p < end; p += kDeep) step(p, std::false_type{}, p + kDeep >= end);
    __pipeline_wait_prior(0);
    __syncthreads();  // nobody needs the tiles any more
}

// C = epilogue(alpha sums + beta C), of a tile of it. patches: in shared memory, where each warp has one of its own.
template <class Tiles, class Shape, class Sums, class T, class Epilogue>
__device__ void write_sums(Sums& sums, const Problem<T>& g, const Tile& tile, T* patches,
                           const Epilogue& epilogue) {
    constexpr int kChunk = kPerPack<T>, kRows = Shape::kSumRows, kCols = Shape::kSumCols;
    const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
    const int row = warp / Shape::kWarpsAcross * kRows, col = warp % Shape::kWarpsAcross * kCols;
    // A lane holds two neighbours in a row, and two 8 rows below: by way of shared memory each comes to have a chunk
    // beside the next lane's. Columns come in chunks: all of one is there or nothing.
    T* const patch = patches + warp * Tiles::kPatch;
    const auto for_each_two = [&](auto visit) {
#pragma unroll
        for (int i = 0; i < kRows; i += 8) {
#pragma unroll
            for (int j = 0; j < kCols; j += 8) {
                const int at_row = i + lane / 4, at_col = j + lane % 4 * 2;
                visit(sums[i / 16][j / 8], i / 8 % 2 * 2,
                      patch + at_row * Tiles::kPatchPitch + at_col, tile.row + row + at_row,
                      tile.col + col + at_col);
            }
        }
    };
    constexpr int kAcross = kCols / kChunk, kApart = 32 / kAcross;  // lanes side by side, below
    T* const chunks = patch + lane / kAcross * Tiles::kPatchPitch + lane % kAcross * kChunk;
    const int64_t c_row = tile.row + row + lane / kAcross;
    const int64_t c_col = tile.col + col + lane % kAcross * kChunk;
    const int below =
        c_col >= g.n ? 0 : static_cast<int>(g.m - c_row < kRows ? g.m - c_row : kRows);
    T* const in_c = g.c[tile.batch].data + c_row * g.c.ld + c_col;
    if (g.beta != 0.f) {
        const T* from = in_c;
#pragma unroll
        for (int i = 0; i < kRows; i += kApart, from += kApart * g.c.ld) {
            Pack<T, kChunk> pack{};
            if (i < below) pack = *reinterpret_cast<const Pack<T, kChunk>*>(from);
            *reinterpret_cast<Pack<T, kChunk>*>(chunks + i * Tiles::kPatchPitch) = pack;
        }
        __syncwarp();
        for_each_two([&](auto& sums, int at, T* in_patch, int64_t, int64_t) {
            const Pack<T, 2> two = *reinterpret_cast<const Pack<T, 2>*>(in_patch);
            set_two(sums, at,
                    g.alpha * sum_of(sums, at) + g.beta * static_cast<float>(two.element[0]),
                    g.alpha * sum_of(sums, at + 1) + g.beta * static_cast<float>(two.element[1]));
        });
    }
    const float alpha = g.beta != 0.f ? 1.f : g.alpha;
    for_each_two([&](auto& sums, int at, T* in_patch, int64_t c_row, int64_t c_col) {
        float first = alpha * sum_of(sums, at), second = alpha * sum_of(sums, at + 1);
        if (c_row < g.m && c_col < g.n) {
            first = epilogue(first, tile.batch, c_row, c_col);
            second = epilogue(second, tile.batch, c_row, c_col + 1);
        }
        put_two(in_patch, first, second);
    });
    __syncwarp();
    T* to = in_c;
#pragma unroll
    for (int i = 0; i < kRows; i += kApart, to += kApart * g.c.ld) {
        if (i < below)
            *reinterpret_cast<Pack<T, kChunk>*>(to) =
                *reinterpret_cast<const Pack<T, kChunk>*>(chunks + i * Tiles::kPatchPitch);
    }
}

template <class Sum, class T, class Layouts, class Shape, bool kSwizzled, class Epilogue>
__global__ void __launch_bounds__(Shape::kThreads, Shape::kAtOnce)
    mma_kernel(const Problem<T> g, const Epilogue epilogue) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    const Tile tile(g.m, g.n, Shape::kRows, Shape::kCols);
    WarpSums<Sum, Shape> sums = {};
    multiply_tiles<Layouts, Shape, kSwizzled, Sum>(sums, g, tile, 0, g.k, Nothing{});
    write_sums<MmaTiles<T, Layouts, Shape, kSwizzled>, Shape>(
        sums, g, tile, reinterpret_cast<T*>(shared_bytes), epilogue);
#endif
}

// Products of one step along k, and so many results for it that these take the time: a block keeps its tile of B and
// walks down so many tiles of A. While one is multiplied, and its results go out, the next is on its way.
template <class Sum, class T, class Layouts, class Shape, class Epilogue>
__global__ void __launch_bounds__(Shape::kThreads, Shape::kAtOnce)
    walking_kernel(const Problem<T> g, int tiles, const Epilogue epilogue) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    using Slice = batched_gemm::Slice<T, Layouts, Shape, true>;
    using TileA = typename Slice::TileA;
    using TileB = typename Slice::TileB;
    Tile tile(g.m, g.n, tiles * Shape::kRows, Shape::kCols);
    T* const of_b = reinterpret_cast<T*>(shared_bytes);
    T* of_a = of_b + TileB::kElements;
    T* next_a = of_a + TileA::kElements;
    T* const patches = next_a + TileA::kElements;
    const auto a = g.a[tile.batch], b = g.b[tile.batch];
    const auto fetch_a = [&](T* to, int64_t row) {
        constexpr int kThreads = Shape::kThreads;
        if constexpr (Slice::kRowsA) TileA::template fetch<true, kThreads>(to, a, row, g.m, 0, g.k);
        if constexpr (!Slice::kRowsA)
            TileA::template fetch<true, kThreads>(to, a, 0, g.k, row, g.m);
    };
    const auto fetch_b = [&] {
        constexpr int kThreads = Shape::kThreads;
        if constexpr (Slice::kRowsB)
            TileB::template fetch<true, kThreads>(of_b, b, 0, g.k, tile.col, g.n);
        if constexpr (!Slice::kRowsB)
            TileB::template fetch<true, kThreads>(of_b, b, tile.col, g.n, 0, g.k);
    };
    const typename Slice::Lane lane;
    fetch_b();
    fetch_a(of_a, tile.row);
    const int64_t below = tile.row + static_cast<int64_t>(tiles) * Shape::kRows;
    const int64_t end = below < g.m ? below : g.m;
    for (;;) {
        __pipeline_commit();
        __pipeline_wait_prior(0);
        __syncthreads();  // the tiles are there, and nobody needs the one before, or a patch
        const int64_t next = tile.row + Shape::kRows;
        if (next < end) fetch_a(next_a, next);
        WarpSums<Sum, Shape> sums = {};
        Slice slice;
#pragma unroll
        for (int p = 0; p < Slice::Tiles::kDeep; p += Slice::kDepth) {
            slice.load(of_a, of_b, lane, p);
            slice.add_to(sums);
        }
        write_sums<typename Slice::Tiles, Shape>(sums, g, tile, patches, epilogue);
        if (next >= end) break;
        tile.row = next;
        T* const used = of_a;
        of_a = next_a, next_a = used;
    }
#endif
}

// How many tiles a block walks down: up to eight, as long as there are blocks enough to take turns.
inline int tiles_to_walk(int64_t batch, int64_t m, int64_t n, int rows, int cols) {
    constexpr int kMost = 8;
    constexpr double kFewestBlocks = 1024;
    const int64_t down = (m + rows - 1) / rows, across = (n + cols - 1) / cols;
    const double side_by_side = static_cast<double>(batch) * static_cast<double>(across);
    int tiles = 1;
    while (2 * tiles <= std::min<int64_t>(kMost, down) &&
           side_by_side * static_cast<double>(down / (2 * tiles)) >= kFewestBlocks)
        tiles *= 2;
    return tiles;
}

template <class Sum, class Layouts, class Shape, bool kSwizzled, class T, class Epilogue>
cudaError_t launch_shape(const Problem<T>& g, const Epilogue& epilogue, cudaStream_t stream) {
    const auto kernel = mma_kernel<Sum, T, Layouts, Shape, kSwizzled, Epilogue>;
    using Tiles = MmaTiles<T, Layouts, Shape, kSwizzled>;
    int is_allowed = 0;
    const cudaError_t status = warp_softmax::ask_once(&is_allowed, [=](int*, int) {
        return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    static_cast<int>(Tiles::bytes(Shape::kTiles * Tiles::kDeep)));
    });
    if (status != cudaSuccess) return status;
    return launch_tiles(g, Shape::kRows, Shape::kCols, [&](unsigned blocks) {
        kernel<<<blocks, Shape::kThreads, Tiles::bytes(g.k), stream>>>(g, epilogue);
    });
}

template <class Sum, class Layouts, class Shape, class T, class Epilogue>
cudaError_t launch_walking(const Problem<T>& g, int tiles, const Epilogue& epilogue,
                           cudaStream_t stream) {
    const auto kernel = walking_kernel<Sum, T, Layouts, Shape, Epilogue>;
    using Tiles = MmaTiles<T, Layouts, Shape, true>;
    constexpr int kPatches = Shape::kThreads / 32 * Tiles::kPatch;
    constexpr int kBytes =
        static_cast<int>((Tiles::B::kElements + 2 * Tiles::A::kElements + kPatches) * sizeof(T));
    int is_allowed = 0;
    const cudaError_t status = warp_softmax::ask_once(&is_allowed, [=](int*, int) {
        return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes);
    });
    if (status != cudaSuccess) return status;
    return launch_tiles(g, tiles * Shape::kRows, Shape::kCols, [&](unsigned blocks) {
        kernel<<<blocks, Shape::kThreads, kBytes, stream>>>(g, tiles, epilogue);
    });
}

// Of A and B stored so. Plain products are also those of heads, many and small: scores have a short k, values 64
// columns.
template <class Sum, class Layouts, bool kSwizzled, class T, class Epilogue>
cudaError_t launch_stored(const Problem<T>& g, const Epilogue& epilogue, cudaStream_t stream) {
    using Row = nvcuda::wmma::row_major;
    if constexpr (sizeof(T) == 2 && kSwizzled && std::is_same_v<Epilogue, Plain>) {
        if constexpr (std::is_same_v<Layouts, Stored<Row, Row>>) {
            if (g.n <= 64) return launch_shape<Sum, Layouts, Narrow, true>(g, epilogue, stream);
        }
        if (0 < g.k && g.k <= 64) {
            const int tiles = tiles_to_walk(g.batch, g.m, g.n, Short::kRows, Short::kCols);
            return launch_walking<Sum, Layouts, Short>(g, tiles, epilogue, stream);
        }
    }
    return launch_shape<Sum, Layouts, Square<T>, kSwizzled>(g, epilogue, stream);
}

// epilogue(alpha A B + beta C), asynchronous on stream. cudaErrorNotSupported where lines do not begin and
// end at multiples of 16 bytes, and on GPUs that this is not for.
template <class Sum, bool kSwizzled, class T, class Epilogue>
cudaError_t launch_mma(const Problem<T>& g, const Epilogue& epilogue, cudaStream_t stream) {
    using Col = nvcuda::wmma::col_major;
    using Row = nvcuda::wmma::row_major;
    if (!has_tensor_cores() || !consists_of_packs(g)) {
        cudaError_t refusal = cudaSuccess;  // of what is empty, or wrong in any case, that is said
        const cudaError_t status = launch_tiles(g, kBlockTile, kBlockTile,
                                                [&](unsigned) { refusal = cudaErrorNotSupported; });
        return status == cudaSuccess ? refusal : status;
    }
    const auto launch = [&](auto layouts) {
        return launch_stored<Sum, decltype(layouts), kSwizzled>(g, epilogue, stream);
    };
    if (g.a.transposed) {
        return g.b.transposed ? launch(Stored<Col, Col>{}) : launch(Stored<Col, Row>{});
    }
    return g.b.transposed ? launch(Stored<Row, Col>{}) : launch(Stored<Row, Row>{});
}
template <bool kSwizzled = true, class T, class Epilogue>
cudaError_t mma_with(const Problem<T>& g, const Epilogue& epilogue, cudaStream_t stream) {
    static_assert(sizeof(T) == 2, "of floats tensor cores would drop bits: see tf32_gemm()");
    return launch_mma<float, kSwizzled>(g, epilogue, stream);
}

// The same without an epilogue, of any lines.
template <bool kSwizzled = true, class T>
cudaError_t mma_gemm(const Problem<T>& g, cudaStream_t stream) {
    const cudaError_t status = mma_with<kSwizzled>(g, Plain{}, stream);
    return status == cudaErrorNotSupported ? tensor_core(g, stream) : status;
}

// With sums in half, which take half the registers, and twice as many a clock where a GPU is made for graphics:
// their error grows with k. Other lines go by way of tensor_core(), whose sums are float.
template <class T>
cudaError_t half_sums_gemm(const Problem<T>& g, cudaStream_t stream) {
    static_assert(std::is_same_v<T, __half>, "tensor cores have sums in half of half alone");
    const cudaError_t status = launch_mma<__half, true>(g, Plain{}, stream);
    return status == cudaErrorNotSupported ? tensor_core(g, stream) : status;
}

// Of floats, of which tensor cores multiply the first 11 bits. Other lines go by way of register_tiled().
template <class T>
cudaError_t tf32_gemm(const Problem<T>& g, cudaStream_t stream) {
    static_assert(std::is_same_v<T, float>,
                  "of halves tensor cores multiply all bits: see mma_gemm()");
    const cudaError_t status = launch_mma<float, true>(g, Plain{}, stream);
    return status == cudaErrorNotSupported ? register_tiled(g, stream) : status;
}

}  // namespace batched_gemm
