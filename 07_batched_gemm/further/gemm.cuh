// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 07_batched_gemm/further/gemm, version 1.0
//
// The front call: computes matrix products with the kernel of this stage that suits their sizes. It never calls a
// library; gemm_tuner.hpp chooses by measurement, also among the kernels of libraries.
//   call       gemm: see front_call.cuh
//   timed      hopper
//   new here   gemm_plan(): a pure function that returns the kernel to use, and why
//   traffic    loads per element of C: 2k / 256 on Hopper's tensor cores, 2k / 128 on others, 2k / 64 with split-K; for few rows
//              B is loaded once
//   accepts    float, __half, __nv_bfloat16; sums in float; any sizes, including k = 0; A and B each row-major or
//              transposed; any strides. 16-bit lines that begin and end at multiples of 16 bytes are fastest; others are
//              copied to the workspace if that pays
//   needs      any GPU; uses tensor cores from compute capability 8.0 on, clusters from 9.0 on, Hopper's instructions where
//              it was compiled for sm_90a
#pragma once
#include <cmath>

#include "../../04_warp_softmax/front_call.cuh"
#include "few_rows.cuh"
#include "packed_lines.cuh"
#include "split_k.cuh"

namespace softmax_stages {

// c = alpha a b + beta c; if beta is 0, the kernels do not read c.
struct GemmOptions {
    float alpha = 1.f, beta = 0.f;
    bool transpose_a = false, transpose_b = false;  // a is stored as k x m, b as n x k
    // Elements from one line in memory to the next.
    int64_t ld_a = kClose, ld_b = kClose, ld_c = kClose;
    // Elements from one matrix of the batch to the next. For a and b, 0 means one matrix for the whole batch.
    int64_t stride_a = kClose, stride_b = kClose, stride_c = kClose;
};

enum class GemmWay { naive, tiled, register_tiled, tensor_core, mma, split_k, few_rows, hopper };

struct GemmPlan {
    GemmWay way;
    int64_t parts;  // blocks that share k in split_k and few_rows, else 1
    const char* reason;
    size_t workspace_bytes;       // of copies of A and B whose lines are aligned
    size_t more_workspace_bytes;  // if not 0: with so much, the call could multiply such copies
    // What few_rows or hopper then does.
    batched_gemm::FewRowsPlan of_few_rows{};
    batched_gemm::HopperPlan of_hopper{};
};

// Returns the call as the kernels' Problem.
template <class T>
batched_gemm::Problem<T> gemm_problem(const T* a, const T* b, T* c, int64_t batch, int64_t m,
                                      int64_t n, int64_t k, const GemmOptions& options) {
    const auto matrices = [](auto* data, int64_t lines, int64_t length, int64_t ld, int64_t stride,
                             bool transposed) {
        batched_gemm::Matrices<std::remove_pointer_t<decltype(data)>> all;
        all.data = data;
        all.ld = ld == kClose ? length : ld;
        all.stride = stride == kClose ? lines * all.ld : stride;
        all.transposed = transposed;
        return all;
    };
    const GemmOptions& o = options;
    return {batch,
            m,
            n,
            k,
            o.alpha,
            matrices(a, o.transpose_a ? k : m, o.transpose_a ? m : k, o.ld_a, o.stride_a,
                     o.transpose_a),
            matrices(b, o.transpose_b ? n : k, o.transpose_b ? k : n, o.ld_b, o.stride_b,
                     o.transpose_b),
            o.beta,
            matrices(c, m, n, o.ld_c, o.stride_c, false)};
}

// True if hopper_gemm.cuh's kernel is estimated to be faster than that of mma. With a short k, memory limits both; then its tiles
// pay only if C is too large for the L2.
template <class T>
bool gains_from_hopper(const batched_gemm::Problem<T>& g) {
    constexpr double kManyResults = 32 << 20;
    const double results =
        static_cast<double>(g.batch) * static_cast<double>(g.m) * static_cast<double>(g.n);
    return g.k > batched_gemm::kShortK || (std::min(g.m, g.n) >= 256 && results >= kManyResults);
}
// The same against tensor_core, if `bytes` of A and B have to be copied first. Tiles of tensor_core take 7000 clocks per 64
// elements along k, and 4500 beside these.
template <class T>
bool gains_from_packing(const batched_gemm::Problem<T>& g, const batched_gemm::HopperPlan& plan,
                        int64_t multiprocessors, size_t bytes) {
    if (g.k == 0) return false;
    constexpr double kOfLaunch = 5000, kBytesPerClock = 900, kOfStep = 7000, kOfTile = 4500;
    const double of_copies =
        bytes == 0 ? 0 : kOfLaunch + 2 * static_cast<double>(bytes) / kBytesPerClock;
    const double tiles = batched_gemm::count_tiles(g, 128, 128);
    const double waves = std::ceil(tiles / static_cast<double>(multiprocessors));
    return of_copies + plan.clocks <
           waves * (static_cast<double>((g.k + 63) / 64) * kOfStep + kOfTile);
}

// Returns the plan for a workspace of `bytes` bytes.
template <class T>
GemmPlan plan_of(const batched_gemm::Problem<T>& g, const Chip& chip, size_t bytes) {
    constexpr int64_t kTile = batched_gemm::kTile, kBlockTile = batched_gemm::kBlockTile;
    size_t packed = 0;  // bytes of a workspace that would speed up the ways below
    if constexpr (sizeof(T) == 2) {
        const int64_t multiprocessors = chip.multiprocessors;
        batched_gemm::HopperPlan of_hopper{};
        if (chip.capability == 9) of_hopper = batched_gemm::hopper_plan(g, multiprocessors);
        const auto hopper = [&](const char* reason, size_t copies) {
            return GemmPlan{GemmWay::hopper, 1, reason, copies, 0, {}, of_hopper};
        };
        if (chip.capability == 9 && batched_gemm::consists_of_packs(g) && g.k > 0) {
            const auto few = batched_gemm::few_rows_plan(g, multiprocessors);
            if (g.k > batched_gemm::kShortK && few.clocks < of_hopper.clocks)
                return {GemmWay::few_rows,
                        few.parts,
                        "few tiles: the blocks of a cluster share k",
                        0,
                        0,
                        few};
            if (gains_from_hopper(g))
                return hopper("wgmma; copies and results beside the products", 0);
        }
        if (chip.capability >= 8 && batched_gemm::consists_of_packs(g)) {
            const int64_t parts = batched_gemm::split_k_parts(g, multiprocessors);
            constexpr int64_t kFewest = 4;  // two lose at 16 x 128 x 128 x 128
            if (parts >= kFewest && chip.largest_cluster > 0)
                return {GemmWay::split_k, parts, "few tiles: the blocks of a cluster share k", 0,
                        0};
            return {GemmWay::mma, 1, "tensor cores; later tiles load while one is multiplied", 0,
                    0};
        }
        packed = batched_gemm::PackedOperands<T>(g).bytes();
        if (chip.capability != 9 || !gains_from_packing(g, of_hopper, multiprocessors, packed)) {
            packed = 0;
        } else if (packed == 0) {
            return hopper("wgmma; threads write the lines of C", 0);
        } else if (bytes >= packed) {
            return hopper("wgmma, on copies with aligned lines", packed);
        }
    }
    // Choose the highest rung whose tiles C fills at least by half in each direction.
    if (g.m < kTile / 2 || g.n < kTile / 2)
        return {GemmWay::naive, 1, "too few results for a tile", 0, packed};
    if (g.m < kBlockTile / 2 || g.n < kBlockTile / 2)
        return {GemmWay::tiled, 1, "too few results for a large tile", 0, packed};
    if (sizeof(T) == 4)
        return {GemmWay::register_tiled, 1, "a thread has 8 x 8 sums in registers", 0, packed};
    if (chip.capability >= 8)
        return {GemmWay::tensor_core, 1, "tensor cores; elements are loaded one by one", 0, packed};
    return {GemmWay::tiled, 1, "no tensor cores for this type", 0, packed};
}
// aligned: false if an operand does not begin at a multiple of 16 bytes.
template <class T>
GemmPlan gemm_plan(int64_t batch, int64_t m, int64_t n, int64_t k, const GemmOptions& options,
                   const Chip& chip, size_t bytes = 0, bool aligned = true) {
    const T* const stand_in = aligned ? nullptr : reinterpret_cast<const T*>(sizeof(T));
    return plan_of(
        gemm_problem(stand_in, stand_in, const_cast<T*>(stand_in), batch, m, n, k, options), chip,
        bytes);
}

// Launches the kernel that the plan names. workspace: may be nullptr, see front_call.cuh.
template <class T>
cudaError_t multiply(const batched_gemm::Problem<T>& g, void* workspace, size_t bytes,
                     cudaStream_t stream) {
    const GemmPlan plan = plan_of(g, this_chip(), usable_bytes(workspace, bytes));
    if constexpr (sizeof(T) == 2) {
        cudaError_t status = cudaErrorNotSupported;
        if (plan.way == GemmWay::split_k)
            status = batched_gemm::split_k_gemm(g, plan.parts, stream);
        if (plan.way == GemmWay::few_rows)
            status =
                batched_gemm::few_rows_with(g, plan.of_few_rows, batched_gemm::Plain{}, stream);
        if (plan.way == GemmWay::hopper)
            status = batched_gemm::packed_with(g, plan.of_hopper, workspace, batched_gemm::Plain{},
                                               stream);
        if (plan.way == GemmWay::mma ||
            (plan.way >= GemmWay::few_rows && status == cudaErrorNotSupported))
            status = batched_gemm::mma_gemm(g, stream);
        if (plan.way == GemmWay::tensor_core) status = batched_gemm::tensor_core(g, stream);
        if (status != cudaErrorNotSupported) return status;
    } else {
        if (plan.way == GemmWay::register_tiled) return batched_gemm::register_tiled(g, stream);
    }
    return plan.way == GemmWay::naive ? batched_gemm::naive(g, stream)
                                      : batched_gemm::tiled(g, stream);
}

// True if the sizes and strides are valid. (The launchers check addresses.)
inline bool is_possible(int64_t batch, int64_t m, int64_t n, int64_t k,
                        const GemmOptions& options) {
    const auto is_good = [](int64_t distance, int64_t least) {
        return distance == kClose || distance >= least;
    };
    return batch >= 0 && m >= 0 && n >= 0 && k >= 0 &&
           is_good(options.ld_a, options.transpose_a ? m : k) &&
           is_good(options.ld_b, options.transpose_b ? k : n) && is_good(options.ld_c, n) &&
           is_good(options.stride_a, 0) && is_good(options.stride_b, 0) &&
           is_good(options.stride_c, 1);
}

// Sets *bytes to the bytes of copies with aligned lines, if the call gains from them, otherwise to 0.
template <class T>
cudaError_t gemm_workspace_bytes(size_t* bytes, int64_t batch, int64_t m, int64_t n, int64_t k,
                                 const GemmOptions& options) {
    if (bytes == nullptr) return cudaErrorInvalidValue;
    *bytes = 0;
    if (!is_possible(batch, m, n, k, options)) return cudaErrorInvalidValue;
    if (batch > 0 && m > 0 && n > 0)
        *bytes = gemm_plan<T>(batch, m, n, k, options, this_chip()).more_workspace_bytes;
    return cudaSuccess;
}

// c[i] = alpha a[i] b[i] + beta c[i] for each matrix i of the batch: a is m x k, b is k x n, c is m x n. c may not
// overlap a or b. Returns cudaErrorInvalidValue also for overlapping lines and for 2^31 tiles or more.
template <class T>
cudaError_t gemm(const T* a, const T* b, T* c, int64_t batch, int64_t m, int64_t n, int64_t k,
                 const GemmOptions& options, void* workspace, size_t bytes, cudaStream_t stream) {
    if (!is_possible(batch, m, n, k, options)) return cudaErrorInvalidValue;
    return multiply(gemm_problem(a, b, c, batch, m, n, k, options), workspace, bytes, stream);
}

}  // namespace softmax_stages
