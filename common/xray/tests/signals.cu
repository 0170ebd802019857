// SPDX-License-Identifier: MIT
//
// What threads tell each other through memory, within a block and between blocks, and the barriers of grids and
// clusters: what that orders is no race, and what it does not is one.
#include <cooperative_groups.h>

#include <cuda/atomic>

#include "common/runner/device.hpp"
#include "common/xray/global_shadow.hpp"
#include "common/xray/source_map.hpp"
#include "common/xray/tests/counted.hpp"

using namespace xray;

namespace {

constexpr int kBlocks = 8, kThreads = 64, kCount = kBlocks * kThreads;

// What a kernel gets: all zeros.
struct Memory {
    int* y;      // kCount
    int* data;   // kCount
    int* words;  // kCount: flags, counters, locks
};

__device__ unsigned me() {
    return blockIdx.x * blockDim.x + threadIdx.x;
}

// ---------------------------------------------------------------- an atomic, and then a plain read

__global__ void counts_and_reads(Memory m) {
    atomicAdd(m.words, 1);
    m.y[blockIdx.x] = *m.words;
}
__global__ void counts_meets_and_reads(Memory m) {
    if (threadIdx.x == 0) atomicAdd(m.words, 1);
    __syncthreads();
    m.y[me()] = *m.words;
}
__global__ void subtracts_maximum(Memory m) {
    atomicMax(m.words, m.data[me()]);
    __syncthreads();
    m.y[me()] = m.data[me()] - *m.words;
}
__global__ void counts_fences_and_reads(Memory m) {
    __threadfence();
    if (threadIdx.x == 0) atomicAdd(m.words, 1);
    __threadfence();
    __syncthreads();
    m.y[me()] = *m.words;
}
// What the others leave is there when they have counted, but who waits for them?
__global__ void counts_and_reads_the_data(Memory m) {
    m.data[me()] = 1;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(m.words, 1);
    __syncthreads();
    m.y[me()] = m.data[kCount - 1 - me()];
}

// ---------------------------------------------------------------- between blocks

template <bool meets, bool fences>
__global__ void last_block(Memory m) {
    __shared__ bool is_last;
    m.data[me()] = 1;
    if (meets) __syncthreads();
    if (threadIdx.x == 0) {
        if (fences) __threadfence();
        is_last = atomicAdd(m.words, 1) == static_cast<int>(gridDim.x) - 1;
    }
    __syncthreads();
    if (!is_last) return;
    for (unsigned i = threadIdx.x; i < kCount; i += blockDim.x) m.y[i] = m.data[i];
    if (threadIdx.x == 0) *m.words = 0;
}
__global__ void each_thread_fences(Memory m) {
    __shared__ bool is_last;
    m.data[me()] = 1;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) is_last = atomicAdd(m.words, 1) == static_cast<int>(gridDim.x) - 1;
    __syncthreads();
    if (is_last) m.y[threadIdx.x] = m.data[threadIdx.x * 8];
}

enum class By { volatiles, atomics, atomic_ref, builtin, relaxed, block_fence, nothing, early };
template <By by>
__device__ void tell(int* flag) {
    if (by == By::volatiles || by == By::atomics) __threadfence();
    if (by == By::block_fence) __threadfence_block();
    cuda::atomic_ref<int, cuda::thread_scope_device> ref(*flag);
    if (by == By::atomic_ref) {
        ref.store(1, cuda::memory_order_release);
    } else if (by == By::builtin) {
        __nv_atomic_store_n(flag, 1, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_DEVICE);
    } else if (by == By::relaxed) {
        ref.store(1, cuda::memory_order_relaxed);
    } else if (by == By::atomics) {
        atomicExch(flag, 1);
    } else {
        *static_cast<volatile int*>(flag) = 1;
    }
}
template <By by>
__device__ void wait_for(int* flag) {
    cuda::atomic_ref<int, cuda::thread_scope_device> ref(*flag);
    if (by == By::atomic_ref) {
        while (ref.load(cuda::memory_order_acquire) == 0) {
        }
    } else if (by == By::builtin) {
        while (__nv_atomic_load_n(flag, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_DEVICE) == 0) {
        }
    } else if (by == By::atomics) {
        while (atomicAdd(flag, 0) == 0) {
        }
    } else {
        while (*static_cast<volatile int*>(flag) == 0) {
        }
    }
    __threadfence();
}
template <By by>
__global__ void from_block_to_block(Memory m) {
    if (threadIdx.x == 0 && blockIdx.x > 0) wait_for<by>(m.words + blockIdx.x - 1);
    __syncthreads();
    m.data[threadIdx.x] += 1;
    __syncthreads();
    if (threadIdx.x == 0) tell<by>(m.words + blockIdx.x);
}
__global__ void tells_too_early(Memory m) {
    if (threadIdx.x != 0) return;
    if (blockIdx.x == 1) {
        wait_for<By::volatiles>(m.words);
        m.y[0] = m.data[0];
    } else if (blockIdx.x == 0) {
        tell<By::volatiles>(m.words);
        m.data[0] = 1;
    }
}

__device__ void lock(int* at) {
    while (atomicCAS(at, 0, 1) != 0) {
    }
    __threadfence();
}
__device__ void unlock(int* at) {
    __threadfence();
    atomicExch(at, 0);
}
template <bool everybody>
__global__ void lock_of_blocks(Memory m) {
    const bool takes_it = everybody || blockIdx.x != 3;
    if (threadIdx.x == 0) {
        if (takes_it) lock(m.words);
        m.data[0] += 1;
        if (takes_it) unlock(m.words);
    }
}
__device__ void locked_by_each(Memory m) {
    for (bool done = false; !done;) {
        if (atomicCAS(m.words, 0, 1) == 0) {
            __threadfence();
            m.data[0] += 1;
            __threadfence();
            atomicExch(m.words, 0);
            done = true;
        }
    }
}
__global__ void tickets(Memory m) {
    if (threadIdx.x != 0) return;
    const int mine = atomicAdd(m.words, 1);
    while (*static_cast<volatile int*>(m.words + 1) != mine) {
    }
    __threadfence();
    m.data[0] += 1;
    __threadfence();
    *static_cast<volatile int*>(m.words + 1) = mine + 1;
}
__global__ void lock_of_threads(Memory m) {
    locked_by_each(m);
}
// A barrier of the grid's, made by hand.
__global__ void by_counter(Memory m) {
    m.data[me()] = 1;
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(m.words, 1);
        while (*static_cast<volatile int*>(m.words) < static_cast<int>(gridDim.x)) {
        }
        __threadfence();
    }
    __syncthreads();
    m.y[me()] = m.data[kCount - 1 - me()];
}

// ---------------------------------------------------------------- within a block

// Where the threads of a block keep what they tell: in shared memory or in global memory.
template <bool shared>
__device__ Memory of_block(Memory m, int* memory) {
    return shared ? Memory{m.y, memory, memory + kThreads} : m;
}

template <bool shared, By by>
__global__ void from_warp_to_warp(Memory given) {
    __shared__ int memory[2 * kThreads];
    const Memory m = of_block<shared>(given, memory);
    m.data[threadIdx.x] = m.words[threadIdx.x] = 0;
    __syncthreads();
    const unsigned warp = threadIdx.x / 32;
    if (warp == 1) {
        m.data[threadIdx.x - 32] = 1;
        __syncwarp();
        if (threadIdx.x % 32 == 0) tell<by>(m.words);
    } else {
        if (threadIdx.x == 0) wait_for<by>(m.words);
        __syncwarp();
        m.y[threadIdx.x] = m.data[31 - threadIdx.x];
    }
}
// Nothing is there until the second warp has written it; the first one's logs come before.
__global__ void hands_over_what_is_new(Memory m) {
    __shared__ int made[32];
    __shared__ int flag;
    if (threadIdx.x == 0) flag = 0;
    __syncthreads();
    if (threadIdx.x >= 32) {
        made[threadIdx.x - 32] = 1;
        __syncwarp();
        if (threadIdx.x == 32) tell<By::volatiles>(&flag);
    } else {
        if (threadIdx.x == 0) wait_for<By::volatiles>(&flag);
        __syncwarp();
        m.y[threadIdx.x] = made[31 - threadIdx.x];
    }
}
template <bool shared, bool everybody>
__global__ void lock_of_warps(Memory given) {
    __shared__ int memory[2 * kThreads];
    const Memory m = of_block<shared>(given, memory);
    m.data[threadIdx.x] = m.words[threadIdx.x] = 0;
    __syncthreads();
    const bool takes_it = everybody || threadIdx.x / 32 != 1;
    for (int turn = 0; turn < 3; turn++) {
        if (threadIdx.x % 32 == 0 && takes_it) lock(m.words);
        __syncwarp();
        m.data[threadIdx.x % 32] += 1;
        __syncwarp();
        if (threadIdx.x % 32 == 0 && takes_it) unlock(m.words);
    }
    __syncthreads();
    m.y[threadIdx.x] = m.data[threadIdx.x];
}
template <bool shared>
__global__ void lock_of_all(Memory given) {
    __shared__ int memory[2 * kThreads];
    const Memory m = of_block<shared>(given, memory);
    m.data[threadIdx.x] = m.words[threadIdx.x] = 0;
    __syncthreads();
    locked_by_each(m);
}
// The flag is read as any variable: if not for ever, then in a race.
template <bool shared>
__global__ void looks_plainly(Memory given) {
    __shared__ int memory[2 * kThreads];
    const Memory m = of_block<shared>(given, memory);
    m.data[threadIdx.x] = m.words[threadIdx.x] = 0;
    __syncthreads();
    if (threadIdx.x == 32) tell<By::volatiles>(m.words);
    if (threadIdx.x == 0) m.y[0] = m.words[0];
}
// Before warps had to synchronize, this was how they summed.
__global__ void steps_of_old(Memory m) {
    __shared__ volatile int sums[kThreads];
    sums[threadIdx.x] = m.data[me()];
    __syncthreads();
    if (threadIdx.x < 32) {
        sums[threadIdx.x] += sums[threadIdx.x + 32];
        for (int step = 16; step > 0; step /= 2) sums[threadIdx.x] += sums[threadIdx.x + step];
    }
    if (threadIdx.x == 0) m.y[blockIdx.x] = sums[0];
}

// ---------------------------------------------------------------- grids and clusters

template <bool meets>
__global__ void of_grid(Memory m) {
    m.data[me()] = 1;
    if (meets) cooperative_groups::this_grid().sync();
    m.y[me()] = m.data[kCount - 1 - me()];
    if (meets) cooperative_groups::this_grid().sync();
    m.data[kCount - 1 - me()] = 2;
}
// Neighbours are of one cluster, or not.
template <int neighbour, bool shared, bool meets, bool meets_at_end>
__global__ void of_cluster(Memory m) {
    __shared__ int mine[kThreads];
    int* const data = shared ? mine : m.data + blockIdx.x * kThreads;
    const auto cluster = cooperative_groups::this_cluster();
    data[threadIdx.x] = static_cast<int>(blockIdx.x);
    if (meets) cluster.sync();
    const unsigned other = blockIdx.x ^ neighbour;
    const int* const theirs =
        shared ? cluster.map_shared_rank(mine, other % 2) : m.data + other * kThreads;
    m.y[me()] = theirs[threadIdx.x];
    if (meets_at_end) cluster.sync();
    data[threadIdx.x] = 0;
    if (shared) cluster.sync();  // shared memory ends with its block
}
__global__ void in_two_halves(Memory m) {
    m.data[me()] = 1;
    __cluster_barrier_arrive();
    m.y[me()] = m.data[me()];
    __cluster_barrier_wait();
    m.y[me()] += m.data[me() ^ kThreads];
}
__global__ void after_half_a_barrier(Memory m) {
    __cluster_barrier_arrive();
    m.data[me()] = 1;
    __cluster_barrier_wait();
    m.y[me()] = m.data[me() ^ kThreads];
}

enum class Launch { plain, cooperative, in_pairs };
KernelCounts counts_of(void (*kernel)(Memory), int blocks, int threads, Launch how) {
    runner::DeviceBuffer<int> y(kCount), data(kCount), words(kCount);
    for (const auto* const each : {&y, &data, &words})
        REQUIRE(cudaMemset(const_cast<int*>(each->data()), 0, kCount * sizeof(int)) == cudaSuccess);
    GlobalShadow global;
    Counter counter(nullptr, nullptr, &global);
    {
        const Counting counting(counter);
        cudaLaunchAttribute attribute{};
        attribute.id = how == Launch::cooperative ? cudaLaunchAttributeCooperative
                                                  : cudaLaunchAttributeClusterDimension;
        if (how == Launch::cooperative) {
            attribute.val.cooperative = 1;
        } else {
            attribute.val.clusterDim.x = how == Launch::in_pairs ? 2 : 1;
            attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
        }
        cudaLaunchConfig_t config{};
        config.gridDim = static_cast<unsigned>(blocks);
        config.blockDim = static_cast<unsigned>(threads);
        config.attrs = &attribute;
        config.numAttrs = how == Launch::plain ? 0 : 1;
        REQUIRE(cudaLaunchKernelEx(&config, kernel, Memory{y.data(), data.data(), words.data()}) ==
                cudaSuccess);
        REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    }
    return counter.kernels().front();
}
size_t races_of(void (*kernel)(Memory), int blocks = kBlocks, int threads = kThreads,
                Launch how = Launch::plain) {
    const KernelCounts counts = counts_of(kernel, blocks, threads, how);
    CHECK(counts.uninitialized_reads.empty());
    CHECK(counts.all_signals_known);
    const SourceMap sources({counts});
    for (const Hazard& race : counts.races) {
        UNSCOPED_INFO(sources.text_of(race.first.place)
                      << " thread " << race.first.thread << " block " << race.first.block.x << ", "
                      << sources.text_of(race.second.place) << " thread " << race.second.thread
                      << " block " << race.second.block.x << ", " << race.times << " times");
    }
    return counts.races.size();
}

}  // namespace

TEST_CASE("an atomic is no signal for who reads the same word") {
    CHECK(races_of(counts_and_reads, kBlocks, 1) == 1);
    CHECK(races_of(counts_meets_and_reads) == 1);
    CHECK(races_of(subtracts_maximum) == 1);
    CHECK(races_of(counts_fences_and_reads) == 1);
    CHECK(races_of(counts_and_reads_the_data) == 1);
}

TEST_CASE("blocks that tell each other are in order") {
    CHECK(races_of(last_block<true, true>) == 0);
    CHECK(races_of(each_thread_fences) == 0);
    CHECK(races_of(from_block_to_block<By::volatiles>) == 0);
    CHECK(races_of(from_block_to_block<By::atomics>) == 0);
    CHECK(races_of(from_block_to_block<By::atomic_ref>) == 0);
    CHECK(races_of(from_block_to_block<By::builtin>) == 0);
    CHECK(races_of(lock_of_blocks<true>) == 0);
    CHECK(races_of(lock_of_threads) == 0);
    CHECK(races_of(tickets) == 0);
    CHECK(races_of(by_counter, 2) == 0);
}

TEST_CASE("blocks that do not tell each other enough race") {
    CHECK(races_of(last_block<false, true>) == 1);
    CHECK(races_of(last_block<true, false>) > 0);
    CHECK(races_of(from_block_to_block<By::nothing>) > 0);
    CHECK(races_of(from_block_to_block<By::relaxed>) > 0);
    CHECK(races_of(from_block_to_block<By::block_fence>) > 0);
    CHECK(races_of(tells_too_early, 2) == 1);
    CHECK(races_of(lock_of_blocks<false>) > 0);
}

TEST_CASE("warps that tell each other are in order") {
    CHECK(races_of(from_warp_to_warp<true, By::volatiles>, 1) == 0);
    CHECK(races_of(from_warp_to_warp<false, By::volatiles>, 1) == 0);
    CHECK(races_of(from_warp_to_warp<true, By::atomics>, 1) == 0);
    CHECK(races_of(from_warp_to_warp<true, By::atomic_ref>, 1) == 0);
    CHECK(races_of(from_warp_to_warp<false, By::atomic_ref>, 1) == 0);
    CHECK(races_of(from_warp_to_warp<true, By::block_fence>, 1) == 0);
    CHECK(races_of(hands_over_what_is_new, 1) == 0);
    CHECK(races_of(lock_of_warps<true, true>, 1) == 0);
    CHECK(races_of(lock_of_warps<false, true>, 1) == 0);
    CHECK(races_of(lock_of_all<true>, 1) == 0);
    CHECK(races_of(lock_of_all<false>, 1) == 0);
}

TEST_CASE("warps that do not tell each other enough race") {
    CHECK(races_of(from_warp_to_warp<true, By::nothing>, 1) == 1);
    CHECK(races_of(from_warp_to_warp<false, By::nothing>, 1) == 1);
    CHECK(races_of(from_warp_to_warp<true, By::relaxed>, 1) == 1);
    CHECK(races_of(lock_of_warps<true, false>, 1) > 0);
    CHECK(races_of(lock_of_warps<false, false>, 1) > 0);
    CHECK(races_of(looks_plainly<true>, 1) == 1);
    CHECK(races_of(looks_plainly<false>, 1) == 1);
    CHECK(races_of(steps_of_old, 1) > 0);
}

TEST_CASE("the barriers of grids and clusters") {
    constexpr auto kTogether = Launch::cooperative, kPairs = Launch::in_pairs;
    CHECK(races_of(of_grid<true>, kBlocks, kThreads, kTogether) == 0);
    CHECK(races_of(of_grid<false>, kBlocks, kThreads, kTogether) > 0);
    CHECK(races_of(of_cluster<1, false, true, true>, kBlocks, kThreads, kPairs) == 0);
    CHECK(races_of(of_cluster<1, false, false, true>, kBlocks, kThreads, kPairs) == 1);
    CHECK(races_of(of_cluster<1, false, true, false>, kBlocks, kThreads, kPairs) == 1);
    CHECK(races_of(of_cluster<2, false, true, true>, kBlocks, kThreads, kPairs) > 0);
    CHECK(races_of(of_cluster<1, true, true, true>, kBlocks, kThreads, kPairs) == 0);
    CHECK(races_of(of_cluster<1, true, false, true>, kBlocks, kThreads, kPairs) == 1);
    CHECK(races_of(of_cluster<1, true, true, false>, kBlocks, kThreads, kPairs) == 1);
    CHECK(races_of(in_two_halves, kBlocks, kThreads, kPairs) == 0);
    CHECK(races_of(after_half_a_barrier, kBlocks, kThreads, kPairs) == 1);
    CHECK(races_of(by_counter, kBlocks, kThreads, kTogether) == 0);
}
