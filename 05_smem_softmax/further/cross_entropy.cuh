// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 05_smem_softmax/further/cross_entropy, version 1.0
//
// The cross-entropy loss of rows of logits, and its gradient, which may replace the logits.
//   call       cross_entropy, cross_entropy_loss: see front_call.cuh
//   timed      cross_entropy, cross_entropy_loss
//   new here   03's pair (m, d) gives a row's log-sum-exp; with the target's logit that is the loss, and the gradient
//              needs no further sum. So it is an operation of online_cached.cuh's kernel
//   traffic    1 read + 1 write per element while a block or a cluster can keep a row, else 2 reads + 1 write; with
//              label smoothing or a soft cap always 2 reads; the loss alone: 1 read
//   accepts    float, __half, __nv_bfloat16, double; targets of 32 or 64 bits; up to 2^31 - 1025 rows and columns
//   needs      CUDA 12.5, as row_teams.cuh
//   rows       special rows as in 04; rows with ignore_index become zeros, rows with a target out of range NaN
//   source     options as PyTorch's cross_entropy; z_loss and soft_cap as Liger-Kernel (2024)
#pragma once
#include <cmath>
#include <type_traits>

#include "../../04_warp_softmax/further/loads_and_stores.cuh"
#include "row_launch.cuh"

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
    int threads;   // per row: a warp, of which four share a block, or a block; 0: as the cut says
    bool streams;  // a block per row, which keeps nothing
    int pack;      // elements per access
    smem_softmax::Cut cut;  // for threads = 0: the blocks that keep a row
    const char* reason;
    size_t workspace_bytes;       // always 0
    size_t more_workspace_bytes;  // always 0
    bool reads_once() const { return threads == 0 && cut.slice.packs <= cut.slice.on_chip(); }
};

}  // namespace softmax_stages

namespace smem_softmax {

using softmax_stages::CrossEntropyOptions;
using softmax_stages::Reduction;

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

// ---------------------------------------------------------------- what a row needs beside its logits

// True if a row's target is ignored or no column. Its loss, lse and gradient are then `constant`.
template <class T>
__device__ bool is_constant(const LossCall<T>& call, int64_t target, ComputeOf<T>* constant) {
    const bool ignored = target == call.options.ignore_index;
    *constant = ignored ? 0 : static_cast<ComputeOf<T>>(NAN);
    return ignored || target < 0 || target >= call.cols;
}
// Returns the derivative of what comes after the loss by the row's loss.
template <class T>
__device__ ComputeOf<T> upstream_of(const LossCall<T>& call, int64_t row) {
    const bool one = call.options.reduction != Reduction::none;
    return call.options.grad_output == nullptr ? 1 : call.options.grad_output[one ? 0 : row];
}
template <class T>
__device__ void give_loss(const LossCall<T>& call, int64_t row, ComputeOf<T> loss,
                          ComputeOf<T> lse) {
    call.loss[row] = loss;
    if (call.options.lse != nullptr) call.options.lse[row] = lse;
}

// ---------------------------------------------------------------- the operation

// The loss of a row, and its gradient if kGradient, as an operation of row_on_chip_kernel: without label smoothing and soft
// cap.
template <class T, bool kGradient>
struct LossOf {
    using Element = T;
    using Compute = ComputeOf<T>;
    using Set = Normalizer<Compute>;
    static constexpr int kInputs = 1;
    static constexpr bool kHasMaximum = true;
    static constexpr bool kHasExceptions = true;
    static constexpr bool kHasResults = kGradient;
    static constexpr int kUnroll = 2;
    const T* in[kInputs];
    T* out;
    LossCall<T> call;
    int64_t row = 0;

    __host__ __device__ LossOf at(int64_t rows, int64_t cols) const {
        return {{in[0] + rows * cols}, kGradient ? out + rows * cols : out, call, row + rows};
    }
    static __device__ T nothing() { return static_cast<T>(-static_cast<Compute>(INFINITY)); }
    static __device__ Compute term(const Compute (&x)[kInputs], Compute base) {
        return summand<T>(x[0] - base);
    }

    struct Noted {
        int64_t target;
        Compute upstream;
        bool is_first, has_target;
        T x_target;  // for the first thread of the row and for the one that has the target
    };
    __device__ Noted note() const {
        return {call.targets[row], kGradient ? upstream_of(call, row) : 0, false, false, {}};
    }
    __device__ bool is_skipped(const Noted& noted) const {
        Compute constant;
        return is_constant(call, noted.target, &constant);
    }
    __device__ void find_target(Noted& noted, const RowPart<T>& part) const {
        noted.is_first = part.is_first();
        noted.has_target = kGradient && part.has(noted.target);
        if (noted.is_first || noted.has_target) noted.x_target = in[0][noted.target];
    }
    __device__ T constant(const Noted& noted) const {
        Compute constant;
        is_constant(call, noted.target, &constant);
        return static_cast<T>(constant);
    }
    __device__ void skip(const Noted& noted) const {
        Compute constant;
        is_constant(call, noted.target, &constant);
        give_loss(call, row, constant, constant);
    }

    struct Finish {
        Compute base, share, of_target;
        __device__ Compute softmax_part(Compute x) const { return lifted_exp<T>(x - base) * share; }
        __device__ T of(const T (&x)[kInputs]) const {
            return static_cast<T>(softmax_part(static_cast<Compute>(x[0])));
        }
        __device__ WidePack<T> of_packs(const uint4 (&words)[kInputs]) const {
            WidePack<T> pack;
            for_each_element<T>(words, [&](int i, const auto& x) {
                pack.element[i] = static_cast<T>(softmax_part(x[0]));
            });
            return pack;
        }
    };
    // The thread that has written the target's element writes it again. A comparison for each element would take longer.
    __device__ void amend(const Finish& finish, const Noted& noted) const {
        if (!noted.has_target) return;
        const Compute x = static_cast<Compute>(noted.x_target);
        out[noted.target] = static_cast<T>(finish.softmax_part(x) - finish.of_target);
    }
    __device__ Finish finish(Set of_row, Noted noted) const {
        const auto& options = call.options;
        const bool mean = options.reduction == Reduction::mean;
        Compute hard = options.class_weights == nullptr ? 1 : options.class_weights[noted.target];
        if (mean) hard /= options.totals[1];  // totals_kernel has run
        Compute of_softmax = hard;
        if (noted.is_first || options.z_loss > 0) {  // for all threads, a logarithm would take long
            const Compute log_d = std::log(of_row.d / kLift<T>), lse = of_row.m + log_d;
            Compute loss = hard * (of_row.m - static_cast<Compute>(noted.x_target) + log_d);
            if (options.z_loss > 0) {
                const Compute z = options.z_loss * lse / (mean ? options.totals[2] : 1);
                loss += z * lse;
                of_softmax += 2 * z;
            }
            if (noted.is_first) give_loss(call, row, loss, lse);
        }
        return {base_of(of_row.m), noted.upstream * of_softmax / of_row.d, noted.upstream * hard};
    }
};

// A loss alone needs a row only once, so a block that reads a long row keeps none of it: 0.95 of a read's speed at 4096 x
// 32000 floats on an H200, against 0.86 for a cluster that has the row on the chip.
inline constexpr int kStreamThreads = 512;
template <class T>
__global__ void __launch_bounds__(kStreamThreads, 2)
    loss_of_long_rows_kernel(LossOf<T, false> operation, int64_t cols) {
    using Operation = LossOf<T, false>;
    using Set = typename Operation::Set;
    constexpr int kBatch = sizeof(T) == 2 ? 2 : 4;  // packs that a thread has in flight
    __shared__ Set warps[kStreamThreads / 32];
    const Operation of_row = operation.at(blockIdx.x, cols);
    const RowPart<T> part(of_row.in[0], cols, 0, cols);
    auto noted = of_row.note();
    if (of_row.is_skipped(noted)) {
        if (threadIdx.x == 0) of_row.skip(noted);
        return;
    }
    of_row.find_target(noted, part);
    const uint4* const from = part.packs_of(of_row.in[0]);
    const uint4 nothing = filled_pack(Operation::nothing());
    T end[1] = {Operation::nothing()};
    if (static_cast<int>(threadIdx.x) < part.ends) end[0] = of_row.in[0][part.end];
    Set mine = Set::of_none();
    for (int p = 0; p < part.left; p += kBatch * kStreamThreads) {
        uint4 packs[1][kBatch];
#pragma unroll
        for (int b = 0; b < kBatch; ++b) {
            const int at = p + b * kStreamThreads;
            packs[0][b] = nothing;
            if (at < part.left) packs[0][b] = from[at];
        }
        mine = merged(mine, set_of<Operation>(packs, end));
        end[0] = Operation::nothing();
    }
    const Set row = merge_in_block(mine, kStreamThreads, warps);
    if (threadIdx.x == 0) of_row.finish(row, noted);
}

// ---------------------------------------------------------------- with label smoothing or a soft cap, and for short rows

// 03's normalizer pair (m, d) and, for label smoothing, the sums of w[c] * x[c] and of w[c] with class weights w.
template <class Compute>
struct RowSums {
    Compute m, d, weighted, weight;
};

struct MergeSums {
    template <class Compute>
    __device__ RowSums<Compute> operator()(const RowSums<Compute>& a,
                                           const RowSums<Compute>& b) const {
        const Compute m = fmax(a.m, b.m), base = base_of(m);
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

// kThreads threads compute a row in two passes: the first reads the logits and finds (m, d), the second reads them again
// and computes the gradient. Without kGradient there is only the first.
template <bool kGradient, int kThreads, class Pack>
__global__ void __launch_bounds__(kThreads* kRowsOfBlock<kThreads>)
    cross_entropy_kernel(LossCall<typename Pack::Element> call) {
    using T = typename Pack::Element;
    using Compute = ComputeOf<T>;
    constexpr int kRows = kRowsOfBlock<kThreads>;
    __shared__ BlockScratch<kThreads, RowSums<Compute>> scratch;
    const int row_in_block = kRows == 1 ? 0 : threadIdx.y;
    const int64_t row = int64_t{blockIdx.x} * kRows + row_in_block;
    if (row >= call.rows) return;  // whole warps return; with one row per block, its row exists

    const Compute s = call.options.label_smoothing, cap = call.options.soft_cap;
    const Compute* const weights = call.options.class_weights;
    const int cols = static_cast<int>(call.cols), packs = cols / Pack::kSize;
    const auto* const x_row = reinterpret_cast<const Pack*>(call.logits) + row * packs;
    auto* const gradient_row =
        kGradient ? reinterpret_cast<Pack*>(call.gradient) + row * packs : nullptr;

    // All threads of the row take the same branch, so none waits in the reduction for those that returned.
    const int64_t target = call.targets[row];
    Compute constant;
    if (is_constant(call, target, &constant)) {
        if (threadIdx.x == 0) give_loss(call, row, constant, constant);
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
        RowSums<Compute> more = sums;  // the sums with this pack
        for (const T element : pack.element) more.m = fmax(more.m, capped(element, cap));
        const Compute base = base_of(more.m);
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
    const bool mean = call.options.reduction == Reduction::mean;
    const Compute weight_share = mean ? 1 / call.options.totals[1] : 1;  // totals_kernel has run
    const Compute hard = (1 - s) * (weights == nullptr ? 1 : weights[target]) * weight_share;
    const Compute smooth = s / cols * weight_share;
    const Compute all_weights = weights == nullptr ? cols : sums.weight;
    Compute of_softmax = hard, loss = hard * (sums.m - x_target + log_d);
    if (s > 0) {
        loss += smooth * (lse * all_weights - sums.weighted);
        of_softmax += smooth * all_weights;
    }
    if (call.options.z_loss > 0) {
        const Compute z = call.options.z_loss * lse / (mean ? call.options.totals[2] : 1);
        loss += z * lse;
        of_softmax += 2 * z;
    }
    if (threadIdx.x == 0) give_loss(call, row, loss, lse);

    if constexpr (kGradient) {
        const Compute upstream = upstream_of(call, row);
        const Compute of_weight = upstream * smooth, of_target = upstream * hard;
        of_softmax *= upstream;
        const Compute scale = 1 / sums.d;
        for (int p = threadIdx.x; p < packs; p += kThreads) {
            Pack pack = x_row[p];
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

// ---------------------------------------------------------------- reductions

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

// The threads of a row in cross_entropy_kernel.
inline constexpr int kLossThreads = 256;

template <bool kGradient, class Pack>
cudaError_t launch_two_passes(int threads, const LossCall<typename Pack::Element>& call,
                              cudaStream_t stream) {
    const auto launch_with = [&](auto kernel, int rows_of_block) {
        const auto rows = static_cast<unsigned>(rows_of_block);
        const auto blocks = static_cast<unsigned>((call.rows + rows - 1) / rows);
        kernel<<<blocks, dim3(static_cast<unsigned>(threads), rows), 0, stream>>>(call);
        return cudaGetLastError();
    };
    return threads == 32 ? launch_with(cross_entropy_kernel<kGradient, 32, Pack>, kRowsOfBlock<32>)
                         : launch_with(cross_entropy_kernel<kGradient, kLossThreads, Pack>, 1);
}

}  // namespace smem_softmax

namespace softmax_stages {

// Returns the plan of both calls. aligned: true if logits and gradient start at multiples of 16 bytes.
template <class T>
CrossEntropyPlan plan_of_losses(int64_t rows, int64_t cols, const CrossEntropyOptions<T>& options,
                                const Chip& chip, bool aligned, bool gradient) {
    constexpr int64_t kFewPacks = 32;  // for so few, a block would have idle lanes
    constexpr int kWide = smem_softmax::kWidest<T>;
    const int64_t packs = smem_softmax::packs_of<T>(cols);
    CrossEntropyPlan plan{};
    if (packs > kFewPacks && options.label_smoothing == 0 && options.soft_cap == 0) {
        plan.pack = kWide;
        plan.cut = smem_softmax::cut_for(rows, packs, kWide, 1, chip, false);
        plan.streams = !gradient && plan.cut.share == smem_softmax::Share::cluster &&
                       rows >= 2 * chip.multiprocessors;
        if (plan.streams) {
            plan.threads = smem_softmax::kStreamThreads;
            plan.reason = "enough rows for a block each: a stream of packs";
            return plan;
        }
        plan.reason = !plan.reads_once() ? "a row longer than the chip can keep is read twice"
                      : plan.cut.share == smem_softmax::Share::block
                          ? "a block has the row on the chip"
                          : "more than a block's registers";
        return plan;
    }
    plan.pack = aligned && cols % kWide == 0 ? kWide : 1;
    plan.threads = cols / plan.pack > 8 * 32 ? smem_softmax::kLossThreads : 32;
    plan.reason = packs <= kFewPacks ? "a short row" : "options that need more sums: two passes";
    return plan;
}
template <class T>
CrossEntropyPlan cross_entropy_plan(int64_t rows, int64_t cols,
                                    const CrossEntropyOptions<T>& options, const Chip& chip,
                                    size_t /*bytes*/ = 0, bool aligned = true) {
    return plan_of_losses<T>(rows, cols, options, chip, aligned, true);
}
template <class T>
CrossEntropyPlan cross_entropy_loss_plan(int64_t rows, int64_t cols,
                                         const CrossEntropyOptions<T>& options, const Chip& chip,
                                         size_t /*bytes*/ = 0, bool aligned = true) {
    return plan_of_losses<T>(rows, cols, options, chip, aligned, false);
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
    const CrossEntropyPlan plan =
        plan_of_losses<T>(call.rows, call.cols, options, this_chip(), aligned, kGradient);
    if (reduces) smem_softmax::totals_kernel<<<1, kTotalsThreads, 0, stream>>>(call);
    const auto launch = [&] {
        using namespace smem_softmax;
        if constexpr (!kGradient) {
            if (plan.streams) {
                const auto blocks = static_cast<unsigned>(call.rows);
                loss_of_long_rows_kernel<T><<<blocks, kStreamThreads, 0, stream>>>(
                    LossOf<T, false>{{call.logits}, nullptr, call}, call.cols);
                return cudaGetLastError();
            }
        }
        if (plan.threads == 0) {
            const LossOf<T, kGradient> operation{{call.logits}, call.gradient, call};
            if (kGradient && !have_one_alignment(call.logits, call.gradient))
                return launch_blocks(operation, call.rows, call.cols, stream);
            return launch_on_chip(plan.cut, operation, call.rows, call.cols, stream);
        }
        return plan.pack == 1
                   ? launch_two_passes<kGradient, Pack<T, 1>>(plan.threads, call, stream)
                   : launch_two_passes<kGradient, Pack<T, kPack>>(plan.threads, call, stream);
    };
    const cudaError_t error = launch();
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
