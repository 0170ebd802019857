// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 08_encoder_fusions/further/product_norm, version 1.0
//
// A product that ends in the norm of its rows: y = norm(A B + bias + residual), without a kernel in between.
//   new here   the blocks of a cluster have whole rows of C. Each computes mean and squares of its part of a row, sends them to the
//              others and merges what it receives, as 03 merges pairs of a softmax: sums stay in registers until they are normalised
//   traffic    reads A, B and the residual, writes y. Two kernels also write the product and read it again
//   accepts    __half, __nv_bfloat16; one matrix, A row-major and B transposed, lines that begin at multiples of 16 bytes; n = 1, 2, 4
//              or 8 times 128, 192 or 256; y may be the residual
//   needs      compute capability 9.0, compiled for sm_90a
//   source     07's hopper_gemm.cuh; Chan, Golub and LeVeque 1979 for the merge of two parts' means and squares
#pragma once
#include "planned_products.cuh"

namespace encoder_layers {

using batched_gemm::Begin;

// A block computes 128 rows x kColumns of C: two warpgroups multiply 64 rows each, a third one copies. Shared memory holds a ring of
// stages, as in hopper_gemm.cuh, the results, and for two tiles in turn what all blocks send about each row.
template <int kColumns>
struct NormTile {
    static constexpr int kMultipliers = 2, kThreads = (kMultipliers + 1) * 128;
    static constexpr int kRows = 64 * kMultipliers, kCols = kColumns, kLine = 128;
    static constexpr int kSums = kCols / 2;     // of a thread
    static constexpr int kSlices = kCols / 64;  // of 64 columns, a line of elements of 16 bits
    static constexpr int kWarps = 4 * kMultipliers, kRowsOfWarp = 16, kMostBlocks = 8;
    static constexpr int kOfA = kRows * kLine, kOfB = kCols * kLine, kStageBytes = kOfA + kOfB;
    static constexpr int kSlice = kRowsOfWarp * kLine;  // bytes of a warp's results
    static constexpr int kOfResults = kWarps * kSlices * kSlice;
    static constexpr int kOfMoments = 2 * kWarps * kMostBlocks * kRowsOfWarp * 8;
    static constexpr int kOfBlock = 227 * 1024, kToAlign = 1024, kOfBarriers = 512;
    static constexpr int kStages =
        (kOfBlock - kToAlign - kOfBarriers - kOfResults - kOfMoments) / kStageBytes;
    static constexpr unsigned kBytes = kToAlign + kStages * kStageBytes + kOfResults + kOfMoments;
};

// What the end of a product needs beside its sums.
template <class T>
struct ProductEnd {
    const T* bias;
    Norm<T> norm;
};

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

// Mean and sum of squared deviations of a row, or of a block's part of it.
struct Moments {
    float mean, squares;
};

// Sends a pair to block `rank` of the cluster, where a barrier counts its 8 bytes: see batched_gemm::send().
__device__ inline void send(const Moments& of_row, unsigned place, unsigned barrier, int rank) {
    asm volatile(
        "{\n.reg .b32 there, counter;\nmapa.shared::cluster.u32 there, %0, %2;\n"
        "mapa.shared::cluster.u32 counter, %1, %2;\n"
        "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.f32"
        " [there], {%3, %4}, [counter];\n}" ::"r"(place),
        "r"(barrier), "r"(rank), "f"(of_row.mean), "f"(of_row.squares)
        : "memory");
}

// The sum over the four lanes that share a row.
__device__ inline float sum_of_four(float x) {
    x += __shfl_xor_sync(~0u, x, 1);
    return x + __shfl_xor_sync(~0u, x, 2);
}

// Of the sums of the thread's row 0 or 1, and of the other three lanes that have this row.
template <int kSums>
__device__ Moments moments_of(const float (&sums)[kSums], int row) {
    constexpr float kCount = 2 * kSums;
    float total = 0.f, squares = 0.f;
#pragma unroll
    for (int i = 0; i < kSums; ++i) total += i / 2 % 2 == row ? sums[i] : 0.f;
    const float mean = sum_of_four(total) / kCount;
#pragma unroll
    for (int i = 0; i < kSums; ++i) {
        const float deviation = sums[i] - mean;
        squares += i / 2 % 2 == row ? deviation * deviation : 0.f;
    }
    return {mean, sum_of_four(squares)};
}
// Merges the moments of `parts` equally long parts of a row, `apart` pairs apart.
__device__ inline Moments merge(const Moments* of_parts, int parts, int apart, float of_part) {
    const float share = 1.f / static_cast<float>(parts);
    Moments all{};
    for (int i = 0; i < parts; ++i) all.mean += of_parts[i * apart].mean * share;
    for (int i = 0; i < parts; ++i) {
        const Moments part = of_parts[i * apart];
        const float deviation = part.mean - all.mean;
        all.squares += part.squares + of_part * deviation * deviation;
    }
    return all;
}

// Two neighbours as floats.
template <class T>
__device__ float2 two_at(const void* address) {
    const auto two = *static_cast<const encoder_fusions::Pack<T, 2>*>(address);
    return make_float2(static_cast<float>(two.element[0]), static_cast<float>(two.element[1]));
}
#endif

// The blocks of a cluster have the same rows; block `rank` has columns from rank * kCols on. Each loads its part of A for all of them.
template <class T, class Tile>
__global__ void __launch_bounds__(Tile::kThreads, 1)
    product_norm_kernel(const __grid_constant__ CUtensorMap a_map,
                        const __grid_constant__ CUtensorMap b_map,
                        const __grid_constant__ CUtensorMap residual_map,
                        const __grid_constant__ CUtensorMap y_map, const ProductEnd<T> end,
                        const int steps, const int tiles, const bool b_is_ready) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
    using namespace batched_gemm;
    constexpr int kStages = Tile::kStages, kLine = Tile::kLine, kDeep = kLine / sizeof(T);
    constexpr int kRowsOfWarp = Tile::kRowsOfWarp;
    __shared__ uint64_t full[kStages], empty[kStages];
    __shared__ uint64_t received[2][Tile::kWarps];
    unsigned char* const stages =
        shared_bytes + (1024 - shared_address(shared_bytes) % 1024) % 1024;
    const auto a_of = [&](int stage) { return stages + stage * Tile::kStageBytes; };
    const auto b_of = [&](int stage) { return a_of(stage) + Tile::kOfA; };
    unsigned char* const all_results = a_of(kStages);
    auto* const all_moments = reinterpret_cast<Moments*>(all_results + Tile::kOfResults);

    const int rank = hopper::rank_in_cluster(), blocks = hopper::blocks_of_cluster();
    if (threadIdx.x == 0) {
        hopper::prefetch(a_map), hopper::prefetch(b_map);
        hopper::prefetch(residual_map), hopper::prefetch(y_map);
        for (int i = 0; i < kStages; ++i)
            init(full[i], 1), init(empty[i], Tile::kMultipliers * blocks);
        for (int i = 0; i < Tile::kWarps; ++i) init(received[0][i], 1), init(received[1][i], 1);
        order_inits();
    }
    hopper::arrive_at_cluster();
    hopper::wait_for_cluster();
    early_launch::let_next_begin();
    if (!b_is_ready) early_launch::wait_for_earlier();

    const int warp = hopper::uniform(static_cast<int>(threadIdx.x) / 32), warpgroup = warp / 4;
    const int first = static_cast<int>(blockIdx.x), apart = static_cast<int>(gridDim.x);
    const int first_col = rank * Tile::kCols;
    hopper::RingPlace<kStages> place;
    if (warpgroup == Tile::kMultipliers) {
        hopper::give_registers<40>();
        if (threadIdx.x % 128 == 0) {
            const int part = Tile::kRows / blocks;
            const auto load_b_of = [&](int stage, int step) {
                arrive_and_expect(full[stage], Tile::kStageBytes);
                load(b_of(stage), b_map, step * kDeep, first_col, 0, full[stage]);
            };
            // A block has read a stage when all blocks have, because a multicast writes to each.
            const auto wait_for_stage = [&] { wait(empty[place.stage], place.parity ^ 1); };
            for (int tile = first; tile < tiles; tile += apart) {
                const int row = tile * Tile::kRows;
                // B fills the empty ring before the kernel waits for the one that writes A.
                const bool is_ahead = b_is_ready && tile == first;
                if (is_ahead) {
                    for (int step = 0; step < steps && step < kStages; ++step)
                        load_b_of(step, step);
                    early_launch::wait_for_earlier();
                }
                for (int step = 0; step < steps; ++step, place.advance()) {
                    if (!is_ahead || step >= kStages) {
                        wait_for_stage();
                        load_b_of(place.stage, step);
                    }
                    hopper::load_for((1 << blocks) - 1, a_of(place.stage) + rank * part * kLine,
                                     a_map, step * kDeep, row + rank * part, 0, full[place.stage]);
                }
                // The residual follows through the same ring, in the place of A.
                for (int slice = 0; slice < Tile::kSlices; ++slice, place.advance()) {
                    wait_for_stage();
                    arrive_and_expect(full[place.stage], Tile::kOfA);
                    load(a_of(place.stage), residual_map, first_col + slice * kDeep, row, 0,
                         full[place.stage]);
                }
            }
            // Then all blocks have read what this block has multicast to them, and reported it here.
            for (int i = 0; i < kStages; ++i, place.advance()) wait_for_stage();
        }
        __syncwarp();
    } else {
        hopper::take_registers<232>();
        if (b_is_ready) early_launch::wait_for_earlier();  // y may be written from here on
        const int lane = static_cast<int>(threadIdx.x) % 32;
        // The thread's first column, and its first line in the warp's 16; the second line is 8 below.
        const int line = lane / 4, col = first_col + lane % 4 * 2;
        unsigned char* const results = all_results + warp * Tile::kSlices * Tile::kSlice;
        const auto release = [&](int stage) {
            const int thread = static_cast<int>(threadIdx.x) % 128;
            if (thread < blocks) hopper::arrive_at(empty[stage], thread);
        };
        float sums[Tile::kSums];
        hopper::RingPlace<2> turn;
        for (int tile = first; tile < tiles; tile += apart, turn.advance()) {
            int previous = 0;
            for (int step = 0; step < steps; ++step) {
                wait(full[place.stage], place.parity);
                const hopper::Operand a(a_of(place.stage) + warpgroup * 64 * kLine, false, 0);
                const hopper::Operand b(b_of(place.stage), false, 0);
                hopper::multiply<T>(sums, a, b, step != 0);
                if (step != 0) {
                    hopper::wait_for_products<1>();
                    release(previous);
                }
                previous = place.stage;
                place.advance();
            }
            hopper::wait_for_products<0>();
            release(previous);

            // Add bias and residual, a slice of 64 columns at a time.
#pragma unroll
            for (int slice = 0; slice < Tile::kSlices; ++slice) {
                wait(full[place.stage], place.parity);
                const unsigned char* const lines =
                    a_of(place.stage) + (warp * kRowsOfWarp + line) * kLine + lane % 4 * 4;
#pragma unroll
                for (int i = 0; i < 8; ++i) {  // two columns of two rows
                    const float2 bias = two_at<T>(end.bias + col + slice * 64 + i * 8);
                    float* const four = sums + slice * 32 + i * 4;
#pragma unroll
                    for (int below = 0; below < 2; ++below) {
                        const float2 residual =
                            two_at<T>(lines + below * 8 * kLine + (i ^ line) * 16);
                        four[2 * below] += bias.x + residual.x;
                        four[2 * below + 1] += bias.y + residual.y;
                    }
                }
                hopper::sync_at(1 + warpgroup, 128);  // all four warps have read their lines
                release(place.stage);
                place.advance();
            }

            // Tell all blocks about this block's part of each row. The four lanes of a row have the same pairs and send to
            // different blocks.
            const Moments own[2] = {moments_of(sums, 0), moments_of(sums, 1)};
            uint64_t& barrier = received[turn.stage][warp];
            Moments* const moments =
                all_moments + (turn.stage * Tile::kWarps + warp) * Tile::kMostBlocks * kRowsOfWarp;
            const unsigned to = shared_address(moments + rank * kRowsOfWarp + line);
            for (int other = lane % 4; other < blocks; other += 4) {
                send(own[0], to, shared_address(&barrier), other);
                send(own[1], to + 8 * sizeof(Moments), shared_address(&barrier), other);
            }
            if (lane == 0) arrive_and_expect(barrier, blocks * kRowsOfWarp * sizeof(Moments));
            wait_for_others(barrier, turn.parity);
            float mean[2], scale[2];
#pragma unroll
            for (int row = 0; row < 2; ++row) {
                const Moments all =
                    merge(moments + line + 8 * row, blocks, kRowsOfWarp, Tile::kCols);
                mean[row] = all.mean;
                scale[row] = rsqrtf(all.squares / static_cast<float>(Tile::kCols * blocks) +
                                    end.norm.epsilon);
            }

            // Store the norms. Each warp has a place of its own for its 16 rows, and waits only for its own stores.
            if (lane == 0) hopper::wait_for_stores<0>();
            __syncwarp();
#pragma unroll
            for (int i = 0; i < Tile::kSums; i += 8) {  // 16 columns
                uint32_t words[4];
#pragma unroll
                for (int j = 0; j < 8; j += 4) {
                    const float2 gamma = two_at<T>(end.norm.gamma + col + (i + j) * 2),
                                 beta = two_at<T>(end.norm.beta + col + (i + j) * 2);
#pragma unroll
                    for (int row = 0; row < 2; ++row) {
                        const float* const two = sums + i + j + 2 * row;
                        words[j / 2 + row] = hopper::two_as_word<T>(
                            (two[0] - mean[row]) * scale[row] * gamma.x + beta.x,
                            (two[1] - mean[row]) * scale[row] * gamma.y + beta.y);
                    }
                }
                const int chunk = i / 8 * 2 + lane / 16, of_lane = lane % 16;
                hopper::store_matrices(results + chunk / 8 * Tile::kSlice + of_lane * kLine +
                                           (chunk % 8 ^ of_lane % 8) * 16,
                                       words);
            }
            hopper::order_before_copies();
            __syncwarp();
            if (lane == 0) {
                for (int slice = 0; slice < Tile::kSlices; ++slice)
                    hopper::store(y_map, first_col + slice * kDeep,
                                  tile * Tile::kRows + warp * kRowsOfWarp, 0,
                                  results + slice * Tile::kSlice);
                hopper::commit_stores();
            }
        }
        if (lane == 0) hopper::wait_for_stores<0>();  // shared memory stays until they have read it
    }
    // No block may exit while another one multicasts to its memory, sends to it or arrives at its barriers.
    hopper::arrive_at_cluster();
    hopper::wait_for_cluster();
#else
    __trap();  // compiled for another architecture
#endif
}

struct ProductNormPlan {
    int cols;           // of a block: 128, 192, 256; 0 if no cluster has whole rows
    int blocks;         // of a cluster: 1, 2, 4 or 8; cols * blocks is n
    double clocks = 0;  // estimated, see batched_gemm::clocks_of_hopper()
};
// Returns the plan with the shortest estimate for m x n x k.
inline ProductNormPlan product_norm_plan(int64_t m, int64_t n, int64_t k, int64_t multiprocessors) {
    using batched_gemm::hopper::kClocksPerLine;
    constexpr double kStart = 3250, kOfTile = 6000, kOfColumn = 8, kOfStep = 60, kOfProduct = 4.4;
    constexpr int kRows = NormTile<128>::kRows;
    ProductNormPlan best{};
    for (const int cols : {256, 192, 128}) {
        for (const int blocks : {1, 2, 4, 8}) {
            if (int64_t{cols} * blocks != n) continue;
            const double waves = std::ceil(
                static_cast<double>((m - 1) / kRows + 1) /
                static_cast<double>(batched_gemm::clusters_at_once(multiprocessors, blocks)));
            const double of_step = std::max(kOfStep + kOfProduct * cols,
                                            kClocksPerLine * (cols + double{kRows} / blocks));
            const double clocks =
                kStart + waves * (static_cast<double>((k - 1) / 64 + 1) * of_step + kOfTile +
                                  kOfColumn * cols);
            if (best.cols == 0 || clocks < best.clocks) best = {cols, blocks, clocks};
        }
    }
    return best;
}

template <class Tile, class T>
cudaError_t launch_product_norm(const batched_gemm::Problem<T>& g, const ProductEnd<T>& end,
                                const T* residual, int blocks, cudaStream_t stream, Begin begin) {
    using namespace batched_gemm;
    const auto kernel = product_norm_kernel<T, Tile>;
    const Matrices<const T> of_residual{residual, g.n};
    CUtensorMap a_map, b_map, residual_map, y_map;
    cudaError_t error = hopper::prepare(kernel, Tile::kBytes);
    if (error == cudaSuccess) error = describe(&a_map, g.a, g.m, g.k, 1, Tile::kRows / blocks);
    if (error == cudaSuccess) error = describe(&b_map, g.b, g.n, g.k, 1, Tile::kCols);
    if (error == cudaSuccess)
        error = describe(&residual_map, of_residual, g.m, g.n, 1, Tile::kRows);
    if (error == cudaSuccess) error = describe(&y_map, g.c, g.m, g.n, 1, Tile::kRowsOfWarp);
    if (error != cudaSuccess) return error;
    const int64_t tiles = (g.m - 1) / Tile::kRows + 1;
    const int64_t at_once = clusters_at_once(softmax_stages::this_chip().multiprocessors, blocks);
    const int64_t waves = (tiles - 1) / at_once + 1;
    const auto clusters = static_cast<unsigned>((tiles - 1) / waves + 1);
    const auto of_cluster = static_cast<unsigned>(blocks);
    return early_launch::launch(
        kernel, dim3(clusters, of_cluster), dim3(Tile::kThreads), Tile::kBytes, stream,
        begin != Begin::after, of_cluster, a_map, b_map, residual_map, y_map, end,
        static_cast<int>((g.k - 1) / 64 + 1), static_cast<int>(tiles), begin == Begin::with_b);
}

// g.c = norm(A B + bias + residual). The residual's rows lie one after another; it may be g.c. Returns cudaErrorNotSupported for
// problems outside `accepts` above and without Hopper, cudaErrorInvalidValue for another plan than there are.
template <class T>
cudaError_t product_norm(const batched_gemm::Problem<T>& g, const ProductEnd<T>& end,
                         const T* residual, const ProductNormPlan& plan, cudaStream_t stream,
                         Begin begin) {
    using batched_gemm::is_loadable;
    constexpr int kRows = NormTile<128>::kRows;
    const cudaError_t status = batched_gemm::status_of(g, kRows, 128);
    if (status != cudaSuccess || batched_gemm::is_empty(g)) return status;
    const bool are_pairs = warp_softmax::takes_packs<2>(end.bias, g.n) &&
                           warp_softmax::takes_packs<2>(end.norm.gamma, g.n) &&
                           warp_softmax::takes_packs<2>(end.norm.beta, g.n);
    if (softmax_stages::this_chip().capability != 9 || g.batch != 1 || g.a.transposed ||
        !g.b.transposed || g.alpha != 1.f || g.beta != 0.f || g.k == 0 || plan.cols == 0 ||
        !batched_gemm::has_coordinates(g) || !is_loadable(g.a, 1) || !is_loadable(g.b, 1) ||
        !is_loadable(g.c, 1) || reinterpret_cast<uintptr_t>(residual) % 16 != 0 || !are_pairs)
        return cudaErrorNotSupported;
    const bool is_size =
        plan.blocks == 1 || plan.blocks == 2 || plan.blocks == 4 || plan.blocks == 8;
    if (!is_size || int64_t{plan.cols} * plan.blocks != g.n) return cudaErrorInvalidValue;
    const auto launch = [&](auto tile) {
        return launch_product_norm<decltype(tile)>(g, end, residual, plan.blocks, stream, begin);
    };
    switch (plan.cols) {
        case 128:
            return launch(NormTile<128>{});
        case 192:
            return launch(NormTile<192>{});
        case 256:
            return launch(NormTile<256>{});
        default:
            return cudaErrorInvalidValue;
    }
}

// PlannedKernels, whose products that a norm follows end in it where n has such parts.
class NormingKernels : public PlannedKernels {
public:
    template <class T>
    cudaError_t product_norm(const batched_gemm::Problem<T>& g, const T* bias, const T* residual,
                             const Norm<T>& norm, cudaStream_t stream) const {
        if constexpr (sizeof(T) == 2) {
            const ProductNormPlan plan =
                product_norm_plan(g.m, g.n, g.k, softmax_stages::this_chip().multiprocessors);
            if (plan.cols != 0)
                return encoder_layers::product_norm(g, ProductEnd<T>{bias, norm}, residual, plan,
                                                    stream, begin());
        }
        return cudaErrorNotSupported;
    }
};

}  // namespace encoder_layers
