// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 05_smem_softmax/further/any_axis_backward, version 1.0
//
// The gradient of softmax and of log-softmax along the middle axis of (outer, dim, inner), from the result y and
// its gradient dy.
//   new here   two tiles in shared memory, one sum per column
//   traffic    2 reads + 1 write per element; if tiles are read twice, 4 reads (log-softmax: 3)
//   accepts    as any_axis_softmax.cuh; dx may be dy or y
//   source     softmax: dx = (dy - sum(y * dy)) * y; log-softmax: dx = dy - exp(y) * sum(dy)
#pragma once
#include "any_axis_softmax.cuh"
#include "gradient.cuh"

namespace smem_softmax {
namespace any_axis {

template <Algorithm kAlgorithm, int kPack, bool kEnds, Reads kReads, class T>
__global__ void __launch_bounds__(kThreadsFor<T, kReads>, kBlocksFor<T, kReads>)
    any_axis_backward_kernel(const T* y, const T* dy, T* dx, Sizes sizes, Tiling tiling) {
    using Compute = ComputeOf<T>;
    using ThisPack = Pack<T, kPack>;
    constexpr bool kHeld = kReads == Reads::once;
    const T nothing(0.f);
    const int tile = threadIdx.x / tiling.threads;
    const int thread = threadIdx.x % tiling.threads;
    const Part<T, kPack, kEnds> part(y, sizes, tiling, tile, thread);
    unsigned char* tiles = shared_bytes + 2 * tiling.join_bytes + 2 * tile * tiling.tile_bytes;
    ThisPack* held_y = reinterpret_cast<ThisPack*>(tiles) + thread;
    ThisPack* held_dy = reinterpret_cast<ThisPack*>(tiles + tiling.tile_bytes) + thread;
    if constexpr (kHeld) {
        part.copy(y, held_y, tiling.threads, nothing);
        part.copy(dy, held_dy, tiling.threads, nothing);
        wait_for_copies();
    }
    // Packs of each tensor in flight: with eight elements per pack, the largest number that the registers allow.
    constexpr int kInFlight = kHeld ? 1 : kPack > 4 ? kBatch / 2 : kBatch;
    const auto fetch = [&](const T* from, const ThisPack* held, int64_t k) {
        if constexpr (kHeld) {
            return held[static_cast<int>(k) * tiling.threads];
        } else {
            return part.fetch(from, k, nothing);
        }
    };

    Tiling team = tiling;  // the threads that reduce a column together
    if constexpr (kIsPart<kReads>) team.blocks = 1;
    [[maybe_unused]] const SumsOfTile<kPack, 1, Compute> sums(tiling, thread);

    Compute sum[kPack];
#pragma unroll
    for (Compute& each : sum) each = 0;
    if constexpr (kReads == Reads::second) {
        sums.get(tiling.parts, [&](const Compute* place, int i) { sum[i] += *place; });
    }
#pragma unroll(4 / kInFlight)
    for (int64_t k = kReads == Reads::second ? part.count : 0; k < part.count; k += kInFlight) {
        ThisPack ys[kInFlight]{};
        ThisPack dys[kInFlight];
#pragma unroll
        for (int i = 0; i < kInFlight; ++i) {
            if (kAlgorithm == Algorithm::softmax) ys[i] = fetch(y, held_y, k + i);
            dys[i] = fetch(dy, held_dy, k + i);
        }
#pragma unroll
        for (int i = 0; i < kInFlight * kPack; ++i) {
            sum[i % kPack] +=
                term_of<kAlgorithm>(static_cast<Compute>(ys[i / kPack].element[i % kPack]),
                                    static_cast<Compute>(dys[i / kPack].element[i % kPack]));
        }
    }
    reduce_columns(sum, team, tile, thread, 1, Total{});
    if constexpr (kReads == Reads::first) {
        if (tile < tiling.slabs) {
            sums.put(blockIdx.x % tiling.blocks, [&](Compute* place, int i) { *place = sum[i]; });
        }
    }

    // Backwards: the cache may still hold the packs that were read last.
#pragma unroll(kHeld ? 2 : 1)
    for (int64_t k = kReads == Reads::first ? -1 : part.count - 1; k >= 0; k -= kInFlight) {
        ThisPack ys[kInFlight];
        ThisPack dys[kInFlight];
#pragma unroll
        for (int i = 0; i < kInFlight; ++i) {
            if (k < i) continue;
            ys[i] = fetch(y, held_y, k - i);
            dys[i] = fetch(dy, held_dy, k - i);
        }
#pragma unroll
        for (int i = 0; i < kInFlight; ++i) {
            if (k < i) continue;
            ThisPack result;
#pragma unroll
            for (int e = 0; e < kPack; ++e) {
                result.element[e] =
                    gradient_of<kAlgorithm, T>(static_cast<Compute>(ys[i].element[e]),
                                               static_cast<Compute>(dys[i].element[e]), sum[e]);
            }
            part.put(dx, k - i, result);
        }
    }
    wait_for_readers(team);
}

// kPacks: packs of both tensors together.
template <Algorithm kAlgorithm, int kPacks, class T>
__global__ void __launch_bounds__(1024)
    any_axis_backward_registers_kernel(const T* y, const T* dy, T* dx, Sizes sizes, Tiling tiling) {
    constexpr int kPack = kWidest<T>;
    const uint4 nothing = make_uint4(0, 0, 0, 0);
    const Column<T> column(sizes, tiling);
    uint4 held_y[kPacks];
    uint4 held_dy[kPacks];
    column.read(y, held_y, nothing);
    column.read(dy, held_dy, nothing);

    Sets<T> sets{};
#pragma unroll
    for (int p = 0; p < kPacks; ++p) {
        const Numbers<T> ys = numbers_of<T>(held_y[p]);
        const Numbers<T> dys = numbers_of<T>(held_dy[p]);
#pragma unroll
        for (int i = 0; i < kPack; ++i) {
            sets.d[i] += term_of<kAlgorithm>(ys.of[i], dys.of[i]);
        }
    }
    merge_columns<false>(sets, tiling);

    uint4* to = reinterpret_cast<uint4*>(dx) + column.first;
#pragma unroll
    for (int p = 0; p < kPacks; ++p) {
        const Numbers<T> ys = numbers_of<T>(as_new<T>(held_y[p]));
        const Numbers<T> dys = numbers_of<T>(as_new<T>(held_dy[p]));
        WidePack<T> result;
#pragma unroll
        for (int i = 0; i < kPack; ++i) {
            result.element[i] = gradient_of<kAlgorithm, T>(ys.of[i], dys.of[i], sets.d[i]);
        }
        if (p < column.count) *to = words_of<T>(result);
        to += column.step;
    }
}

template <Algorithm kAlgorithm>
struct Backward {
    static constexpr int kNumbers = 1;
    template <int kPack, bool kEnds, Reads kReads, class T>
    static auto get() {
        return any_axis_backward_kernel<kAlgorithm, kPack, kEnds, kReads, T>;
    }
    template <int kPacks, class T>
    static auto registers() {
        return any_axis_backward_registers_kernel<kAlgorithm, kPacks / 2, T>;
    }
};

}  // namespace any_axis

// Returns the bytes of workspace for the gradients, as any_axis_workspace_bytes does for softmax.
template <class T>
size_t any_axis_backward_workspace_bytes(int64_t outer, int64_t dim, int64_t inner) {
    using namespace any_axis;
    return workspace_bytes<Backward<Algorithm::softmax>, T>({outer, dim, inner}, 2);
}

// Computes dx from the result y and its gradient dy. Errors and workspace as for softmax_any_axis; concurrent
// calls need a workspace each.
template <class T>
cudaError_t softmax_backward_any_axis(const T* y, const T* dy, T* dx, int64_t outer, int64_t dim,
                                      int64_t inner, void* workspace, size_t workspace_bytes,
                                      cudaStream_t stream) {
    using namespace any_axis;
    return launch<Backward<Algorithm::softmax>>({outer, dim, inner}, workspace, workspace_bytes,
                                                stream, y, dy, dx);
}
template <class T>
cudaError_t log_softmax_backward_any_axis(const T* y, const T* dy, T* dx, int64_t outer,
                                          int64_t dim, int64_t inner, void* workspace,
                                          size_t workspace_bytes, cudaStream_t stream) {
    using namespace any_axis;
    return launch<Backward<Algorithm::log_softmax>>({outer, dim, inner}, workspace, workspace_bytes,
                                                    stream, y, dy, dx);
}

}  // namespace smem_softmax
