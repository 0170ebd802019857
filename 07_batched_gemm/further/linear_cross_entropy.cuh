// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 07_batched_gemm/further/linear_cross_entropy, version 1.0
//
// The loss of a language model's last layer without its logits: cross-entropy of x weight^T, and its gradients.
//   new here   the product's epilogue reduces each row of a tile to (m, d), as in 03, and keeps the target's logit; a second
//              kernel merges a row's pairs. The gradients compute the logits again, some columns at a time
//   traffic    forward: the product's loads, and 8 bytes per 256 logits; no logit is written
//   accepts    half and bfloat16; rows, vocabulary and hidden > 0, hidden a multiple of 8; targets int32_t or int64_t
//   needs      compute capability 9.0, compiled for sm_90a; 1/64 of the logits' memory, and one chunk of them for gradients
//   source     (m, d): Milakov & Gimelshein 2018; without logits: Wijmans et al. 2024 (Cut Your Losses)
#pragma once
#include "../../05_smem_softmax/further/online_cached.cuh"
#include "hopper_gemm.cuh"

namespace batched_gemm {

using LogitPair = smem_softmax::Normalizer<float>;

// Targets of either type. int32_t and int64_t share all kernels.
struct LossTargets {
    const int64_t* wide = nullptr;
    const int32_t* narrow = nullptr;
    int64_t ignored = -100;  // rows with this target have no loss and no gradient

    explicit LossTargets(const int64_t* targets) : wide(targets) {}
    explicit LossTargets(const int32_t* targets) : narrow(targets) {}
    bool are_placed() const {
        return softmax_stages::is_placed(wide) || softmax_stages::is_placed(narrow);
    }
    __device__ int64_t operator[](int64_t row) const {
        return wide != nullptr ? wide[row] : narrow[row];
    }
};

// The operands: x is rows x hidden, weight vocabulary x hidden, both contiguous. loss and lse (the logarithm of the sum of a
// row's exponentials) have a number per row.
template <class T>
struct LinearLoss {
    const T* x;
    const T* weight;
    LossTargets targets;
    int64_t rows, hidden, vocabulary;
    float* loss;
    float* lse;
};

inline constexpr float kLog2E = 1.4426950408889634f;

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
// The place of a thread's sums in a tile: those with i / 2 % 2 == half are in row `row + 8 * half`, at column
// col + i / 4 * 8 + i % 2. Four neighbouring lanes share a row.
struct PlaceOfSums {
    int row, col;
    __device__ PlaceOfSums(int first_row, int first_col) {
        const int thread = static_cast<int>(threadIdx.x) % 128, lane = thread % 32;
        row = first_row + thread / 32 * 16 + lane / 4;
        col = first_col + lane % 4 * 2;
    }
};
#endif

// An epilogue that reduces each row of a tile to (m, d): pairs[row * tiles + tile]. The logit of the row's target goes to
// of_target[row].
struct LogitPairs : DropsResults {
    static constexpr bool kFinishesTiles = true;
    LossTargets targets;
    LogitPair* pairs;
    float* of_target;

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
    template <int kSums, class Problem>
    __device__ void finish_tile(float (&logits)[kSums], const Problem& g, int /*batch*/,
                                int first_row, int first_col) const {
        constexpr int kCols = 2 * kSums;
        const PlaceOfSums at(first_row, first_col);
        const int64_t tiles = (g.n - 1) / kCols + 1;
        if (first_col + kCols > g.n) {  // columns beyond the last add nothing
#pragma unroll
            for (int i = 0; i < kSums; ++i) {
                if (at.col + i / 4 * 8 + i % 2 >= g.n) logits[i] = -INFINITY;
            }
        }
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const int64_t row = at.row + 8 * half;
            float m = -INFINITY, other_m = -INFINITY, d = 0.f, other_d = 0.f;  // two chains of each
#pragma unroll
            for (int i = 2 * half; i < kSums; i += 4) {
                m = fmaxf(m, logits[i]);
                other_m = fmaxf(other_m, logits[i + 1]);
            }
            m = fmaxf(m, other_m);
            for (int apart = 1; apart <= 2; apart *= 2)
                m = fmaxf(m, __shfl_xor_sync(~0u, m, apart));
            const float base = smem_softmax::base_of(m) * kLog2E;
#pragma unroll
            for (int i = 2 * half; i < kSums; i += 4) {
                d += warp_softmax::fast_exp2(logits[i] * kLog2E - base);
                other_d += warp_softmax::fast_exp2(logits[i + 1] * kLog2E - base);
            }
            d += other_d;
            for (int apart = 1; apart <= 2; apart *= 2) d += __shfl_xor_sync(~0u, d, apart);
            if (row >= g.m) continue;
            if (threadIdx.x % 4 == 0) pairs[row * tiles + first_col / kCols] = {m, d};
            const int64_t target = targets[row] - at.col;
            if (target < 0 || target >= kCols || target % 8 >= 2)
                continue;  // in another tile, or another lane's
#pragma unroll
            for (int i = 2 * half; i < kSums; i += 4) {
                if (target == i / 4 * 8) of_target[row] = logits[i];
                if (target == i / 4 * 8 + 1) of_target[row] = logits[i + 1];
            }
        }
    }
#endif
};

// An epilogue that turns logits into their gradients: (softmax - 1 at the target) * scale. Columns begin at column `first` of
// the vocabulary. grad_output: a number per row, or nullptr for ones.
struct LogitGradients {
    static constexpr bool kFinishesTiles = true;
    LossTargets targets;
    const float* lse;
    const float* grad_output;
    float scale;
    int64_t first, vocabulary;

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
    template <int kSums, class Problem>
    __device__ void finish_tile(float (&logits)[kSums], const Problem& g, int /*batch*/,
                                int first_row, int first_col) const {
        const PlaceOfSums at(first_row, first_col);
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const int64_t row = at.row + 8 * half;
            const bool is_there = row < g.m;
            const int64_t target = is_there ? targets[row] : targets.ignored;
            const bool is_ignored = target == targets.ignored;
            const bool is_wrong = !is_ignored && (target < 0 || target >= vocabulary);
            const int64_t column = target - first - at.col;
            const float base = is_there ? lse[row] * kLog2E : 0.f;
            float by = scale;
            if (is_there && grad_output != nullptr) by *= grad_output[row];
            if (is_wrong) by = NAN;
#pragma unroll
            for (int i = 2 * half; i < kSums; i += 4) {
#pragma unroll
                for (int j = i; j < i + 2; ++j) {
                    float share = warp_softmax::fast_exp2(logits[j] * kLog2E - base);
                    if (column == j / 4 * 8 + j % 2) share -= 1.f;
                    logits[j] = is_ignored ? 0.f : share * by;
                }
            }
        }
    }
#endif
};

// Merges the pairs of each row, a warp per row.
constexpr int kMergeThreads = 256;
template <int kThreads>
__global__ void __launch_bounds__(kThreads)
    merge_logit_pairs_kernel(const LogitPair* pairs, const float* of_target, LossTargets targets,
                             float* loss, float* lse, int64_t rows, int64_t tiles,
                             int64_t vocabulary) {
    const int lane = threadIdx.x % 32;
    const int64_t row = (int64_t{blockIdx.x} * kThreads + threadIdx.x) / 32;
    if (row >= rows) return;  // the whole warp
    auto all = LogitPair::of_none();
    for (int64_t tile = lane; tile < tiles; tile += 32)
        all = smem_softmax::merged(all, pairs[row * tiles + tile]);
    all = smem_softmax::merge_in_warp(all);
    if (lane != 0) return;
    const int64_t target = targets[row];
    const bool is_there = target >= 0 && target < vocabulary;
    const float log_d = logf(all.d);
    lse[row] = all.m + log_d;
    loss[row] = target == targets.ignored ? 0.f : is_there ? all.m - of_target[row] + log_d : NAN;
}

// to = from, rounded.
template <class T>
__global__ void round_gradient_kernel(const float* from, T* to, int64_t count) {
    for (int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
         i += int64_t{gridDim.x} * blockDim.x)
        to[i] = static_cast<T>(from[i]);
}

// The tiles of the products that compute logits.
using LogitTile = HopperTile<256>;
inline int64_t logit_tiles(int64_t vocabulary) {
    return (vocabulary - 1) / LogitTile::kCols + 1;
}
constexpr size_t aligned_bytes(size_t bytes) {
    return (bytes + 255) / 256 * 256;
}

// Columns of the vocabulary whose gradients are in memory at once.
constexpr int64_t kLossChunk = 8192;

// Return the bytes of workspace that linear_cross_entropy() and its gradients need. chunk: as for the gradients.
inline size_t linear_loss_workspace_bytes(int64_t rows, int64_t vocabulary) {
    return aligned_bytes(static_cast<size_t>(rows * logit_tiles(vocabulary)) * sizeof(LogitPair)) +
           static_cast<size_t>(rows) * sizeof(float);
}
template <class T>
size_t linear_loss_backward_workspace_bytes(int64_t rows, int64_t hidden, int64_t vocabulary,
                                            int64_t chunk = kLossChunk) {
    const int64_t columns = std::min(chunk, (vocabulary + 7) / 8 * 8);
    return aligned_bytes(static_cast<size_t>(rows * columns) * sizeof(T)) +
           static_cast<size_t>(rows * hidden) * sizeof(float);
}

template <class T>
cudaError_t check_linear_loss(const LinearLoss<T>& g, const void* workspace, size_t bytes,
                              size_t needed) {
    constexpr int64_t kMost = INT32_MAX - 1024;
    const bool possible = g.rows > 0 && g.hidden > 0 && g.vocabulary > 0 && g.rows <= kMost &&
                          g.vocabulary <= kMost && g.hidden % 8 == 0;
    const bool placed = softmax_stages::is_placed(g.x) && softmax_stages::is_placed(g.weight) &&
                        g.targets.are_placed() && softmax_stages::is_placed(g.loss) &&
                        softmax_stages::is_placed(g.lse);
    const bool has_room = softmax_stages::usable_bytes(workspace, bytes) >= needed;
    return possible && placed && has_room ? cudaSuccess : cudaErrorInvalidValue;
}

// The product that computes the logits of `columns` columns from `first` on.
template <class T>
Problem<T> logits_of(const LinearLoss<T>& g, int64_t first, int64_t columns, T* c, int64_t ld) {
    return {1,
            g.rows,
            columns,
            g.hidden,
            1.f,
            {g.x, g.hidden},
            {g.weight + first * g.hidden, g.hidden, 0, true},
            0.f,
            {c, ld}};
}

template <class T, class Epilogue>
cudaError_t launch_logits(const Problem<T>& g, const Epilogue& epilogue, cudaStream_t stream) {
    const softmax_stages::Chip chip = softmax_stages::this_chip();
    if (chip.capability != 9 || !has_coordinates(g) || !is_loadable(g.a, 1) || !is_loadable(g.b, 1))
        return cudaErrorNotSupported;
    const int blocks = g.m > LogitTile::kRows ? 2 : 1;
    return launch_hopper_tiles<LogitTile, float>(g, HopperPlan{LogitTile::kCols, blocks, 8},
                                                 chip.multiprocessors, epilogue, stream,
                                                 Begin::early);
}

// Computes loss[row] = lse[row] - logit of the row's target, in one product and a small kernel. A row whose target is ignored
// has loss 0; one whose target is out of range has loss NaN. Asynchronous on stream. Returns cudaErrorInvalidValue for a null or
// misaligned pointer, an unsupported size, or a workspace that is too small; cudaErrorNotSupported without Hopper.
template <class T>
cudaError_t linear_cross_entropy(const LinearLoss<T>& g, void* workspace, size_t bytes,
                                 cudaStream_t stream) {
    cudaError_t error =
        check_linear_loss(g, workspace, bytes, linear_loss_workspace_bytes(g.rows, g.vocabulary));
    if (error != cudaSuccess) return error;
    const int64_t tiles = logit_tiles(g.vocabulary);
    auto* const pairs = static_cast<LogitPair*>(workspace);
    auto* const of_target = reinterpret_cast<float*>(
        static_cast<char*>(workspace) +
        aligned_bytes(static_cast<size_t>(g.rows * tiles) * sizeof(LogitPair)));
    // Nothing is written to C, so any address will do.
    const Problem<T> logits =
        logits_of(g, 0, g.vocabulary, static_cast<T*>(workspace), g.vocabulary);
    error = launch_logits(logits, LogitPairs{{}, g.targets, pairs, of_target}, stream);
    if (error != cudaSuccess) return error;
    const auto blocks = static_cast<unsigned>((g.rows * 32 - 1) / kMergeThreads + 1);
    merge_logit_pairs_kernel<kMergeThreads><<<blocks, kMergeThreads, 0, stream>>>(
        pairs, of_target, g.targets, g.loss, g.lse, g.rows, tiles, g.vocabulary);
    return cudaGetLastError();
}

// Computes the gradients dx (rows x hidden) and dweight (vocabulary x hidden) of sum(scale * grad_output[row] * loss[row]) from
// lse. grad_output: device memory, or nullptr for ones. For `chunk` columns of the vocabulary at a time (a multiple of 8), it
// computes their logits again, and from their gradients a part of dx and rows of dweight. Errors as above.
template <class T>
cudaError_t linear_cross_entropy_backward(const LinearLoss<T>& g, const float* grad_output,
                                          float scale, T* dx, T* dweight, void* workspace,
                                          size_t bytes, cudaStream_t stream,
                                          int64_t chunk = kLossChunk) {
    if (chunk <= 0 || chunk % 8 != 0 || !softmax_stages::is_placed(dx) ||
        !softmax_stages::is_placed(dweight) || !softmax_stages::is_placed(grad_output, true))
        return cudaErrorInvalidValue;
    cudaError_t error = check_linear_loss(
        g, workspace, bytes,
        linear_loss_backward_workspace_bytes<T>(g.rows, g.hidden, g.vocabulary, chunk));
    if (error != cudaSuccess) return error;
    const int64_t ld = std::min(chunk, (g.vocabulary + 7) / 8 * 8);
    auto* const gradients = static_cast<T*>(workspace);
    auto* const sums =
        reinterpret_cast<float*>(static_cast<char*>(workspace) +
                                 aligned_bytes(static_cast<size_t>(g.rows * ld) * sizeof(T)));
    for (int64_t first = 0; first < g.vocabulary; first += chunk) {
        const int64_t columns = std::min(chunk, g.vocabulary - first);
        const LogitGradients epilogue{g.targets, g.lse, grad_output, scale, first, g.vocabulary};
        error = launch_logits(logits_of(g, first, columns, gradients, ld), epilogue, stream);
        if (error != cudaSuccess) return error;
        const Problem<T, float> of_x{1,  // gradients weight, added to those of the chunks before
                                     g.rows,
                                     g.hidden,
                                     columns,
                                     1.f,
                                     {gradients, ld},
                                     {g.weight + first * g.hidden, g.hidden},
                                     first == 0 ? 0.f : 1.f,
                                     {sums, g.hidden}};
        error = hopper_with(of_x, Plain{}, stream);
        if (error != cudaSuccess) return error;
        const Problem<T> of_weight{1,  // gradients^T x
                                   columns,
                                   g.hidden,
                                   g.rows,
                                   1.f,
                                   {gradients, ld, 0, true},
                                   {g.x, g.hidden},
                                   0.f,
                                   {dweight + first * g.hidden, g.hidden}};
        error = hopper_with(of_weight, Plain{}, stream);
        if (error != cudaSuccess) return error;
    }
    constexpr int kThreads = 256;
    const int64_t count = g.rows * g.hidden;
    const auto blocks = static_cast<unsigned>(std::min<int64_t>((count - 1) / kThreads + 1, 4096));
    round_gradient_kernel<<<blocks, kThreads, 0, stream>>>(sums, dx, count);
    return cudaGetLastError();
}

}  // namespace batched_gemm
