// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 05_smem_softmax/further/cross_entropy, version 1.0
//
// The cross-entropy loss of rows of logits, and its gradient, which may replace the logits.
//   call       cross_entropy, cross_entropy_loss: see front_call.cuh
//   timed      cross_entropy, cross_entropy_loss
//   new here   03's pair (m, d) gives a row's log-sum-exp; with the target's logit that is the loss, and the gradient
//              needs no further sum
//   traffic    1 read + 1 write per element while a row fits in shared memory, else 2 reads + 1 write; the loss
//              alone: 1 read, of rows of any length
//   accepts    float, __half, __nv_bfloat16, double; targets of 32 or 64 bits; up to 2^31 - 1025 rows and columns
//   rows       special rows as in 04; rows with ignore_index become zeros, rows with a target out of range NaN
//   source     options as PyTorch's cross_entropy; z_loss and soft_cap as Liger-Kernel (2024)
#pragma once
#include <cmath>
#include <type_traits>

#include "../../04_warp_softmax/front_call.cuh"
#include "../../04_warp_softmax/further/loads_and_stores.cuh"
#include "../smem_softmax.cuh"

namespace softmax_stages {

enum class Reduction { none, mean, sum };

// The options of cross_entropy and cross_entropy_loss. Compute: float, or double if the logits are doubles.
template <class T, class Compute = warp_softmax::ComputeOf<T>>
struct CrossEntropyOptions {
    Reduction reduction = Reduction::none;
    int64_t ignore_index = -100;  // rows with this target do not count
    Compute label_smoothing = 0;  // 0 to 1: the share of the loss that all classes get alike
    Compute z_loss = 0;           // at least 0: adds z_loss * lse^2 to a row's loss
    Compute soft_cap = 0;         // c > 0: replaces each logit x by c * tanh(x / c)
    const Compute* class_weights = nullptr;  // [cols]
    const Compute* grad_output = nullptr;    // [rows], or [1] with a reduction; nullptr: ones
    Compute* lse = nullptr;                  // [rows], optional result: the log-sum-exp of each row
    Compute* totals = nullptr;  // [3], result that a reduction requires: the reduced loss, and
                                // the weight and the number of the rows that count
};

struct CrossEntropyPlan {
    int threads;    // per row: a warp, of which four share a block, or a block
    int pack;       // elements per access
    bool kept;      // true if a row stays in shared memory between its two passes
    size_t shared;  // bytes of shared memory per block
    const char* reason;
    size_t workspace_bytes;       // always 0
    size_t more_workspace_bytes;  // always 0
    int rows_of_block() const { return threads == 32 ? smem_softmax::kRowsOfBlock<32> : 1; }
};

}  // namespace softmax_stages

namespace smem_softmax {

using softmax_stages::CrossEntropyOptions;
using softmax_stages::Reduction;
using warp_softmax::ComputeOf;

// Targets of either width. A row has only one, so a kernel can test the width at run time.
struct Targets {
    const int64_t* wide = nullptr;
    const int32_t* narrow = nullptr;
    explicit Targets(const int64_t* targets) : wide(targets) {}
    explicit Targets(const int32_t* targets) : narrow(targets) {}

    bool are_placed() const {
        return softmax_stages::is_placed(wide) || softmax_stages::is_placed(narrow);
    }
    __device__ int64_t operator[](int64_t row) const {
        return wide != nullptr ? wide[row] : narrow[row];
    }
};

// The operands of a call. gradient may be logits, or nullptr if only the loss is required.
template <class T>
struct LossCall {
    const T* logits;
    Targets targets;
    ComputeOf<T>* loss;
    T* gradient;
    int64_t rows, cols;
    CrossEntropyOptions<T> options;
};

// ---------------------------------------------------------------- what a row is reduced to

// 03's normalizer pair (m, d) and, for label smoothing, the sums of w[c] * x[c] and of w[c] with class weights w.
template <class Compute>
struct RowSums {
    Compute m, d, weighted, weight;
};

// Returns the reference point of exponentials: m, or 0 if all elements so far are -inf, as in 03.
template <class Compute>
__device__ Compute base_of_sums(Compute m) {
    return m == -static_cast<Compute>(INFINITY) ? 0 : m;
}

struct MergeSums {
    template <class Compute>
    __device__ RowSums<Compute> operator()(const RowSums<Compute>& a,
                                           const RowSums<Compute>& b) const {
        const Compute m = fmax(a.m, b.m), base = base_of_sums(m);
        return {m, a.d * std::exp(a.m - base) + b.d * std::exp(b.m - base), a.weighted + b.weighted,
                a.weight + b.weight};
    }
};

// Reduces the sums of a row's threads and returns the result to all of them. As the lesson's reduction, but a shuffle
// takes one member of the struct at a time.
template <int kThreads, class Compute>
__device__ RowSums<Compute> sums_of_row(RowSums<Compute> mine,
                                        BlockScratch<kThreads, RowSums<Compute>>& scratch) {
    if constexpr (kThreads == 32) {
        for (int bit = 16; bit > 0; bit /= 2) {
            const auto other = [&](Compute value) { return __shfl_xor_sync(~0u, value, bit); };
            mine = MergeSums{}(
                mine, {other(mine.m), other(mine.d), other(mine.weighted), other(mine.weight)});
        }
        __syncwarp();  // all lanes have loaded the target's logit before one overwrites it
        return mine;
    } else {
        return reduce_in_row<kThreads>(mine, MergeSums{}, scratch);
    }
}

// Returns a logit after the soft cap, if there is one.
template <class T>
__device__ ComputeOf<T> capped(T logit, ComputeOf<T> soft_cap) {
    const auto x = static_cast<ComputeOf<T>>(logit);
    return soft_cap > 0 ? soft_cap * std::tanh(x / soft_cap) : x;
}

// ---------------------------------------------------------------- the kernels

// kThreads threads compute a row in two passes: the first reads the logits and finds (m, d), the second computes the
// gradient. Without kGradient there is only the first.
template <class Layout, bool kGradient, int kThreads, class Pack>
__global__ void __launch_bounds__(kThreads* kRowsOfBlock<kThreads>)
    cross_entropy_kernel(LossCall<typename Pack::Element> call) {
    using T = typename Pack::Element;
    using Compute = ComputeOf<T>;
    constexpr int kRows = kRowsOfBlock<kThreads>;
    __shared__ BlockScratch<kThreads, RowSums<Compute>> scratch;
    const int row_in_block = kRows == 1 ? 0 : threadIdx.y;
    const int64_t row = int64_t{blockIdx.x} * kRows + row_in_block;
    if (row >= call.rows) return;  // whole warps return; with one row per block, its row exists

    const auto& options = call.options;
    const Compute s = options.label_smoothing, cap = options.soft_cap;
    const Compute* const weights = options.class_weights;
    const int cols = static_cast<int>(call.cols), packs = cols / Pack::kSize;
    const auto* const x_row = reinterpret_cast<const Pack*>(call.logits) + row * packs;
    auto* const gradient_row =
        kGradient ? reinterpret_cast<Pack*>(call.gradient) + row * packs : nullptr;
    unsigned char* const kept = shared_bytes + row_in_block * cols * sizeof(T);

    // All threads of the row take the same branch, so none waits in the reduction for those that returned.
    const int64_t target = call.targets[row];
    const bool ignored = target == options.ignore_index;
    if (ignored || target < 0 || target >= cols) {
        const Compute constant = ignored ? 0 : static_cast<Compute>(NAN);
        if (threadIdx.x == 0) call.loss[row] = constant;
        if (threadIdx.x == 0 && options.lse != nullptr) options.lse[row] = constant;
        if constexpr (kGradient) {
            Pack pack;
            for (T& element : pack.element) element = static_cast<T>(constant);
            for (int p = threadIdx.x; p < packs; p += kThreads) gradient_row[p] = pack;
        }
        return;
    }
    // Loaded before the reduction: after it, the gradient may have replaced the logit.
    const Compute x_target = capped(call.logits[row * call.cols + target], cap);

    RowSums<Compute> sums{-static_cast<Compute>(INFINITY), 0, 0, 0};
    for (int p = threadIdx.x; p < packs; p += kThreads) {
        const Pack pack = x_row[p];
        if constexpr (Layout::kKeeps) Layout::put(pack, kept, p, packs);
        RowSums<Compute> more = sums;  // the sums with this pack
        for (const T element : pack.element) more.m = fmax(more.m, capped(element, cap));
        const Compute base = base_of_sums(more.m);
        more.d *= std::exp(sums.m - base);  // one correction per pack, not per element
        for (int i = 0; i < Pack::kSize; ++i) {
            const Compute x = capped(pack.element[i], cap);
            more.d += std::exp(x - base);
            if (s > 0) {
                const Compute weight = weights == nullptr ? 1 : weights[p * Pack::kSize + i];
                more.weighted += weight * x;
                more.weight += weight;
            }
        }
        sums = more;
    }
    sums = sums_of_row<kThreads>(sums, scratch);

    const Compute log_d = std::log(sums.d), lse = sums.m + log_d;
    const bool mean = options.reduction == Reduction::mean;
    const Compute weight_share = mean ? 1 / options.totals[1] : 1;  // totals_kernel has run
    const Compute row_share = mean ? 1 / options.totals[2] : 1;
    const Compute hard = (1 - s) * (weights == nullptr ? 1 : weights[target]);
    const Compute smooth = s / cols;
    const Compute all_weights = weights == nullptr ? cols : sums.weight;
    if (threadIdx.x == 0) {
        Compute of_row = hard * (sums.m - x_target + log_d);
        if (s > 0) of_row += smooth * (lse * all_weights - sums.weighted);
        of_row *= weight_share;
        if (options.z_loss > 0) of_row += options.z_loss * lse * lse * row_share;
        call.loss[row] = of_row;
        if (options.lse != nullptr) options.lse[row] = lse;
    }

    if constexpr (kGradient) {
        // d loss / d x[c] = of_softmax * softmax[c] - of_weight * w[c] - (of_target, at the target alone)
        const bool one = options.reduction != Reduction::none;
        const Compute upstream =
            options.grad_output == nullptr ? 1 : options.grad_output[one ? 0 : row];
        Compute of_softmax = hard;
        if (s > 0) of_softmax += smooth * all_weights;
        of_softmax *= weight_share;
        if (options.z_loss > 0) of_softmax += 2 * options.z_loss * lse * row_share;
        of_softmax *= upstream;
        const Compute of_weight = upstream * smooth * weight_share;
        const Compute of_target = upstream * hard * weight_share;
        const Compute scale = 1 / sums.d;
        for (int p = threadIdx.x; p < packs; p += kThreads) {
            Pack pack;
            if constexpr (Layout::kKeeps) Layout::get(pack, kept, p, packs);  // its own: no barrier
            if constexpr (!Layout::kKeeps) pack = x_row[p];
            for (int i = 0; i < Pack::kSize; ++i) {
                const int c = p * Pack::kSize + i;
                const Compute x = capped(pack.element[i], cap);
                Compute value = of_softmax * (std::exp(x - sums.m) * scale);
                if (s > 0) value -= of_weight * (weights == nullptr ? 1 : weights[c]);
                if (c == target) value -= of_target;
                if (cap > 0) value *= 1 - (x / cap) * (x / cap);  // the slope of the cap
                pack.element[i] = static_cast<T>(value);
            }
            gradient_row[p] = pack;
        }
    }
}

constexpr int kTotalsThreads = 1024;

// Runs before cross_entropy_kernel, which divides by its results: the weight and the number of the rows that count. A
// target out of range counts with weight 1.
template <class T>
__global__ void __launch_bounds__(kTotalsThreads) totals_kernel(LossCall<T> call) {
    using Compute = ComputeOf<T>;
    __shared__ BlockScratch<kTotalsThreads, Compute> weight_scratch, count_scratch;
    const auto total = [](Compute a, Compute b) { return a + b; };
    const Compute* const weights = call.options.class_weights;
    Compute weight = 0, count = 0;
    for (int64_t row = threadIdx.x; row < call.rows; row += kTotalsThreads) {
        const int64_t target = call.targets[row];
        if (target == call.options.ignore_index) continue;
        const bool has_weight = weights != nullptr && target >= 0 && target < call.cols;
        weight += has_weight ? weights[target] : 1;
        count += 1;
    }
    weight = reduce_in_row<kTotalsThreads>(weight, total, weight_scratch);
    count = reduce_in_row<kTotalsThreads>(count, total, count_scratch);
    if (threadIdx.x == 0) call.options.totals[1] = weight, call.options.totals[2] = count;
}

// Runs after cross_entropy_kernel: adds up the losses. The mean over no rows is 0 / 0, as in PyTorch.
template <class T>
__global__ void __launch_bounds__(kTotalsThreads) reduced_loss_kernel(LossCall<T> call) {
    using Compute = ComputeOf<T>;
    __shared__ BlockScratch<kTotalsThreads, Compute> scratch;
    const auto total = [](Compute a, Compute b) { return a + b; };
    Compute sum = 0;
    for (int64_t row = threadIdx.x; row < call.rows; row += kTotalsThreads) sum += call.loss[row];
    sum = reduce_in_row<kTotalsThreads>(sum, total, scratch);
    if (threadIdx.x != 0) return;
    const bool none = call.options.reduction == Reduction::mean && call.options.totals[2] == 0;
    call.options.totals[0] = none ? static_cast<Compute>(NAN) : sum;
}

// ---------------------------------------------------------------- the launch

// The numbers of threads that may compute a row. With 1024, registers that hold doubles spill to local memory.
template <class T>
constexpr int kMostThreads = sizeof(T) == 8 ? 512 : 1024;
template <class T>
using LossThreads = std::conditional_t<kMostThreads<T> == 512, BlockSizes<32, 128, 256, 512>,
                                       BlockSizes<32, 128, 256, 512, 1024>>;

// Additional shared memory of the reductions, beyond the lesson's, in bytes; an upper bound.
constexpr int64_t kRoomForSums = 1024;

// Launches the instance for the plan's number of threads.
template <class Layout, bool kGradient, class Pack, class T, int... kThreads>
cudaError_t launch_losses(BlockSizes<kThreads...>, const softmax_stages::CrossEntropyPlan& plan,
                          const LossCall<T>& call, cudaStream_t stream) {
    void (*kernel)(LossCall<T>) = nullptr;
    ((kernel = plan.threads == kThreads ? cross_entropy_kernel<Layout, kGradient, kThreads, Pack>
                                        : kernel),
     ...);
    const auto ask = [&](int* room, int) {  // without this, a block gets 48 KB of shared memory
        *room = static_cast<int>(room_for_rows() - kRoomForSums);
        return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, *room);
    };
    int room = 0;
    const cudaError_t error =
        warp_softmax::ask_once(&room, ask, reinterpret_cast<const void*>(kernel));
    if (error != cudaSuccess) return error;
    const auto rows = static_cast<unsigned>(plan.rows_of_block());
    const auto blocks = static_cast<unsigned>((call.rows + rows - 1) / rows);
    kernel<<<blocks, dim3(static_cast<unsigned>(plan.threads), rows), plan.shared, stream>>>(call);
    return cudaGetLastError();
}

}  // namespace smem_softmax

namespace softmax_stages {

// Returns the plan of both calls. aligned: true if logits and gradient start at multiples of 16 bytes.
template <class T>
CrossEntropyPlan plan_of_losses(int64_t cols, const Chip& chip, bool aligned, bool gradient) {
    constexpr int kPack = 16 / sizeof(T);
    constexpr int kPacksOfThread = 8;  // more threads would idle in the reduction
    const bool whole = aligned && cols % kPack == 0;
    CrossEntropyPlan plan{};
    plan.pack = whole ? kPack : 1;
    const int64_t packs = cols / plan.pack;
    plan.threads = 32;
    for (const int threads : {128, 256, 512, 1024}) {
        const bool exists = threads <= smem_softmax::kMostThreads<T>;
        if (exists && packs > int64_t{plan.threads} * kPacksOfThread) plan.threads = threads;
    }
    const int64_t bytes = plan.rows_of_block() * cols * static_cast<int64_t>(sizeof(T));
    plan.kept = gradient && bytes <= chip.room - smem_softmax::kRoomForSums;
    plan.shared = plan.kept ? static_cast<size_t>(bytes) : 0;
    if (gradient && !plan.kept) plan.threads = smem_softmax::kMostThreads<T>;
    plan.reason = !gradient   ? "the loss needs a single pass"
                  : plan.kept ? "shared memory keeps a row between its two passes"
                              : "a row longer than shared memory is read twice";
    return plan;
}
template <class T>
CrossEntropyPlan cross_entropy_plan(int64_t /*rows*/, int64_t cols, const CrossEntropyOptions<T>&,
                                    const Chip& chip, size_t /*bytes*/ = 0, bool aligned = true) {
    return plan_of_losses<T>(cols, chip, aligned, true);
}
template <class T>
CrossEntropyPlan cross_entropy_loss_plan(int64_t /*rows*/, int64_t cols,
                                         const CrossEntropyOptions<T>&, const Chip& chip,
                                         size_t /*bytes*/ = 0, bool aligned = true) {
    return plan_of_losses<T>(cols, chip, aligned, false);
}

// True for sizes and options that a call accepts. (Comparisons with NaN are false.)
template <class T>
bool is_loss_possible(int64_t rows, int64_t cols, const CrossEntropyOptions<T>& options) {
    constexpr int64_t kMost = INT32_MAX - 1024;
    return rows >= 0 && rows <= kMost && cols >= 0 && cols <= kMost && options.z_loss >= 0 &&
           options.label_smoothing >= 0 && options.label_smoothing <= 1 && options.soft_cap >= 0 &&
           std::isfinite(options.z_loss) && std::isfinite(options.soft_cap) &&
           options.reduction >= Reduction::none && options.reduction <= Reduction::sum;
}
template <class T>
cudaError_t cross_entropy_workspace_bytes(size_t* bytes, int64_t rows, int64_t cols,
                                          const CrossEntropyOptions<T>& options) {
    if (bytes == nullptr) return cudaErrorInvalidValue;
    *bytes = 0;  // sums over all rows lie in totals
    return is_loss_possible(rows, cols, options) ? cudaSuccess : cudaErrorInvalidValue;
}
template <class T>
cudaError_t cross_entropy_loss_workspace_bytes(size_t* bytes, int64_t rows, int64_t cols,
                                               const CrossEntropyOptions<T>& options) {
    return cross_entropy_workspace_bytes<T>(bytes, rows, cols, options);
}

// Checks the operands and launches all kernels of a call.
template <bool kGradient, class T>
cudaError_t launch_cross_entropy(const smem_softmax::LossCall<T>& call, cudaStream_t stream) {
    const CrossEntropyOptions<T>& options = call.options;
    const bool reduces = options.reduction != Reduction::none;
    constexpr int kPack = 16 / sizeof(T), kTotalsThreads = smem_softmax::kTotalsThreads;
    if (!is_loss_possible(call.rows, call.cols, options)) return cudaErrorInvalidValue;
    if (call.rows == 0 || call.cols == 0) return cudaSuccess;
    if (!is_placed(call.logits) || !call.targets.are_placed() || !is_placed(call.loss) ||
        !is_placed(call.gradient, !kGradient) || !is_placed(options.class_weights, true) ||
        !is_placed(options.grad_output, true) || !is_placed(options.lse, true) ||
        !is_placed(options.totals, !reduces))
        return cudaErrorInvalidValue;
    const bool aligned = warp_softmax::takes_packs<kPack>(call.logits, 0) &&
                         warp_softmax::takes_packs<kPack>(call.gradient, 0);
    const CrossEntropyPlan plan = plan_of_losses<T>(call.cols, this_chip(), aligned, kGradient);
    const auto launch_with = [&](auto pack) {
        using Pack = decltype(pack);
        using Threads = smem_softmax::LossThreads<T>;
        using Most = smem_softmax::BlockSizes<smem_softmax::kMostThreads<T>>;
        using namespace smem_softmax;
        if constexpr (kGradient) {
            if (plan.kept) return launch_losses<Whole, true, Pack>(Threads{}, plan, call, stream);
            return launch_losses<Uncached, true, Pack>(Most{}, plan, call, stream);
        } else {
            return launch_losses<Uncached, false, Pack>(Threads{}, plan, call, stream);
        }
    };
    if (reduces) smem_softmax::totals_kernel<<<1, kTotalsThreads, 0, stream>>>(call);
    const cudaError_t error = plan.pack == 1 ? launch_with(warp_softmax::Pack<T, 1>{})
                                             : launch_with(warp_softmax::Pack<T, kPack>{});
    if (error != cudaSuccess || !reduces) return error;
    smem_softmax::reduced_loss_kernel<<<1, kTotalsThreads, 0, stream>>>(call);
    return cudaGetLastError();
}

// Computes the loss of each row of logits (rows x cols) with its target (int32_t or int64_t), and the gradient of the
// logits, which may replace them. loss: [rows]; with Reduction::mean, each row's share of the mean. No workspace is
// used.
template <class T, class Target>
cudaError_t cross_entropy(const T* logits, const Target* targets, warp_softmax::ComputeOf<T>* loss,
                          T* gradient, int64_t rows, int64_t cols,
                          const CrossEntropyOptions<T>& options, void* /*workspace*/,
                          size_t /*bytes*/, cudaStream_t stream) {
    return launch_cross_entropy<true, T>(
        {logits, smem_softmax::Targets(targets), loss, gradient, rows, cols, options}, stream);
}

// Computes the losses alone, in one read.
template <class T, class Target>
cudaError_t cross_entropy_loss(const T* logits, const Target* targets,
                               warp_softmax::ComputeOf<T>* loss, int64_t rows, int64_t cols,
                               const CrossEntropyOptions<T>& options, void* /*workspace*/,
                               size_t /*bytes*/, cudaStream_t stream) {
    return launch_cross_entropy<false, T>(
        {logits, smem_softmax::Targets(targets), loss, nullptr, rows, cols, options}, stream);
}

}  // namespace softmax_stages
