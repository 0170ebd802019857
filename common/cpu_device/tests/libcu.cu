// SPDX-License-Identifier: MIT
// Mistakes with cuda::barrier, cuda::memcpy_async and the asynchronous stores of cuda::ptx: each is named. Right programs are
// in ptx/libcu.cu, since a GPU runs them too.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cuda/barrier>
#include <cuda/ptx>
#include <vector>

#include "clusters.cuh"
#include "failures.cuh"

// Tokens are moved, as the interface asks; here, as in the toolkit, they are numbers.
// NOLINTBEGIN(performance-move-const-arg, bugprone-use-after-move)

namespace libcu_tests {

namespace cg = cooperative_groups;
namespace ptx = cuda::ptx;

using Barrier = cuda::barrier<cuda::thread_scope_block>;

constexpr int kThreads = 32;
constexpr size_t kBytes = kThreads * sizeof(int);

// What two blocks send each other.
struct Inbox {
    alignas(16) int value[4];
    uint64_t arrived;
};

__device__ void open(Inbox& inbox, uint32_t bytes) {
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(&inbox.arrived, 1);
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared,
                                       &inbox.arrived, bytes);
    }
    cg::this_cluster().sync();
}
__device__ Inbox& of_other(Inbox& mine) {
    return *cg::this_cluster().map_shared_rank(&mine, cg::this_cluster().block_rank() ^ 1);
}
__device__ void wait_for(Inbox& inbox) {
    while (
        !ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cluster, &inbox.arrived, 0)) {
    }
}

__global__ void reads_too_early(const int*, int* to) {
    __shared__ Inbox mine;
    open(mine, 4);
    if (threadIdx.x == 0) ptx::st_async(of_other(mine).value, 5, &of_other(mine).arrived);
    cg::this_cluster().sync();
    if (threadIdx.x == 0) *to = mine.value[0];
    wait_for(mine);
}
constexpr int kReadsTooEarly = __LINE__ - 3;

__global__ void expects_more(const int*, int* to) {
    __shared__ Inbox mine;
    open(mine, 12);
    if (threadIdx.x == 0) {
        const int two[] = {1, 2};
        ptx::st_async(of_other(mine).value, two, &of_other(mine).arrived);
    }
    wait_for(mine);
    *to = mine.value[0];
}

__global__ void stores_a_misaligned_pair(const int*, int*) {
    __shared__ Inbox mine;
    open(mine, 8);
    const int two[] = {1, 2};
    ptx::st_async(of_other(mine).value + 1, two, &of_other(mine).arrived);
    wait_for(mine);
}
constexpr int kMisalignedPair = __LINE__ - 3;

__global__ void has_its_own_barrier_count(const int*, int*) {
    __shared__ Inbox mine;
    open(mine, 4);
    if (threadIdx.x == 0) ptx::st_async(of_other(mine).value, 5, &mine.arrived);
    wait_for(mine);
}
constexpr int kOwnBarrier = __LINE__ - 3;

__global__ void stores_twice(const int*, int*) {
    __shared__ Inbox mine;
    open(mine, 8);
    if (threadIdx.x == 0) {
        ptx::st_async(of_other(mine).value, 5, &of_other(mine).arrived);
        ptx::st_async(of_other(mine).value, 6, &of_other(mine).arrived);
    }
    wait_for(mine);
}
constexpr int kStoresTwice = __LINE__ - 4;

__global__ void adds_to_what_is_being_written(const int*, int*) {
    __shared__ Inbox mine;
    open(mine, 4);
    if (cg::this_cluster().block_rank() == 1) {
        if (threadIdx.x == 0) mine.value[0] = 7;
        cg::this_cluster().sync();
    } else {
        cg::this_cluster().sync();
    }
    if (threadIdx.x == 0) mine.value[1] = 7;
    if (threadIdx.x == 1) ptx::red_async(ptx::op_add, mine.value + 1, 1, &mine.arrived);
    wait_for(mine);
}
constexpr int kAddsToWritten = __LINE__ - 3;

__global__ void leaves_while_it_is_sent_to(const int*, int*) {
    __shared__ Inbox mine;
    open(mine, 4);
    if (threadIdx.x == 0) ptx::st_async(of_other(mine).value, 5, &of_other(mine).arrived);
}
constexpr int kLeaves = __LINE__ - 2;

__global__ void sends_to_itself_and_leaves(const int*, int*) {
    __shared__ Inbox mine;
    open(mine, 4);
    if (threadIdx.x == 0) ptx::st_async(mine.value, 5, &mine.arrived);
}
constexpr int kSendsToItself = __LINE__ - 2;

__global__ void arrives_at_anothers_barrier(const int*, int*) {
    __shared__ Barrier barrier;
    if (threadIdx.x == 0) init(&barrier, kThreads);
    cg::this_cluster().sync();
    (void)cg::this_cluster().map_shared_rank(&barrier, 1)->arrive();
    cg::this_cluster().sync();
}
constexpr int kAnothersBarrier = __LINE__ - 3;

// ---------------------------------------------------------------- without clusters

__global__ void forgets_init(const int*, int*) {
    __shared__ Barrier barrier;
    barrier.arrive_and_wait();
}
constexpr int kForgetsInit = __LINE__ - 2;

__global__ void inits_twice(const int*, int*) {
    __shared__ Barrier barrier;
    if (threadIdx.x != 0) return;
    init(&barrier, 1);
    init(&barrier, 1);
}
constexpr int kInitsTwice = __LINE__ - 2;

__global__ void lacks_an_arrival(const int*, int*) {
    __shared__ Barrier barrier;
    if (threadIdx.x == 0) init(&barrier, kThreads + 1);
    __syncthreads();
    barrier.arrive_and_wait();
}
constexpr int kLacksArrival = __LINE__ - 2;

__global__ void arrives_too_often(const int*, int*) {
    __shared__ cuda::barrier<cuda::thread_scope_device> barrier;
    if (threadIdx.x != 0) return;
    init(&barrier, 2);
    (void)barrier.arrive(3);
}
constexpr int kArrivesTooOften = __LINE__ - 2;

__global__ void completes_against_its_word(const int*, int*) {
    __shared__ uint64_t barrier;
    if (threadIdx.x != 0) return;
    ptx::mbarrier_init(&barrier, 2);
    ptx::mbarrier_arrive_no_complete(&barrier, 2);
}
constexpr int kCompletes = __LINE__ - 2;

// By a bulk copy.
__global__ void reads_what_is_copied(const int* from, int* to) {
    __shared__ Barrier barrier;
    __shared__ alignas(16) int tile[kThreads];
    if (threadIdx.x == 0) init(&barrier, kThreads);
    __syncthreads();
    cuda::memcpy_async(cg::this_thread_block(), tile, from, cuda::aligned_size_t<16>(kBytes),
                       barrier);
    auto token = barrier.arrive();
    to[threadIdx.x] = tile[threadIdx.x];
    barrier.wait(std::move(token));
}
constexpr int kReadsCopied = __LINE__ - 3;

// By each thread.
__global__ void reads_what_threads_copy(const int* from, int* to) {
    __shared__ Barrier barrier;
    __shared__ int tile[kThreads];
    if (threadIdx.x == 0) init(&barrier, kThreads);
    __syncthreads();
    cuda::memcpy_async(tile + threadIdx.x, from + threadIdx.x, sizeof(int), barrier);
    auto token = barrier.arrive();
    to[threadIdx.x] = tile[threadIdx.x];
    barrier.wait(std::move(token));
}
constexpr int kReadsThreads = __LINE__ - 3;

__global__ void expects_more_than_is_copied(const int* from, int*) {
    __shared__ Barrier barrier;
    __shared__ alignas(16) int tile[kThreads];
    if (threadIdx.x != 0) return;
    init(&barrier, 1);
    cuda::device::memcpy_async_tx(tile, from, cuda::aligned_size_t<16>(kBytes), barrier);
    auto token = cuda::device::barrier_arrive_tx(barrier, 1, 2 * kBytes);
    barrier.wait(std::move(token));
}
constexpr int kExpects = __LINE__ - 2;

__global__ void stores_what_it_did_not_fence(const int*, int* to) {
    namespace cde = cuda::device::experimental;
    __shared__ alignas(16) int tile[kThreads];
    tile[threadIdx.x] = 1;
    __syncthreads();
    if (threadIdx.x == 0) {
        cde::cp_async_bulk_shared_to_global(to, tile, sizeof tile);
        cde::cp_async_bulk_commit_group();
        cde::cp_async_bulk_wait_group_read<0>();
    }
}
constexpr int kNotFenced = __LINE__ - 5;

struct Mistake {
    void (*kernel)(const int*, int*);
    int blocks;  // of a cluster
    int line;    // 0: not looked at
    std::vector<std::string> what;
    cudaError_t code = cudaErrorLaunchFailure;
};

TEST_CASE("mistakes with libcu++'s barriers, copies and asynchronous stores are named") {
    const Mistake mistakes[] = {
        {reads_too_early,
         2,
         kReadsTooEarly,
         {"load of 4 bytes from", "asynchronous store", "the store was begun"}},
        {expects_more,
         2,
         0,
         {"the mbarrier at byte 16 of `mine`", "lacks 4 bytes that are expected"}},
        {stores_a_misaligned_pair,
         2,
         kMisalignedPair,
         {"st.async: the destination is 4 bytes past a multiple of 8"},
         cudaErrorMisalignedAddress},
        {has_its_own_barrier_count,
         2,
         kOwnBarrier,
         {"st.async: the mbarrier", "use mapa for both, with the same rank"},
         cudaErrorIllegalAddress},
        {stores_twice,
         2,
         kStoresTwice,
         {"st.async overwrites the destination of an asynchronous store that is under way"}},
        {adds_to_what_is_being_written,
         2,
         kAddsToWritten,
         {"red.async combines with what thread (0,0,0) writes, and nothing orders the two"}},
        {leaves_while_it_is_sent_to,
         2,
         kLeaves,
         {"asynchronous store of 4 bytes to shared memory of block",
          "it does not wait for this access"}},
        {sends_to_itself_and_leaves,
         1,
         kSendsToItself,
         {"the block has ended while this asynchronous store is under way"}},
        {arrives_at_anothers_barrier,
         2,
         kAnothersBarrier,
         {"a cuda::barrier in shared memory of another block, where a GPU traps"}},
        {forgets_init, 1, kForgetsInit, {"there is no mbarrier here: mbarrier.init has not run"}},
        {inits_twice, 1, kInitsTwice, {"mbarrier.init of an mbarrier that is in use"}},
        {lacks_an_arrival,
         1,
         kLacksArrival,
         {"no thread can go on", "`barrier`", "lacks 1 of 33 arrivals"}},
        {arrives_too_often,
         1,
         kArrivesTooOften,
         {"arrival of 3 too many at a cuda::barrier whose phase lacks 2"}},
        {completes_against_its_word,
         1,
         kCompletes,
         {"mbarrier.arrive.noComplete is the last arrival at the mbarrier `barrier`"}},
        {reads_what_is_copied,
         1,
         kReadsCopied,
         {"load of 4 bytes from the destination of a bulk copy that is under way"}},
        {reads_what_threads_copy,
         1,
         kReadsThreads,
         {"the destination of an asynchronous copy that is under way: no thread has waited for "
          "the phase of the barrier"}},
        {expects_more_than_is_copied, 1, kExpects, {"lacks 128 bytes that are expected"}},
        {stores_what_it_did_not_fence,
         1,
         kNotFenced,
         {"cp.async.bulk reads what thread (0,0,0) has written as threads do"}},
    };
    DeviceArray<int> from(kThreads), to(kThreads);
    from.fill(std::vector<int>(kThreads, 5));
    for (const Mistake& mistake : mistakes) {
        INFO("line " << mistake.line << ": " << mistake.what.front());
        (void)launch_cluster(mistake.kernel, dim3(2), dim3(kThreads),
                             dim3(static_cast<unsigned>(mistake.blocks)), 0, from.data(),
                             to.data());
        std::vector<std::string> what = mistake.what;
        if (mistake.line != 0) what.push_back(at_line("tests/libcu.cu", mistake.line));
        check_failure(mistake.code, what);
    }
}

}  // namespace libcu_tests

// NOLINTEND(performance-move-const-arg, bugprone-use-after-move)
