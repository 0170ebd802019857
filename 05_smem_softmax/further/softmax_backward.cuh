// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 05_smem_softmax/further/softmax_backward, version 1.0
//
// The gradient of softmax and of log-softmax for rows of any length, from the result y and its gradient dy.
//   new here   two tensors on the chip, not one as in online_cached.cuh and cluster_softmax.cuh; the blocks of
//              a row exchange a sum
//   traffic    2 reads + 1 write per element that stays on the chip, 4 reads + 1 write per other element
//   accepts    float, __half, __nv_bfloat16, double; any width and any address; dx may be dy or y
//   needs      CUDA 12.5, as cluster_softmax.cuh
//   source     softmax: dx = (dy - sum(y * dy)) * y; log-softmax: dx = dy - exp(y) * sum(dy)
#pragma once
#include "cluster_softmax.cuh"
#include "gradient.cuh"

namespace smem_softmax {

// ---------------------------------------------------------------- sums, as sets of elements

template <class Compute>
struct Sum {
    using Number = Compute;
    Compute sum;
    static __device__ Sum of_none() { return {0}; }
};

template <class Compute>
__device__ Sum<Compute> merged(Sum<Compute> a, Sum<Compute> b) {
    return {a.sum + b.sum};
}

template <class Compute>
__device__ Sum<Compute> merge_in_warp(Sum<Compute> mine) {
    return {warp_softmax::group_sum<32>(mine.sum)};
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
template <class Compute>
__device__ void send(Sum<Compute> set, Sum<Compute>* there, uint64_t* arrived) {
    cuda::ptx::st_async(&there->sum, set.sum, arrived);
}
#endif

// ---------------------------------------------------------------- the kernels

// Returns the terms that a pack of y and a pack of dy add to the sum.
template <Algorithm kAlgorithm, class T>
__device__ ComputeOf<T> terms_of(uint4 y_words, uint4 dy_words) {
    const Numbers<T> y = numbers_of<T>(y_words);
    const Numbers<T> dy = numbers_of<T>(dy_words);
    ComputeOf<T> sum = 0;
#pragma unroll
    for (int i = 0; i < kWidest<T>; ++i) sum += term_of<kAlgorithm>(y.of[i], dy.of[i]);
    return sum;
}

// Returns a pack of dx, computed from the sum.
template <Algorithm kAlgorithm, class T>
__device__ WidePack<T> gradients_of(uint4 y_words, uint4 dy_words, ComputeOf<T> sum) {
    const Numbers<T> y = numbers_of<T>(y_words);
    const Numbers<T> dy = numbers_of<T>(dy_words);
    WidePack<T> pack;
#pragma unroll
    for (int i = 0; i < kWidest<T>; ++i) {
        pack.element[i] = gradient_of<kAlgorithm, T>(y.of[i], dy.of[i], sum);
    }
    return pack;
}

// Works as row_on_chip_kernel, but with half as many packs of each of two tensors. kWhole: true if the packs of
// y, dy and dx all start at multiples of 16 bytes; otherwise the kernel loads and stores single elements.
template <Algorithm kAlgorithm, bool kMore, bool kWhole, class Team, class T>
__global__ void __launch_bounds__(1024, 1)
    row_backward_kernel(const T* y, const T* dy, T* dx, Team team, int64_t cols, int64_t slice,
                        int kept) {
    using Compute = ComputeOf<T>;
    constexpr int kPack = kWidest<T>;
    constexpr int kPairs = kHeld / 2;  // pairs of packs in registers
    [[maybe_unused]] constexpr int kUnroll = sizeof(T) == 2 ? 2 : 4;
    __shared__ typename Team::template Scratch<Sum<Compute>> scratch;
    __shared__ Sum<Compute> warps[32];
    team.open(scratch);
    const int threads = blockDim.x;
    const int thread = threadIdx.x;
    const T* const y_row = y + team.row() * cols;
    const T* const dy_row = dy + team.row() * cols;
    T* const dx_row = dx + team.row() * cols;
    const RowPart<T> part(y_row, cols, team.rank(), slice);
    const int left = part.left;
    const uint4* const from_y = part.packs_of(y_row);
    const uint4* const from_dy = part.packs_of(dy_row);
    uint4* const to = part.packs_of(dx_row);
    uint4* const keep_y = reinterpret_cast<uint4*>(shared_bytes) + thread;
    uint4* const keep_dy = keep_y + kept * threads;

    const auto fetch = [](const uint4* from, int64_t offset) {
        if constexpr (kWhole) {
            return from[offset];
        } else {
            const T* const elements = reinterpret_cast<const T*>(from + offset);
            WidePack<T> pack;
#pragma unroll
            for (int i = 0; i < kPack; ++i) pack.element[i] = elements[i];
            return words_of<T>(pack);
        }
    };
    const auto keep = [&](uint4* place, const uint4* from, int64_t offset) {
        if constexpr (kWhole) {
            __pipeline_memcpy_async(place, from + offset, 16);
        } else {
            *place = fetch(from, offset);
        }
    };

    // Zeros add nothing to either sum.
    uint4 held_y[kPairs];
    uint4 held_dy[kPairs];
#pragma unroll
    for (int p = 0; p < kPairs; ++p) {
        held_y[p] = held_dy[p] = make_uint4(0, 0, 0, 0);
        if (p * threads < left) {
            held_y[p] = fetch(from_y, p * threads);
            held_dy[p] = fetch(from_dy, p * threads);
        }
    }
    const auto end_y = static_cast<Compute>(thread < part.ends ? y_row[part.end] : T(0.f));
    const auto end_dy = static_cast<Compute>(thread < part.ends ? dy_row[part.end] : T(0.f));
    const int all = kMore ? (left + threads - 1) / threads : 0;
    const int known = min(all, kPairs + kept);
    if constexpr (kMore) {
#pragma unroll 4
        for (int p = kPairs; p < known; ++p) {
            keep(keep_y + (p - kPairs) * threads, from_y, int64_t{p} * threads);
            keep(keep_dy + (p - kPairs) * threads, from_dy, int64_t{p} * threads);
        }
        __pipeline_commit();
    }

    Sum<Compute> mine{term_of<kAlgorithm>(end_y, end_dy)};
#pragma unroll
    for (int p = 0; p < kPairs; ++p) mine.sum += terms_of<kAlgorithm, T>(held_y[p], held_dy[p]);
    if constexpr (kMore) {
        __pipeline_wait_prior(0);
#pragma unroll kUnroll
        for (int p = kPairs; p < known; ++p) {
            const int place = (p - kPairs) * threads;
            mine.sum += terms_of<kAlgorithm, T>(keep_y[place], keep_dy[place]);
        }
#pragma unroll 2
        for (int p = known; p < all; ++p) {
            const int64_t offset = int64_t{p} * threads;
            mine.sum += terms_of<kAlgorithm, T>(fetch(from_y, offset), fetch(from_dy, offset));
        }
    }

    mine = merge_in_warp(mine);
    if (thread % 32 == 0) warps[thread / 32] = mine;
    __syncthreads();
    if (thread < 32) mine = merge_in_warp(warps, (threads + 31) / 32);
    const Compute sum = team.exchange(scratch, mine).sum;

    const auto give = [&](int64_t offset, const uint4& y_words, const uint4& dy_words) {
        store_pack<kWhole, T>(to + offset, gradients_of<kAlgorithm, T>(y_words, dy_words, sum));
    };
#pragma unroll
    for (int p = 0; p < kPairs; ++p) {
        if (p * threads < left) give(p * threads, as_new<T>(held_y[p]), as_new<T>(held_dy[p]));
    }
    if (thread < part.ends) dx_row[part.end] = gradient_of<kAlgorithm, T>(end_y, end_dy, sum);
    if constexpr (kMore) {
#pragma unroll kUnroll
        for (int p = kPairs; p < known; ++p) {
            const int place = (p - kPairs) * threads;
            give(int64_t{p} * threads, keep_y[place], keep_dy[place]);
        }
#pragma unroll 2
        for (int p = known; p < all; ++p) {
            const int64_t offset = int64_t{p} * threads;
            give(offset, fetch(from_y, offset), fetch(from_dy, offset));
        }
    }
}

// The computation of the gradients of a row, for rows_in_turn().
template <Algorithm kAlgorithm, class T>
struct GradientOfRows {
    using Element = T;
    using Compute = ComputeOf<T>;
    using Set = Sum<Compute>;
    using Finish = Set;
    static constexpr int kInputs = 2;
    const T* in[kInputs];  // y and dy
    T* out;

    static __device__ T nothing() { return T(0.f); }
    template <int kPacks>
    static __device__ Set set_of_inputs(const uint4 (&packs)[kInputs][kPacks],
                                        const T (&element)[kInputs]) {
        Compute sum =
            term_of<kAlgorithm>(static_cast<Compute>(element[0]), static_cast<Compute>(element[1]));
#pragma unroll
        for (int p = 0; p < kPacks; ++p) sum += terms_of<kAlgorithm, T>(packs[0][p], packs[1][p]);
        return {sum};
    }
    static __device__ T result(Set row, const T (&element)[kInputs]) {
        return gradient_of<kAlgorithm, T>(static_cast<Compute>(element[0]),
                                          static_cast<Compute>(element[1]), row.sum);
    }
    static __device__ WidePack<T> results(Set row, const uint4 (&words)[kInputs][1]) {
        return gradients_of<kAlgorithm, T>(words[0][0], words[1][0], row.sum);
    }
};

template <Algorithm kAlgorithm, class T>
__global__ void __launch_bounds__(kTurnThreads, 2)
    gradients_in_turn_kernel(const T* y, const T* dy, T* dx, Turns<Sum<ComputeOf<T>>> turns,
                             int64_t cols, int64_t slice, int /*kept*/) {
    rows_in_turn(GradientOfRows<kAlgorithm, T>{{y, dy}, dx}, turns, cols, slice);
}

// ---------------------------------------------------------------- the launch

// Returns the bytes of scratch with which rows of this shape are faster on the current device; 0 if scratch
// does not help.
template <class T>
size_t softmax_backward_workspace_bytes(int64_t rows, int64_t cols) {
    if (rows <= 0 || cols <= 0) return 0;
    return workspace_bytes_of(cut_for(rows, packs_of<T>(cols), kWidest<T>, 2, this_chip(), true),
                              rows);
}

// Launches the gradient of each row by this cut, as launch_as does.
template <Algorithm kAlgorithm, class T>
cudaError_t launch_backward_as(const Cut& cut, const T* y, const T* dy, T* dx, int64_t rows,
                               int64_t cols, void* workspace, cudaStream_t stream) {
    using Set = Sum<ComputeOf<T>>;
    const bool more = cut.slice.more();
    const double row_bytes = 2. * static_cast<double>(cols) * sizeof(T);
    if (cut.share == Share::cluster) {
        return launch_cut(more ? row_backward_kernel<kAlgorithm, true, true, Cluster, T>
                               : row_backward_kernel<kAlgorithm, false, true, Cluster, T>,
                          cluster_team(cut, rows, row_bytes), rows, cols, cut, stream, y, dy, dx);
    }
    if (cut.share == Share::grid) {
        return launch_grid<Set>(more ? row_backward_kernel<kAlgorithm, true, true, Grid<Set>, T>
                                     : row_backward_kernel<kAlgorithm, false, true, Grid<Set>, T>,
                                gradients_in_turn_kernel<kAlgorithm, T>, rows, cols, row_bytes, cut,
                                workspace, stream, y, dy, dx);
    }
    return launch_cut(more ? row_backward_kernel<kAlgorithm, true, true, Block, T>
                           : row_backward_kernel<kAlgorithm, false, true, Block, T>,
                      Block{}, rows, cols, cut, stream, y, dy, dx);
}

template <Algorithm kAlgorithm, class T>
cudaError_t launch_backward(const T* y, const T* dy, T* dx, int64_t rows, int64_t cols,
                            void* workspace, size_t workspace_bytes, cudaStream_t stream) {
    bool empty = false;
    cudaError_t error = check_rows(y, dx, rows, cols, &empty);
    if (error == cudaSuccess) error = check_rows(dy, dx, rows, cols, &empty);
    if (error != cudaSuccess || empty) return error;
    if (!have_one_alignment<T>(y, dx) || !have_one_alignment<T>(dy, dx)) {
        return launch_cut(row_backward_kernel<kAlgorithm, true, false, Block, T>, Block{}, rows,
                          cols, cluster_cut(packs_of<T>(cols), kWidest<T>, 2, 1, this_chip(), true),
                          stream, y, dy, dx);
    }
    const Cut cut = cut_within<T>(rows, cols, 2, workspace, workspace_bytes);
    return launch_backward_as<kAlgorithm>(cut, y, dy, dx, rows, cols, workspace, stream);
}

// Computes dx of softmax from the result y and its gradient dy (rows x cols, device memory, dx may be y or dy),
// of any width. If the device has no clusters, or y, dy and dx are misaligned by different amounts, a block
// computes a row. workspace may be null; with softmax_backward_workspace_bytes() bytes, aligned to 16 bytes,
// few long rows are faster. Concurrent calls need a workspace each. Asynchronous on stream. Returns
// cudaErrorInvalidValue for a null or misaligned pointer, a negative size, or more than 2^31 - 1 columns.
template <class T>
cudaError_t softmax_backward(const T* y, const T* dy, T* dx, int64_t rows, int64_t cols,
                             void* workspace, size_t workspace_bytes, cudaStream_t stream) {
    return launch_backward<Algorithm::softmax>(y, dy, dx, rows, cols, workspace, workspace_bytes,
                                               stream);
}

// Computes dx of log_softmax in the same way.
template <class T>
cudaError_t log_softmax_backward(const T* y, const T* dy, T* dx, int64_t rows, int64_t cols,
                                 void* workspace, size_t workspace_bytes, cudaStream_t stream) {
    return launch_backward<Algorithm::log_softmax>(y, dy, dx, rows, cols, workspace,
                                                   workspace_bytes, stream);
}

}  // namespace smem_softmax
