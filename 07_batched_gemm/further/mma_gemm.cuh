// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 07_batched_gemm/mma_gemm, version 1.0
//
// Step 4 by the instructions behind wmma: tiles come while others are multiplied, and lie without gaps.
//   new here   cp.async in three stages; an XOR in place of padding (a swizzle); what is done to a result on
//              its way out (an epilogue); a warp has 64 x 64 sums, and loads half as much for each of them
//   traffic    as tensor_core: 2k / 128 loads per element of C
//   accepts    half and bfloat16 (half_sums_gemm(): half; tf32_gemm(): float); lines that begin and end at
//              multiples of 16 bytes: for others mma_gemm() calls tensor_core()
//   needs      a GPU of compute capability 8.0
//   source     PTX ISA, ldmatrix and mma.m16n8k16; CUTLASS's multistage kernels
#pragma once
#include "../../04_warp_softmax/ask_once.cuh"
#include "../batched_gemm.cuh"
#include "activations.cuh"
#include "mma_instructions.cuh"
#include "swizzled_tile.cuh"

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

constexpr int kStages = 3;  // tiles on their way or in use

// What a lane holds of 16 x 8 sums: floats, or halves in pairs.
template <class Sum>
using LaneSums = std::conditional_t<std::is_same_v<Sum, float>, float[4], uint32_t[2]>;

template <class T>
constexpr int kStep = 128 / sizeof(T);  // of a tile along k: eight chunks of 16 bytes

constexpr int kMmaThreads = 128;  // four warps, two down and two across

// The tiles of a block: 128 rows of A, kTileCols columns of B, 128 or 64. All stages of both, and when these have
// been used, each warp's sums, of which a line begins 8 banks behind the one above.
template <class T, class Layouts, int kTileCols, bool kSwizzled>
struct MmaTiles {
    static constexpr bool kRowsA = std::is_same_v<typename Layouts::A, nvcuda::wmma::row_major>;
    static constexpr bool kRowsB = std::is_same_v<typename Layouts::B, nvcuda::wmma::row_major>;
    static constexpr int kDeep = kStep<T>;
    using A = SwizzledTile<kRowsA ? kBlockTile : kDeep, kRowsA ? kDeep : kBlockTile, kSwizzled,
                           kPerPack<T>>;
    using B = SwizzledTile<kRowsB ? kDeep : kTileCols, kRowsB ? kTileCols : kDeep, kSwizzled,
                           kPerPack<T>>;
    static constexpr int kWarpCols = kTileCols / 2, kPatchPitch = kWarpCols + 8;
    static constexpr int kPatch = kBlockTile / 2 * kPatchPitch;  // floats
    static constexpr size_t kBytes = std::max(kStages * (A::kElements + B::kElements) * sizeof(T),
                                              kMmaThreads / 32 * kPatch * sizeof(float));
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
        to[i] = __float_as_uint(tile[(own ^ (cols & 31)) + (cols & ~31) + rows * kBlockTile]);
    }
}

template <class Sum, class T, class Layouts, int kTileCols, bool kSwizzled, class Epilogue>
__global__ void __launch_bounds__(kMmaThreads, kTileCols == 64 ? 3 : 2)
    mma_kernel(const Problem<T> g, const Epilogue epilogue) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    using Tiles = MmaTiles<T, Layouts, kTileCols, kSwizzled>;
    using TileA = typename Tiles::A;
    using TileB = typename Tiles::B;
    constexpr bool kRowsA = Tiles::kRowsA, kRowsB = Tiles::kRowsB;
    constexpr bool kOneByOne = std::is_same_v<T, float>;
    constexpr int kChunk = kPerPack<T>, kDeep = Tiles::kDeep;
    constexpr int kRows = kBlockTile / 2, kCols = Tiles::kWarpCols;  // of a warp's sums
    T* const a_tiles = reinterpret_cast<T*>(shared_bytes);
    T* const b_tiles = a_tiles + kStages * TileA::kElements;
    const Tile tile(g.m, g.n, kBlockTile, kTileCols);
    const auto a = g.a[tile.batch], b = g.b[tile.batch];
    const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
    const int row = warp / 2 * kRows, col = warp % 2 * kCols;

    // Every thread makes a group of copies for each step, an empty one behind the last: so it knows by
    // their number which have arrived.
    const auto fetch = [&](int64_t step) {
        const int64_t p = step * kDeep;
        const int stage = static_cast<int>(step % kStages);
        T* const a_tile = a_tiles + stage * TileA::kElements;
        T* const b_tile = b_tiles + stage * TileB::kElements;
        const auto fetch = [](auto tile, T* to, const auto& x, int64_t line, int64_t lines,
                              int64_t first, int64_t length) {
            decltype(tile)::template fetch<true, kMmaThreads>(to, x, line, lines, first, length);
        };
        if (p < g.k) {
            if constexpr (kRowsA) fetch(TileA{}, a_tile, a, tile.row, g.m, p, g.k);
            if constexpr (!kRowsA) fetch(TileA{}, a_tile, a, p, g.k, tile.row, g.m);
            if constexpr (kRowsB) fetch(TileB{}, b_tile, b, p, g.k, tile.col, g.n);
            if constexpr (!kRowsB) fetch(TileB{}, b_tile, b, tile.col, g.n, p, g.k);
        }
        __pipeline_commit();
    };
    for (int step = 0; step < kStages - 1; ++step) fetch(step);

    LaneSums<Sum> sums[kRows / 16][kCols / 8] = {};  // of 16 x 8 each
    for (int64_t step = 0; step * kDeep < g.k; ++step) {
        __pipeline_wait_prior(kStages - 2);
        __syncthreads();  // everybody's copies are there, and nobody needs the tile before
        fetch(step + kStages - 1);
        const T* const a_tile = a_tiles + step % kStages * TileA::kElements;
        const T* const b_tile = b_tiles + step % kStages * TileB::kElements;
#pragma unroll(kOneByOne ? 1 : 4)  // one by one takes places, too: not all fit into registers
        for (int p = 0; p < kDeep; p += 2 * kChunk) {
            // Of 16 columns each: two chunks of k for 8 of them, then for 8 more.
            uint32_t of_b[kCols / 16][4];
#pragma unroll
            for (int j = 0; j < kCols / 16; ++j) {
                const int at_k = kRowsB ? p + lane % 16 : p + lane / 8 % 2 * kChunk;
                const int at_col =
                    col + 16 * j + (kRowsB ? lane / 16 * 8 : lane % 8 + lane / 16 * 8);
                const int at = kRowsB ? TileB::at(at_k, at_col) : TileB::at(at_col, at_k);
                if constexpr (kRowsB && kOneByOne)
                    load_one_by_one<TileB, true>(of_b[j], b_tile, p, col + 16 * j);
                else
                    ldmatrix<kRowsB>(of_b[j], b_tile, at);
            }
#pragma unroll
            for (int i = 0; i < kRows / 16; ++i) {
                uint32_t of_a[4];  // rows 0 to 7, rows 8 to 15; the same with k a chunk further
                const int at_row = row + 16 * i + (kRowsA ? lane % 16 : lane / 8 % 2 * 8);
                const int at_k = kRowsA ? p + lane / 16 * kChunk : p + lane % 8 + lane / 16 * 8;
                const int at = kRowsA ? TileA::at(at_row, at_k) : TileA::at(at_k, at_row);
                if constexpr (!kRowsA && kOneByOne)
                    load_one_by_one<TileA, false>(of_a, a_tile, p, row + 16 * i);
                else
                    ldmatrix<!kRowsA>(of_a, a_tile, at);
#pragma unroll
                for (int j = 0; j < kCols / 8; ++j) {
                    const uint32_t half[2] = {of_b[j / 2][j % 2 * 2], of_b[j / 2][j % 2 * 2 + 1]};
                    mma<T>(sums[i][j], of_a, half);
                }
            }
        }
    }
    __pipeline_wait_prior(0);

    __syncthreads();  // nobody needs the tiles any more

    // A lane holds two neighbours in a row, and two 8 rows below: by way of shared memory each comes to have four,
    // beside the next lane's. Columns come in chunks: all four are there or none.
    float* const patch = reinterpret_cast<float*>(shared_bytes) + warp * Tiles::kPatch;
#pragma unroll
    for (int i = 0; i < kRows / 8; ++i) {
#pragma unroll
        for (int j = 0; j < kCols / 8; ++j) {
            const auto& two = sums[i / 2][j];
            float* const to =
                patch + (i * 8 + lane / 4) * Tiles::kPatchPitch + j * 8 + lane % 4 * 2;
            *reinterpret_cast<float2*>(to) =
                make_float2(sum_of(two, i % 2 * 2), sum_of(two, i % 2 * 2 + 1));
        }
    }
    __syncwarp();
    constexpr int kAcross = kCols / 4;  // lanes side by side
    const int64_t c_col = tile.col + col + lane % kAcross * 4;
#pragma unroll 4
    for (int i = lane / kAcross; i < kRows; i += 32 / kAcross) {
        const int64_t c_row = tile.row + row + i;
        if (c_row >= g.m || c_col >= g.n) continue;
        const float* const from = patch + i * Tiles::kPatchPitch + lane % kAcross * 4;
        const float4 four = *reinterpret_cast<const float4*>(from);
        const float of[] = {four.x, four.y, four.z, four.w};
        T* const to = &g.c[tile.batch](c_row, c_col);
        Pack<T, 4> pack{};
        if (g.beta != 0.f) pack = *reinterpret_cast<const Pack<T, 4>*>(to);
        for (int one = 0; one < 4; ++one) {
            float result = g.alpha * of[one];
            if (g.beta != 0.f) result += g.beta * static_cast<float>(pack.of[one]);
            pack.of[one] = static_cast<T>(epilogue(result, tile.batch, c_row, c_col + one));
        }
        *reinterpret_cast<Pack<T, 4>*>(to) = pack;
    }
#endif
}

template <class Sum, class Layouts, int kTileCols, bool kSwizzled, class T, class Epilogue>
cudaError_t launch_tiles_of(const Problem<T>& g, const Epilogue& epilogue, cudaStream_t stream) {
    const auto kernel = mma_kernel<Sum, T, Layouts, kTileCols, kSwizzled, Epilogue>;
    constexpr size_t kBytes = MmaTiles<T, Layouts, kTileCols, kSwizzled>::kBytes;
    int is_allowed = 0;
    const cudaError_t status = warp_softmax::ask_once(&is_allowed, [=](int*, int) {
        return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes);
    });
    if (status != cudaSuccess) return status;
    return launch_tiles(g, kBlockTile, kTileCols, [&](unsigned blocks) {
        kernel<<<blocks, kMmaThreads, kBytes, stream>>>(g, epilogue);
    });
}

// Of A and B stored so. Values of heads have 64 columns, and plain products of them are many.
template <class Sum, class Layouts, bool kSwizzled, class T, class Epilogue>
cudaError_t launch_stored(const Problem<T>& g, const Epilogue& epilogue, cudaStream_t stream) {
    using Row = nvcuda::wmma::row_major;
    if constexpr (std::is_same_v<Layouts, Stored<Row, Row>> && sizeof(T) == 2 && kSwizzled &&
                  std::is_same_v<Epilogue, Plain>) {
        if (g.n <= 64) return launch_tiles_of<Sum, Layouts, 64, true>(g, epilogue, stream);
    }
    return launch_tiles_of<Sum, Layouts, kBlockTile, kSwizzled>(g, epilogue, stream);
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
    static_assert(sizeof(T) == 2, "of floats tensor cores would drop digits: see tf32_gemm()");
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
inline cudaError_t half_sums_gemm(const Problem<__half>& g, cudaStream_t stream) {
    const cudaError_t status = launch_mma<__half, true>(g, Plain{}, stream);
    return status == cudaErrorNotSupported ? tensor_core(g, stream) : status;
}

// Of floats, of which tensor cores multiply the first 11 digits. Other lines go by way of register_tiled().
inline cudaError_t tf32_gemm(const Problem<float>& g, cudaStream_t stream) {
    const cudaError_t status = launch_mma<float, true>(g, Plain{}, stream);
    return status == cudaErrorNotSupported ? register_tiled(g, stream) : status;
}

}  // namespace batched_gemm
