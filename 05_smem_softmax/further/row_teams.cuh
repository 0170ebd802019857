// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 05_smem_softmax/further/row_teams, version 1.0
//
// The teams of blocks that share a row: a cluster, or the blocks of a whole grid.
//   new here   blocks of a cluster send their sets to each other's shared memory; the blocks of a grid exchange
//              theirs in device memory
//   needs      CUDA 12.5, for <cuda/ptx>; clusters need compute capability 9.0
//   source     the merge of Milakov & Gimelshein 2018, section 3.1, across blocks, as in 03's split_row
#pragma once
#if defined(__CUDACC__) && CUDART_VERSION < 12050
#error "CUDA 12.5 is needed: its <cuda/ptx> is the first with mbarrier_init and fence_mbarrier_init"
#endif
#include <cooperative_groups.h>
#include <cuda/ptx>

#include "rows_in_turn.cuh"

namespace smem_softmax {

inline constexpr int kLargestCluster = 16;  // blocks; the most that any GPU offers

// Sends a set to another block's shared memory. The barrier `arrived` of that block counts the bytes.
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
template <class Compute>
__device__ void send(Normalizer<Compute> set, Normalizer<Compute>* there, uint64_t* arrived) {
    const Compute numbers[] = {set.m, set.d};
    cuda::ptx::st_async(&there->m, numbers, arrived);
}

// Prepares a block for `bytes` bytes of messages. No block may send before all blocks have started. So each block
// arrives at the cluster's barrier here, and waits at this barrier before it sends.
__device__ inline void expect_messages(uint64_t* arrived, unsigned bytes) {
    if (threadIdx.x + threadIdx.y + threadIdx.z == 0) {
        cuda::ptx::mbarrier_init(arrived, 1);
        cuda::ptx::fence_mbarrier_init(cuda::ptx::sem_release, cuda::ptx::scope_cluster);
        cuda::ptx::mbarrier_arrive_expect_tx(cuda::ptx::sem_release, cuda::ptx::scope_cta,
                                             cuda::ptx::space_shared, arrived, bytes);
    }
    __cluster_barrier_arrive_relaxed();
}
__device__ inline void wait_for_messages(uint64_t* arrived) {
    while (!cuda::ptx::mbarrier_try_wait_parity(cuda::ptx::sem_acquire, cuda::ptx::scope_cluster,
                                                arrived, 0)) {
    }
}
#endif

// The team of a cluster: blockIdx.x is the row, blockIdx.y the block's rank in the cluster. A block waits for the
// other blocks' messages, not at a barrier of the cluster: 0.97 instead of 0.87 of a copy's speed at 976 x 65536
// floats on an H200.
struct Cluster {
    int first = 0;       // rows at the start of the launch that start one after another,
    unsigned apart = 0;  // this many nanoseconds apart

    template <class Set>
    struct Scratch {
        Set of_block[kLargestCluster];
        uint64_t arrived;  // counts the bytes of the messages that have arrived
    };
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    __device__ static auto cluster() {
        return cooperative_groups::this_cluster();
    }
    __device__ int64_t row() const {
        return blockIdx.x;
    }
    __device__ int rank() const {
        return static_cast<int>(blockIdx.y);
    }

    template <class Set>
    __device__ void open(Scratch<Set>& scratch) const {
        if (static_cast<int>(blockIdx.x) < first) __nanosleep(blockIdx.x * apart);
        expect_messages(&scratch.arrived, gridDim.y * static_cast<unsigned>(sizeof(Set)));
    }
    __device__ void leave() const {
        __cluster_barrier_wait();
    }
    template <class Set>
    __device__ Set exchange(Scratch<Set>& scratch, Set block) {
        const auto blocks = static_cast<int>(gridDim.y);
        const auto to = static_cast<int>(threadIdx.x);  // lane i of the first warp sends to block i
        __cluster_barrier_wait();
        if (to < blocks) {
            send(block, cluster().map_shared_rank(scratch.of_block + rank(), to),
                 cluster().map_shared_rank(&scratch.arrived, to));
        }
        wait_for_messages(&scratch.arrived);
        return merge_in_warp(scratch.of_block, blocks);
    }
#else  // never launched: see largest_cluster
    __device__ int64_t row() const {
        return 0;
    }
    __device__ int rank() const {
        return 0;
    }
    template <class Set>
    __device__ void open(Scratch<Set>&) const {
        __trap();
    }
    __device__ void leave() const {}
    template <class Set>
    __device__ Set exchange(Scratch<Set>&, Set block) {
        return block;
    }
#endif
};

// The team of a cooperative launch, in which all blocks run at the same time. The blocks with the same blockIdx.x
// share row blockIdx.x. They write their sets to device memory, wait at a barrier, and read the others' sets.
// This exchange takes longer than messages within a cluster, but can use the whole chip. (For more rows, see
// rows_in_turn.cuh.)
template <class Set>
struct Grid {
    template <class>
    struct Scratch {
        Set of_warp[32];
    };
    Board<Set> board;

    __device__ int64_t row() const { return blockIdx.x; }
    __device__ int rank() const { return static_cast<int>(blockIdx.y); }
    __device__ void open(Scratch<Set>&) const {}
    __device__ Set exchange(Scratch<Set>& scratch, Set block) const {
        if (threadIdx.x == 0) board.say(row(), block);
        cooperative_groups::this_grid().sync();
        const auto other = static_cast<int>(threadIdx.x);  // each thread reads the set of one block
        const bool asks = other < static_cast<int>(gridDim.y);
        return merge_in_block(asks ? bits_as<Set>(board.look(row(), other)) : Set::of_none(),
                              static_cast<int>(gridDim.y), scratch.of_warp);
    }
};

}  // namespace smem_softmax
