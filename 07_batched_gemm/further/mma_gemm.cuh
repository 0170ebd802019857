// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 07_batched_gemm/mma_gemm, version 1.2
//
// The last rung with the instructions to which wmma compiles. The kernel copies later tiles while it multiplies one.
//   new here   cp.async with three tiles in turn; a swizzle in place of padding; fragments load while others multiply;
//              an epilogue, a last step before a result is written; 64 x 64 sums per warp, which reduces the loads per
//              sum; for short k, persistent blocks
//   traffic    as tensor_core: 2k / 128 loads per element of C
//   accepts    half and bfloat16 (half_sums_gemm(): half; tf32_gemm(): float); lines that begin and end at multiples of
//              16 bytes: for others mma_gemm() calls tensor_core()
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

// ---- epilogues: functors that return the element (row, col) of matrix b to write, given alpha A B + beta C

struct Plain {
    __device__ float operator()(float x, int64_t, int64_t, int64_t) const { return x; }
};
// Adds one number per column, the same for all matrices.
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
        return activated(bias(x, b, row, col));
    }
    __device__ float activated(float x) const {
        return static_cast<ForResult<T, Activation>>(activation)(x);
    }
    // For kernels that load the bias of many columns at once.
    using Number = T;
    __device__ const T* of_columns() const { return bias.bias; }
};
// Adds the bias and another matrix of C's sizes.
template <class T>
struct BiasResidual {
    Bias<T> bias;
    Matrices<const T> residual;
    __device__ float operator()(float x, int64_t b, int64_t row, int64_t col) const {
        return bias(x, b, row, col) + static_cast<float>(residual[b](row, col));
    }
};

// The part of 16 x 8 sums that a lane holds: floats, or pairs of halves.
template <class Sum>
using LaneSums = std::conditional_t<std::is_same_v<Sum, float>, float[4], uint32_t[2]>;

// The division of a block's tile of C: kDown x kAcross warps compute kWarpRows x kWarpCols sums each. Tiles of A and B
// have kLine bytes along k; kStageCount tiles are loading or in use. A multiprocessor holds kBlocks blocks.
template <int kDown, int kAcross, int kWarpRows, int kLine, int kStageCount, int kBlocks,
          int kWarpCols = 64>
struct MmaShape {
    static constexpr int kWarpsAcross = kAcross, kThreads = kDown * kAcross * 32;
    static constexpr int kSumRows = kWarpRows, kSumCols = kWarpCols;
    static constexpr int kRows = kDown * kWarpRows, kCols = kAcross * kSumCols;
    static constexpr int kBytesAlongK = kLine, kStages = kStageCount;
    static constexpr int kBlocksPerMultiprocessor = kBlocks;
};
// Square is for most products. Short is for products of one step along k, such as a head's queries times its keys: they
// spend most of their time loading and writing, so four blocks with half the rows overlap. Narrow is for 64 columns.
template <class T>
using Square = MmaShape<2, 2, 64, sizeof(T) == 2 ? 128 : 64, sizeof(T) == 2 ? 3 : 4, 2>;
using Short = MmaShape<2, 2, 32, 128, 3, 4>;
using Narrow = MmaShape<4, 1, 32, 128, 3, 4>;

// A block's shared memory: for each stage a tile of A and a tile of B. When the block has used all tiles, their memory
// holds a patch for the results of each warp. A line of a patch begins 4 banks after the line above (for floats 8).
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
    // Returns the bytes for a given k: a short k needs fewer stages.
    static size_t bytes(int64_t k) {
        const int64_t tiles = std::min<int64_t>(Shape::kStages, (k + kDeep - 1) / kDeep);
        return std::max<int64_t>(tiles * kStage, Shape::kThreads / 32 * kPatch) * sizeof(T);
    }
};

// Loads fragments of floats from a tile whose columns run along k, because ldmatrix cannot transpose floats: 16 x 8 of
// a from (p, first) on, or twice 8 x 8 of b. Each lane gets the elements that ldmatrix would give it. A lane computes
// all its places from four numbers: by an XOR within 32 columns, by an addition beyond them.
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

// The sums that a warp computes of a block's tile, in pieces of 16 x 8.
template <class Sum, class Shape>
using WarpSums = LaneSums<Sum>[Shape::kSumRows / 16][Shape::kSumCols / 8];

// The fragments that a warp multiplies in one step: two chunks along k of all its rows and columns.
template <class T, class Layouts, class Shape, bool kSwizzled>
struct Fragments {
    using Tiles = MmaTiles<T, Layouts, Shape, kSwizzled>;
    using TileA = typename Tiles::A;
    using TileB = typename Tiles::B;
    static constexpr bool kRowsA = Tiles::kRowsA, kRowsB = Tiles::kRowsB;
    static constexpr bool kOneByOne = std::is_same_v<T, float>;
    static constexpr int kChunk = kPerPack<T>, kDepth = 2 * kChunk;
    static constexpr int kRows = Shape::kSumRows, kCols = Shape::kSumCols;

    uint32_t of_a[kRows / 16][4];  // rows 0 to 7, rows 8 to 15; the same with k a chunk further
    uint32_t of_b[kCols / 16][4];  // two chunks of k for 8 columns, then for 8 more

    // A warp's first row and column in the block's tile, and the places from which a lane first loads.
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

    // Loads the fragments from p along k on.
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

// sums += A B for a tile of C and steps begin to end along k: all of k, or whole tiles. Calls before_a() after it has
// requested the first tiles of B and before it requests the first tile of A.
template <class Layouts, class Shape, bool kSwizzled, class Sum, class T, class BeforeA>
__device__ void multiply_tiles(WarpSums<Sum, Shape>& sums, const Problem<T>& g, const Tile& tile,
                               int64_t begin, int64_t end, BeforeA before_a) {
    using Tiles = MmaTiles<T, Layouts, Shape, kSwizzled>;
    using TileA = typename Tiles::A;
    using TileB = typename Tiles::B;
    constexpr bool kRowsA = Tiles::kRowsA, kRowsB = Tiles::kRowsB;
    constexpr bool kOneByOne = std::is_same_v<T, float>;
    constexpr int kDeep = Tiles::kDeep, kStages = Shape::kStages;
    constexpr int kRows = Shape::kSumRows, kCols = Shape::kSumCols;  // of a warp
    T* const tiles = reinterpret_cast<T*>(shared_bytes);
    const auto a = g.a[tile.batch], b = g.b[tile.batch];

    // Start to copy A's and B's tiles at p along k into a stage.
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
        __syncthreads();  // all threads' copies have arrived, and all have used the tile before
    };

    using Fragments = batched_gemm::Fragments<T, Layouts, Shape, kSwizzled>;
    constexpr int kFragmentSteps = kDeep / Fragments::kDepth;
    const typename Fragments::Lane lane;
    const auto load = [&](Fragments& to, int place, int p) {
        const T* const a_tile = tiles + place * Tiles::kStage;
        to.load(a_tile, a_tile + TileA::kElements, lane, p);
    };

    // If registers hold two sets of fragments, one set loads while the other multiplies.
    constexpr int kRegisters = 65536 / (Shape::kThreads * Shape::kBlocksPerMultiprocessor);
    constexpr int kTaken = kRows * kCols / 32 + 2 * sizeof(Fragments) / 4 + 40;  // 40: addresses
    constexpr int kSets = kTaken <= kRegisters && (kRowsA || !kOneByOne) ? 2 : 1;
    Fragments fragments[kSets];
    // Every thread commits one group of copies per tile, and empty groups after the last tile. The number of groups
    // then determines which tiles have arrived.
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
    if (begin < end) load(fragments[0], 0, 0);
    int use = 0,
        fill = kStages - 1;  // the stages of the tile at p and of the next tile to fetch
    const auto next = [](int place) { return place + 1 < kStages ? place + 1 : 0; };
    const auto step = [&](int64_t p, auto fetches, bool is_last) {
        constexpr bool kFetches = decltype(fetches)::value;
        const auto load_next = [&](int i) {
            if (i + 1 < kFragmentSteps) {
                load(fragments[(i + 1) % kSets], use, (i + 1) * Fragments::kDepth);
            } else if (!is_last) {  // this whole tile is in registers
                arrive();
                load(fragments[0], next(use), 0);
            }
        };
#pragma unroll
        for (int i = 0; i < kFragmentSteps; ++i) {
            if (kSets == 2) load_next(i);
            if (i == 0 && kFetches) fetch_a(p + (kStages - 1) * kDeep, fill);
            if (i == kFragmentSteps / 2 - 1 && kFetches) fetch_b(p + (kStages - 1) * kDeep, fill);
            if (i == kFragmentSteps / 2 - 1) __pipeline_commit();
            fragments[i % kSets].add_to(sums);
            if (kSets == 1) load_next(i);
        }
        use = next(use), fill = next(fill);
    };
    int64_t p = begin;
    for (; p + (kStages - 1) * kDeep < end; p += kDeep) step(p, std::true_type{}, false);
    for (; p < end; p += kDeep) step(p, std::false_type{}, p + kDeep >= end);
    __pipeline_wait_prior(0);
    __syncthreads();  // all threads have used the tiles: results may overwrite them
}

// Writes a tile of C = epilogue(alpha sums + beta C). patches: in shared memory, one for each warp.
template <class Tiles, class Shape, class Sums, class T, class Epilogue>
__device__ void write_sums(Sums& sums, const Problem<T>& g, const Tile& tile, T* patches,
                           const Epilogue& epilogue) {
    constexpr int kChunk = kPerPack<T>, kRows = Shape::kSumRows, kCols = Shape::kSumCols;
    const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
    const int row = warp / Shape::kWarpsAcross * kRows, col = warp % Shape::kWarpsAcross * kCols;
    // A lane holds two neighbours in a row, and two more 8 rows below. Through shared memory it gets a whole chunk, and
    // the next lane gets the next chunk. C has whole chunks of columns, so no chunk is partly outside C.
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
    constexpr int kAcross = kCols / kChunk, kApart = 32 / kAcross;  // lanes and rows per store
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
__global__ void __launch_bounds__(Shape::kThreads, Shape::kBlocksPerMultiprocessor)
    mma_kernel(const Problem<T> g, const Epilogue epilogue) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    const Tile tile(g.m, g.n, Shape::kRows, Shape::kCols);
    WarpSums<Sum, Shape> sums = {};
    multiply_tiles<Layouts, Shape, kSwizzled, Sum>(sums, g, tile, 0, g.k, Nothing{});
    write_sums<MmaTiles<T, Layouts, Shape, kSwizzled>, Shape>(
        sums, g, tile, reinterpret_cast<T*>(shared_bytes), epilogue);
#endif
}

// For products of one step along k, which spend most of their time writing C: a persistent block keeps its tile of B
// and goes down `tiles` tiles of A. It copies the next tile while it multiplies the current one and writes its results.
template <class Sum, class T, class Layouts, class Shape, class Epilogue>
__global__ void __launch_bounds__(Shape::kThreads, Shape::kBlocksPerMultiprocessor)
    walking_kernel(const Problem<T> g, int tiles, const Epilogue epilogue) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    using Fragments = batched_gemm::Fragments<T, Layouts, Shape, true>;
    using TileA = typename Fragments::TileA;
    using TileB = typename Fragments::TileB;
    Tile tile(g.m, g.n, tiles * Shape::kRows, Shape::kCols);
    T* const of_b = reinterpret_cast<T*>(shared_bytes);
    T* of_a = of_b + TileB::kElements;
    T* next_a = of_a + TileA::kElements;
    T* const patches = next_a + TileA::kElements;
    const auto a = g.a[tile.batch], b = g.b[tile.batch];
    const auto fetch_a = [&](T* to, int64_t row) {
        constexpr int kThreads = Shape::kThreads;
        if constexpr (Fragments::kRowsA)
            TileA::template fetch<true, kThreads>(to, a, row, g.m, 0, g.k);
        if constexpr (!Fragments::kRowsA)
            TileA::template fetch<true, kThreads>(to, a, 0, g.k, row, g.m);
    };
    const auto fetch_b = [&] {
        constexpr int kThreads = Shape::kThreads;
        if constexpr (Fragments::kRowsB)
            TileB::template fetch<true, kThreads>(of_b, b, 0, g.k, tile.col, g.n);
        if constexpr (!Fragments::kRowsB)
            TileB::template fetch<true, kThreads>(of_b, b, tile.col, g.n, 0, g.k);
    };
    const typename Fragments::Lane lane;
    fetch_b();
    fetch_a(of_a, tile.row);
    const int64_t below = tile.row + static_cast<int64_t>(tiles) * Shape::kRows;
    const int64_t end = below < g.m ? below : g.m;
    for (;;) {
        __pipeline_commit();
        __pipeline_wait_prior(0);
        __syncthreads();  // the tiles are complete, and all threads have used the one before and its patch
        const int64_t next = tile.row + Shape::kRows;
        if (next < end) fetch_a(next_a, next);
        WarpSums<Sum, Shape> sums = {};
        Fragments fragments;
#pragma unroll
        for (int p = 0; p < Fragments::Tiles::kDeep; p += Fragments::kDepth) {
            fragments.load(of_a, of_b, lane, p);
            fragments.add_to(sums);
        }
        write_sums<typename Fragments::Tiles, Shape>(sums, g, tile, patches, epilogue);
        if (next >= end) break;
        tile.row = next;
        T* const used = of_a;
        of_a = next_a, next_a = used;
    }
#endif
}

// Returns the number of tiles of A per persistent block: up to eight, if enough blocks remain to overlap.
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
                                    static_cast<int>(Tiles::bytes(Shape::kStages * Tiles::kDeep)));
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

// Launches the kernel for one layout of A and B. Products without an epilogue may be those of attention heads, which
// are many and small: scores have a short k, weighted values have 64 columns.
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

// C = epilogue(alpha A B + beta C), asynchronous on stream. Returns cudaErrorNotSupported if lines do not begin and end
// at multiples of 16 bytes, and on GPUs without tensor cores.
template <class Sum, bool kSwizzled, class T, class Epilogue>
cudaError_t launch_mma(const Problem<T>& g, const Epilogue& epilogue, cudaStream_t stream) {
    using Col = nvcuda::wmma::col_major;
    using Row = nvcuda::wmma::row_major;
    if (!has_tensor_cores() || !consists_of_packs(g)) {
        cudaError_t refusal = cudaSuccess;  // empty and invalid problems have a status of their own
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
    static_assert(sizeof(T) == 2, "tensor cores would drop bits of floats: see tf32_gemm()");
    return launch_mma<float, kSwizzled>(g, epilogue, stream);
}

// The same without an epilogue; calls tensor_core() for lines that do not consist of packs.
template <bool kSwizzled = true, class T>
cudaError_t mma_gemm(const Problem<T>& g, cudaStream_t stream) {
    const cudaError_t status = mma_with<kSwizzled>(g, Plain{}, stream);
    return status == cudaErrorNotSupported ? tensor_core(g, stream) : status;
}

// The same with sums in half. These need half the registers, and GeForce GPUs do twice as many products per clock, but
// the error grows with k. Calls tensor_core(), which sums in float, for lines that do not consist of packs.
template <class T>
cudaError_t half_sums_gemm(const Problem<T>& g, cudaStream_t stream) {
    static_assert(std::is_same_v<T, __half>, "tensor cores sum in half only for half");
    const cudaError_t status = launch_mma<__half, true>(g, Plain{}, stream);
    return status == cudaErrorNotSupported ? tensor_core(g, stream) : status;
}

// The same for floats: tensor cores use the first 11 bits of each significand. Calls register_tiled() for lines that do
// not consist of packs.
template <class T>
cudaError_t tf32_gemm(const Problem<T>& g, cudaStream_t stream) {
    static_assert(std::is_same_v<T, float>,
                  "tensor cores multiply all bits of halves: see mma_gemm()");
    const cudaError_t status = launch_mma<float, true>(g, Plain{}, stream);
    return status == cudaErrorNotSupported ? register_tiled(g, stream) : status;
}

}  // namespace batched_gemm
