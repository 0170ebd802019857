// SPDX-License-Identifier: MIT
// Cooperative groups: threads named as a group, and what they do together.
//
// Here: thread_block, thread_block_tile, coalesced_group, thread_group, cluster_group and
// grid_group. Not here, so that using it does not compile: tiles of more than
// one warp, multi_grid_group.
#pragma once
#define _COOPERATIVE_GROUPS_H_
#include <type_traits>

#include "cpu_device/host_headers.h"
#include "cuda_runtime.h"

namespace cooperative_groups {

namespace details {

// Where a thread stands in its block, x fastest, as warps are cut.
__device__ inline unsigned rank_in_block() {
    return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}
__device__ inline unsigned threads_in_block() {
    return blockDim.x * blockDim.y * blockDim.z;
}

__device__ inline unsigned lanes_below(unsigned lane) {
    return (1u << lane) - 1;
}

// The lane of the rank-th bit of mask.
__device__ inline int lane_of_rank(unsigned mask, unsigned rank) {
    for (; rank > 0; --rank) mask &= mask - 1;
    return mask == 0 ? 0 : __builtin_ctz(mask);
}

// The bits of `lanes` at the places of mask, pushed together: a ballot by rank.
__device__ inline unsigned by_rank(unsigned mask, unsigned lanes) {
    unsigned result = 0;
    for (unsigned rank = 0; mask != 0; ++rank, mask &= mask - 1) {
        if ((lanes >> __builtin_ctz(mask) & 1) != 0) result |= 1u << rank;
    }
    return result;
}

}  // namespace details

// ---------------------------------------------------------------- lanes of one warp

namespace details {

// What tiles and coalesced groups share: some lanes of a warp, ranked by lane.
class LaneGroup {
public:
    __device__ explicit LaneGroup(unsigned mask) : mask_(mask) {}

    __device__ unsigned mask() const { return mask_; }
    __device__ unsigned thread_rank() const {
        return static_cast<unsigned>(
            __builtin_popcount(mask_ & lanes_below(cpu_device::lane_id())));
    }
    __device__ void sync() const { __syncwarp(mask_); }

    __device__ int any(int predicate) const { return __any_sync(mask_, predicate); }
    __device__ int all(int predicate) const { return __all_sync(mask_, predicate); }
    __device__ unsigned ballot(int predicate) const {
        return by_rank(mask_, __ballot_sync(mask_, predicate));
    }
    template <class T>
    __device__ unsigned match_any(T value) const {
        return by_rank(mask_, __match_any_sync(mask_, value));
    }
    template <class T>
    __device__ unsigned match_all(T value, int& all_equal) const {
        return by_rank(mask_, __match_all_sync(mask_, value, &all_equal));
    }

    template <class T>
    __device__ T shfl(T value, unsigned source_rank) const {
        static_assert(sizeof(T) <= 32, "groups shuffle values of at most 32 bytes");
        const unsigned size = static_cast<unsigned>(__builtin_popcount(mask_));
        return cpu_device::value_from_lane(mask_, value, lane_of_rank(mask_, source_rank % size));
    }
    // Where there is no such rank, a thread gets its own value back.
    template <class T>
    __device__ T shfl_down(T value, unsigned delta) const {
        const unsigned size = static_cast<unsigned>(__builtin_popcount(mask_));
        const unsigned rank = thread_rank();
        return shfl(value, rank + delta < size ? rank + delta : rank);
    }
    template <class T>
    __device__ T shfl_up(T value, unsigned delta) const {
        const unsigned rank = thread_rank();
        return shfl(value, delta <= rank ? rank - delta : rank);
    }

protected:
    unsigned mask_;
};

// The lanes of this thread's tile of `size`, in a block that may end inside the last warp.
__device__ inline unsigned tile_mask(unsigned size) {
    const unsigned lane = rank_in_block() % warpSize;
    const unsigned lanes = size == warpSize ? ~0u : (1u << size) - 1;
    const unsigned warp_begin = rank_in_block() - lane;
    const unsigned left = threads_in_block() - warp_begin;
    const unsigned existing = left >= warpSize ? ~0u : (1u << left) - 1;
    return (lanes << (lane / size * size)) & existing;
}

}  // namespace details

class thread_block;

// `Size` neighbouring threads of a warp. Parent is the group that was cut into tiles.
template <unsigned Size, class Parent = void>
class thread_block_tile : public details::LaneGroup {
    static_assert(Size >= 1 && Size <= warpSize && (Size & (Size - 1)) == 0,
                  "the CPU device has tiles of 1, 2, 4, 8, 16 and 32 threads");

public:
    __device__ thread_block_tile(unsigned parent_rank, unsigned parent_size)
        : LaneGroup(details::tile_mask(Size)),
          meta_rank_(parent_rank / Size),
          meta_size_((parent_size + Size - 1) / Size) {}

    // A tile may forget what it was cut from: thread_block_tile<32> takes any.
    template <class Other>
    __device__ thread_block_tile(const thread_block_tile<Size, Other>& other)
        : LaneGroup(other.mask()),
          meta_rank_(other.meta_group_rank()),
          meta_size_(other.meta_group_size()) {}

    __device__ static constexpr unsigned size() { return Size; }
    __device__ static constexpr unsigned num_threads() { return Size; }
    __device__ unsigned meta_group_rank() const { return meta_rank_; }
    __device__ unsigned meta_group_size() const { return meta_size_; }

    template <class T>
    __device__ T shfl_xor(T value, unsigned lane_mask) const {
        return this->shfl(value, (this->thread_rank() ^ lane_mask) % Size);
    }

private:
    unsigned meta_rank_;
    unsigned meta_size_;
};

// Any lanes of a warp.
class coalesced_group : public details::LaneGroup {
public:
    __device__ explicit coalesced_group(unsigned mask, unsigned meta_rank = 0,
                                        unsigned meta_size = 1)
        : LaneGroup(mask), meta_rank_(meta_rank), meta_size_(meta_size) {}

    __device__ unsigned size() const { return static_cast<unsigned>(__builtin_popcount(mask_)); }
    __device__ unsigned num_threads() const { return size(); }
    __device__ unsigned meta_group_rank() const { return meta_rank_; }
    __device__ unsigned meta_group_size() const { return meta_size_; }

private:
    unsigned meta_rank_;
    unsigned meta_size_;
};

// The lanes of the warp that are here together.
__device__ inline coalesced_group coalesced_threads() {
    return coalesced_group(__activemask());
}

// ---------------------------------------------------------------- the block

class thread_block {
public:
    struct arrival_token {};

    __device__ static void sync() { __syncthreads(); }
    __device__ static unsigned thread_rank() { return details::rank_in_block(); }
    __device__ static unsigned size() { return details::threads_in_block(); }
    __device__ static unsigned num_threads() { return size(); }
    __device__ static dim3 group_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
    __device__ static dim3 thread_index() { return dim3(threadIdx.x, threadIdx.y, threadIdx.z); }
    __device__ static dim3 group_dim() { return dim3(blockDim.x, blockDim.y, blockDim.z); }
    __device__ static dim3 dim_threads() { return group_dim(); }

    // Arriving does not wait, so waiting is where the threads meet. What a thread does in between
    // is then seen by all, which hardware does not promise: never wrong, only stricter.
    __device__ static arrival_token barrier_arrive() { return {}; }
    __device__ static void barrier_wait(arrival_token&&) { sync(); }
};

__device__ inline thread_block this_thread_block() {
    return {};
}

// A group whose kind is known at run time: a block, or lanes of a warp.
class thread_group {
public:
    __device__ thread_group(const thread_block&) : lanes_(0), is_block_(true) {}
    __device__ thread_group(const details::LaneGroup& lanes)
        : lanes_(lanes.mask()), is_block_(false) {}

    __device__ void sync() const {
        if (is_block_) {
            thread_block::sync();
        } else {
            lanes_.sync();
        }
    }
    __device__ unsigned size() const {
        return is_block_ ? thread_block::size()
                         : static_cast<unsigned>(__builtin_popcount(lanes_.mask()));
    }
    __device__ unsigned num_threads() const { return size(); }
    __device__ unsigned thread_rank() const {
        return is_block_ ? thread_block::thread_rank() : lanes_.thread_rank();
    }

private:
    details::LaneGroup lanes_;
    bool is_block_;
};

__device__ inline thread_block_tile<1> this_thread() {
    return thread_block_tile<1>(0, 1);
}

// ---------------------------------------------------------------- cutting groups

template <unsigned Size>
__device__ inline thread_block_tile<Size, thread_block> tiled_partition(const thread_block& block) {
    return thread_block_tile<Size, thread_block>(block.thread_rank(), block.size());
}

template <unsigned Size, unsigned ParentSize, class GrandParent>
__device__ inline thread_block_tile<Size, thread_block_tile<ParentSize, GrandParent>>
tiled_partition(const thread_block_tile<ParentSize, GrandParent>& parent) {
    static_assert(Size <= ParentSize, "a tile cannot be cut into larger tiles");
    return thread_block_tile<Size, thread_block_tile<ParentSize, GrandParent>>(parent.thread_rank(),
                                                                               ParentSize);
}

// `size` threads of neighbouring rank.
__device__ inline coalesced_group tiled_partition(const coalesced_group& parent, unsigned size) {
    const unsigned first = parent.thread_rank() / size * size;
    unsigned mask = 0;
    for (unsigned rank = first; rank < first + size && rank < parent.size(); ++rank) {
        mask |= 1u << details::lane_of_rank(parent.mask(), rank);
    }
    return coalesced_group(mask, first / size, (parent.size() + size - 1) / size);
}

__device__ inline thread_group tiled_partition(const thread_block&, unsigned size) {
    if (size == 0 || size > warpSize || (size & (size - 1)) != 0) {
        cpu_device::fail(cudaErrorInvalidValue,
                         "tiled_partition into groups of %u threads; 1, 2, 4, 8, 16 or 32 would do",
                         size);
    }
    return coalesced_group(details::tile_mask(size));
}

// The threads of a warp-sized group that have the same label.
template <class Group, class Label>
__device__ inline coalesced_group labeled_partition(const Group& group, Label label) {
    const unsigned mask = __match_any_sync(group.mask(), label);
    const unsigned leaders =
        __ballot_sync(group.mask(), (mask & details::lanes_below(cpu_device::lane_id())) == 0);
    const unsigned leader = static_cast<unsigned>(__builtin_ctz(mask));
    return coalesced_group(
        mask, static_cast<unsigned>(__builtin_popcount(leaders & details::lanes_below(leader))),
        static_cast<unsigned>(__builtin_popcount(leaders)));
}

// The threads that agree: those whose predicate is false come first.
template <class Group>
__device__ inline coalesced_group binary_partition(const Group& group, bool predicate) {
    const unsigned yes = __ballot_sync(group.mask(), predicate);
    const unsigned no = group.mask() & ~yes;
    const unsigned groups = (yes != 0) + (no != 0);
    return coalesced_group(predicate ? yes : no, predicate ? groups - 1 : 0, groups);
}

// ---------------------------------------------------------------- the cluster

class cluster_group {
public:
    struct arrival_token {};

    __device__ static void sync() { cpu_device::cluster_barrier(); }
    __device__ static arrival_token barrier_arrive() {
        cpu_device::cluster_arrive();
        return {};
    }
    __device__ static void barrier_wait() { cpu_device::cluster_wait(); }
    __device__ static void barrier_wait(arrival_token&&) { cpu_device::cluster_wait(); }

    __device__ static unsigned block_rank() { return cpu_device::cluster_block_rank(); }
    __device__ static unsigned num_blocks() { return cpu_device::cluster_block_count(); }
    __device__ static dim3 dim_blocks() { return cpu_device::cluster_dimensions(); }
    __device__ static dim3 block_index() { return cpu_device::cluster_block_index(); }

    __device__ static unsigned thread_rank() {
        return block_rank() * details::threads_in_block() + details::rank_in_block();
    }
    __device__ static unsigned num_threads() { return num_blocks() * details::threads_in_block(); }
    __device__ static unsigned size() { return num_threads(); }
    __device__ static dim3 dim_threads() {
        const dim3 blocks = dim_blocks();
        return dim3(blocks.x * blockDim.x, blocks.y * blockDim.y, blocks.z * blockDim.z);
    }

    // Where block `rank` of the cluster keeps what this block keeps at `shared`.
    template <class T>
    __device__ static T* map_shared_rank(T* shared, unsigned rank) {
        return static_cast<T*>(cpu_device::map_shared_rank(shared, rank));
    }
};

__device__ inline cluster_group this_cluster() {
    return {};
}

// ---------------------------------------------------------------- the grid

class grid_group {
public:
    struct arrival_token {};

    // In a cooperative launch only: there all blocks run at the same time.
    __device__ static void sync() { cpu_device::grid_barrier(); }
    __device__ static arrival_token barrier_arrive() {
        cpu_device::grid_arrive();
        return {};
    }
    __device__ static void barrier_wait(arrival_token&&) { cpu_device::grid_wait(); }
    __device__ static bool is_valid() { return cpu_device::is_cooperative(); }

    __device__ static unsigned long long block_rank() {
        return (static_cast<unsigned long long>(blockIdx.z) * gridDim.y + blockIdx.y) * gridDim.x +
               blockIdx.x;
    }
    __device__ static unsigned long long num_blocks() {
        return static_cast<unsigned long long>(gridDim.x) * gridDim.y * gridDim.z;
    }
    __device__ static unsigned long long thread_rank() {
        return block_rank() * details::threads_in_block() + details::rank_in_block();
    }
    __device__ static unsigned long long num_threads() {
        return num_blocks() * details::threads_in_block();
    }
    __device__ static unsigned long long size() { return num_threads(); }
    __device__ static dim3 dim_blocks() { return dim3(gridDim.x, gridDim.y, gridDim.z); }
    __device__ static dim3 group_dim() { return dim_blocks(); }
    __device__ static dim3 block_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
};

__device__ inline grid_group this_grid() {
    return {};
}

// ---------------------------------------------------------------- any group

template <class Group>
__device__ inline void sync(const Group& group) {
    group.sync();
}
template <class Group>
__device__ inline auto thread_rank(const Group& group) {
    return group.thread_rank();
}
template <class Group>
__device__ inline auto group_size(const Group& group) {
    return group.size();
}

// One thread of the group calls.
template <class Group, class Function, class... Arguments>
__device__ inline void invoke_one(const Group& group, Function&& function,
                                  Arguments&&... arguments) {
    if (group.thread_rank() == 0) function(arguments...);
}

}  // namespace cooperative_groups
