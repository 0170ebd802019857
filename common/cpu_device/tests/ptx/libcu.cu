// SPDX-License-Identifier: MIT
// cuda::barrier, cuda::ptx and cuda::memcpy_async: rings between warps, bytes that a barrier counts, messages between the
// blocks of a cluster. On a GPU the toolkit's own headers are held to the same.
#include <cooperative_groups.h>
#include <cuda.h>
#include <cudaTypedefs.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cuda/barrier>
#include <cuda/ptx>
#include <numeric>
#include <vector>

#include "common/cpu_device/tests/clusters.cuh"
#include "common/testing/catch.hpp"
#include "common/testing/skip.hpp"

// A barrier in shared memory has a constructor, which does not run.
#pragma nv_diag_suppress static_var_with_dynamic_init

// Tokens are moved, as the interface asks; here, as in the toolkit, they are numbers.
// NOLINTBEGIN(performance-move-const-arg, bugprone-use-after-move)

namespace ptx_tests {
namespace {

namespace cg = cooperative_groups;
namespace ptx = cuda::ptx;

using Barrier = cuda::barrier<cuda::thread_scope_block>;
static_assert(sizeof(Barrier) == sizeof(uint64_t));

constexpr int kThreads = 64;
constexpr int kTiles = 7;
constexpr size_t kTileBytes = kThreads * sizeof(int);
constexpr int kBlocks = 4;  // of a cluster

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
#define PTX_HAS_CLUSTERS
#endif

// The first warp fetches, 16 bytes a lane or in one bulk copy; the second one turns each tile round. Each tells the other by a
// barrier, and nobody else meets.
template <size_t alignment>
__global__ void ring(const int* from, int* to) {
    __shared__ Barrier full[2], empty[2];
    __shared__ alignas(128) int tile[2][kThreads];
    if (threadIdx.x == 0) {
        for (int i = 0; i < 2; ++i) {
            init(&full[i], 32);
            init(&empty[i], 32);
        }
    }
    __syncthreads();
    const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    for (int t = 0; t < kTiles; ++t) {
        const int stage = t % 2;
        const bool parity = t / 2 % 2 != 0;
        if (threadIdx.x < 32) {
            empty[stage].wait_parity(!parity);
            cuda::memcpy_async(warp, tile[stage], from + t * kThreads,
                               cuda::aligned_size_t<alignment>(kTileBytes), full[stage]);
            (void)full[stage].arrive();
        } else {
            full[stage].wait_parity(parity);
            for (int i = warp.thread_rank(); i < kThreads; i += 32)
                to[t * kThreads + i] = tile[stage][kThreads - 1 - i];
            (void)empty[stage].arrive();
        }
    }
}

// Tokens, counts other than 1, and threads that leave.
__global__ void leavers(int* sums) {
    __shared__ Barrier barrier;
    __shared__ int total;
    if (threadIdx.x == 0) {
        init(&barrier, kThreads);
        total = 0;
    }
    __syncthreads();
    auto token = barrier.arrive();
    atomicAdd(&total, 1);
    while (!barrier.try_wait_for(std::move(token), cuda::std::chrono::microseconds(1))) {
    }
    if (threadIdx.x >= 32) return barrier.arrive_and_drop();
    barrier.arrive_and_wait();  // with those who leave
    if (threadIdx.x == 0) sums[0] = total;
    if (threadIdx.x % 2 == 0) {
        auto both = barrier.arrive(2);
        barrier.wait(std::move(both));
    }
    __syncwarp();
    if (threadIdx.x == 0) sums[1] = total + 1;
}

// Calls a function at the end of each phase, before anybody goes on.
struct Doubles {
    int* number;
    __device__ void operator()() const noexcept { *number *= 2; }
};
__global__ void with_function(int* number) {
    __shared__ cuda::barrier<cuda::thread_scope_block, Doubles> barrier;
    if (threadIdx.x == 0) {
        *number = 1;
        init(&barrier, kThreads, Doubles{number});
    }
    __syncthreads();
    for (int i = 0; i < 5; ++i) {
        barrier.arrive_and_wait();
        const int seen = *static_cast<volatile int*>(number);
        if (seen != 2 << i) *number = -1000;
        barrier.arrive_and_wait();
        if (threadIdx.x == 0) *number /= 2;
        __syncthreads();
    }
}

// Blocks that wait for each other at a barrier in global memory.
__global__ void across_blocks(cuda::barrier<cuda::thread_scope_device>* barrier, int* count,
                              int* to) {
    if (threadIdx.x != 0) return;
    atomicAdd(count, 1);
    barrier->arrive_and_wait();
    to[blockIdx.x] = atomicAdd(count, 0);
}
__global__ void begin_across(cuda::barrier<cuda::thread_scope_device>* barrier, int* count) {
    init(barrier, kBlocks);
    *count = 0;
}

// A bulk copy whose bytes the barrier's arrival expects, and one back.
__global__ void there_and_back(const int* from, int* to) {
#ifdef PTX_HAS_CLUSTERS
    namespace cde = cuda::device::experimental;
    __shared__ alignas(128) int tile[kTiles * kThreads];
    __shared__ Barrier barrier;
    if (threadIdx.x == 0) {
        init(&barrier, kThreads);
        cde::fence_proxy_async_shared_cta();
    }
    __syncthreads();
    Barrier::arrival_token token;
    if (threadIdx.x == 0) {
        cuda::device::memcpy_async_tx(tile, from, cuda::aligned_size_t<16>(sizeof tile / 2),
                                      barrier);
        cuda::device::barrier_expect_tx(barrier, sizeof tile / 2);
        cde::cp_async_bulk_global_to_shared(tile + kTiles * kThreads / 2,
                                            from + kTiles * kThreads / 2, sizeof tile / 2, barrier);
        token = cuda::device::barrier_arrive_tx(barrier, 1, sizeof tile / 2);
    } else {
        token = barrier.arrive();
    }
    barrier.wait(std::move(token));
    for (int i = threadIdx.x; i < kTiles * kThreads; i += kThreads) tile[i] += 1;
    cde::fence_proxy_async_shared_cta();
    __syncthreads();
    if (threadIdx.x == 0) {
        cde::cp_async_bulk_shared_to_global(to, tile, sizeof tile);
        cde::cp_async_bulk_commit_group();
        cde::cp_async_bulk_wait_group_read<0>();
    }
#endif
}

constexpr int kRows = 8, kColumns = 32;

__global__ void box_there_and_back(const __grid_constant__ CUtensorMap source,
                                   const __grid_constant__ CUtensorMap target) {
#ifdef PTX_HAS_CLUSTERS
    namespace cde = cuda::device::experimental;
    __shared__ alignas(128) int tile[kRows][kColumns];
    __shared__ Barrier barrier;
    if (threadIdx.x == 0) {
        init(&barrier, 1);
        cde::fence_proxy_async_shared_cta();
        cde::cp_async_bulk_tensor_2d_global_to_shared(tile, &source, kColumns, kRows, barrier);
        (void)cuda::device::barrier_arrive_tx(barrier, 1, sizeof tile);
    }
    __syncthreads();
    barrier.wait_parity(false);
    for (auto& row : tile) {
        if (threadIdx.x < kColumns) row[threadIdx.x] += 1;
    }
    cde::fence_proxy_async_shared_cta();
    __syncthreads();
    if (threadIdx.x == 0) {
        const int32_t place[] = {0, kRows};
        ptx::cp_async_bulk_tensor(ptx::space_global, ptx::space_shared, &target, place, tile);
        ptx::cp_async_bulk_commit_group();
        ptx::cp_async_bulk_wait_group(ptx::n32_t<0>());
    }
#endif
}

struct Messages {
    int2 pairs[kBlocks];
    float4 four[kBlocks];
    double one[kBlocks];
    unsigned sum, least, bits;
    int most;
    unsigned long long long_sum;
    uint64_t arrived;
};
[[maybe_unused]] constexpr unsigned kOfAll =
    kBlocks * (sizeof(int2) + sizeof(float4) + sizeof(double) + 6 * sizeof(unsigned) +
               sizeof(unsigned long long));

// Each block sends values to all, and all of them combine what they get, without a barrier of the cluster after that.
__global__ void messages(int* to) {
#ifdef PTX_HAS_CLUSTERS
    __shared__ alignas(16) Messages mine;
    const auto cluster = cg::this_cluster();
    const int rank = static_cast<int>(ptx::get_sreg_cluster_ctarank());
    if (threadIdx.x == 0) {
        const unsigned bytes = kOfAll;
        mine.sum = 100;
        mine.least = 1000;
        mine.bits = 0;
        mine.most = -1000;
        mine.long_sum = 1ull << 40;
        ptx::mbarrier_init(&mine.arrived, 1);
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared,
                                       &mine.arrived, bytes);
    }
    ptx::barrier_cluster_arrive(ptx::sem_release);
    ptx::barrier_cluster_wait(ptx::sem_acquire);
    if (threadIdx.x < kBlocks) {
        const auto there = static_cast<unsigned>(threadIdx.x);
        Messages& other = *cluster.map_shared_rank(&mine, there);
        if (ptx::getctarank(ptx::space_cluster, &other) != there) to[0] = -1;
        const int pair[] = {rank, 10 * rank};
        const auto number = static_cast<float>(rank);
        const float four[] = {number, 2 * number, 3 * number, 4 * number};
        ptx::st_async(&other.pairs[rank].x, pair, &other.arrived);
        ptx::st_async(&other.four[rank].x, four, &other.arrived);
        const auto address = [](const void* pointer) {
            return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
        };
        asm volatile(
            "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.f64 [%0], %1, [%2];" ::"r"(
                address(&other.one[rank])),
            "d"(0.5 * rank), "r"(address(&other.arrived))
            : "memory");
        for (unsigned i = 1; i <= 2; ++i)
            ptx::red_async(ptx::op_add, &other.sum, i, &other.arrived);
        ptx::red_async(ptx::op_min, &other.least, 5u + rank, &other.arrived);
        ptx::red_async(ptx::op_max, &other.most, rank - 10, &other.arrived);
        ptx::red_async(ptx::op_or_op, &other.bits, 1u << rank, &other.arrived);
        asm volatile(
            "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%0], "
            "%1, "
            "[%2];" ::"r"(address(&other.sum)),
            "r"(1), "r"(address(&other.arrived))
            : "memory");
        asm volatile(
            "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u64 [%0], "
            "%1, "
            "[%2];" ::"r"(address(&other.long_sum)),
            "l"(1ull << 33), "r"(address(&other.arrived))
            : "memory");
    }
    while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cluster, &mine.arrived, 0)) {
    }
    if (threadIdx.x == 0) {
        int wrong = 0;
        for (int i = 0; i < kBlocks; ++i) {
            wrong += mine.pairs[i].x != i || mine.pairs[i].y != 10 * i;
            const auto number = static_cast<float>(i);
            wrong += mine.four[i].x != number || mine.four[i].w != 4 * number;
            wrong += mine.one[i] != 0.5 * i;
        }
        wrong += mine.sum != 100 + 4 * kBlocks || mine.least != 5 || mine.most != kBlocks - 11;
        wrong += mine.bits != (1u << kBlocks) - 1;
        wrong += mine.long_sum != (1ull << 40) + kBlocks * (1ull << 33);
        to[rank] = wrong;
    }
#endif
}

// Each block adds its tile to that of the first one, which waits for the bytes, and for an arrival from each.
__global__ void reductions(int* to) {
#ifdef PTX_HAS_CLUSTERS
    __shared__ alignas(16) int sum[kThreads], tile[kThreads];
    __shared__ uint64_t arrived;
    const auto cluster = cg::this_cluster();
    const int rank = static_cast<int>(cluster.block_rank());
    sum[threadIdx.x] = 1;
    tile[threadIdx.x] = rank * 1000 + static_cast<int>(threadIdx.x);
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(&arrived, kBlocks);
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    }
    ptx::fence_proxy_async(ptx::space_shared);
    cluster.sync();
    const uint32_t bytes = kTileBytes;
    if (threadIdx.x == 0) {
        uint64_t* const there = cluster.map_shared_rank(&arrived, 0);
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cluster, ptx::space_cluster,
                                       there, bytes);
        ptx::cp_reduce_async_bulk(ptx::space_cluster, ptx::space_shared, ptx::op_add,
                                  cluster.map_shared_rank(sum, 0), tile, bytes, there);
    }
    if (rank == 0) {
        while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cluster, &arrived, 0)) {
        }
        to[threadIdx.x] = sum[threadIdx.x];
    }
    cluster.sync();
#endif
}

class Numbers {
public:
    explicit Numbers(size_t count) {
        std::vector<int> values(count);
        std::iota(values.begin(), values.end(), 1);
        REQUIRE(cudaMalloc(&from_, count * sizeof(int)) == cudaSuccess);
        REQUIRE(cudaMalloc(&to_, count * sizeof(int)) == cudaSuccess);
        REQUIRE(cudaMemcpy(from_, values.data(), count * sizeof(int), cudaMemcpyHostToDevice) ==
                cudaSuccess);
        REQUIRE(cudaMemset(to_, 0, count * sizeof(int)) == cudaSuccess);
        count_ = count;
    }
    Numbers(const Numbers&) = delete;
    Numbers& operator=(const Numbers&) = delete;
    ~Numbers() {
        cudaFree(from_);
        cudaFree(to_);
    }
    int* from() const { return from_; }
    int* to() const { return to_; }
    std::vector<int> got() const {
        REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
        std::vector<int> values(count_);
        REQUIRE(cudaMemcpy(values.data(), to_, count_ * sizeof(int), cudaMemcpyDeviceToHost) ==
                cudaSuccess);
        return values;
    }

private:
    int *from_ = nullptr, *to_ = nullptr;
    size_t count_ = 0;
};

bool has_clusters() {
    int major = 0;
    REQUIRE(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0) == cudaSuccess);
    return major >= 9;
}

CUtensorMap map_of(int* data) {
    static const auto encode = [] {
        void* found = nullptr;
        cudaDriverEntryPointQueryResult result;
        REQUIRE(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000,
                                                 cudaEnableDefault, &result) == cudaSuccess);
        return reinterpret_cast<PFN_cuTensorMapEncodeTiled_v12000>(found);
    }();
    CUtensorMap map;
    const cuuint64_t size[] = {2 * kColumns, 2 * kRows}, stride[] = {2 * kColumns * sizeof(int)};
    const cuuint32_t box[] = {kColumns, kRows}, step[] = {1, 1};
    REQUIRE(encode(&map, CU_TENSOR_MAP_DATA_TYPE_INT32, 2, data, size, stride, box, step,
                   CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
                   CU_TENSOR_MAP_L2_PROMOTION_NONE,
                   CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS);
    return map;
}

}  // namespace

TEST_CASE("cuda::barrier: a ring between two warps, by copies of each lane and by bulk copies") {
    for (const auto kernel : {ring<4>, ring<16>}) {
        const Numbers numbers(kTiles * kThreads);
        kernel<<<3, kThreads>>>(numbers.from(), numbers.to());
        const std::vector<int> got = numbers.got();
        for (int i = 0; i < kTiles * kThreads; ++i) {
            const int tile = i / kThreads * kThreads;
            REQUIRE(got[i] == tile + kThreads - (i - tile));
        }
    }
}

TEST_CASE("cuda::barrier: threads leave, arrive for others, and call a function") {
    const Numbers numbers(2);
    leavers<<<2, kThreads>>>(numbers.to());
    CHECK(numbers.got() == std::vector<int>{kThreads, kThreads + 1});
    with_function<<<1, kThreads>>>(numbers.to());
    CHECK(numbers.got()[0] == 32);
}

TEST_CASE("cuda::barrier in global memory: blocks wait for each other") {
    const Numbers numbers(kBlocks);
    cuda::barrier<cuda::thread_scope_device>* barrier = nullptr;
    REQUIRE(cudaMalloc(&barrier, sizeof *barrier) == cudaSuccess);
    begin_across<<<1, 1>>>(barrier, numbers.from());
    int* count = numbers.from();
    int* to = numbers.to();
    void* arguments[] = {&barrier, &count, &to};
    REQUIRE(cudaLaunchCooperativeKernel(across_blocks, dim3(kBlocks), dim3(32), arguments) ==
            cudaSuccess);
    CHECK(numbers.got() == std::vector<int>(kBlocks, kBlocks));
    cudaFree(barrier);
}

TEST_CASE("cuda::barrier counts the bytes of bulk and tensor copies") {
    if (!has_clusters()) testing::skip("bulk copies need compute capability 9.0");
    const Numbers numbers(kTiles * kThreads);
    there_and_back<<<2, kThreads>>>(numbers.from(), numbers.to());
    const std::vector<int> got = numbers.got();
    for (int i = 0; i < kTiles * kThreads; ++i) REQUIRE(got[i] == i + 2);

    const Numbers tensor(4 * kRows * kColumns);
    box_there_and_back<<<1, kThreads>>>(map_of(tensor.from()), map_of(tensor.to()));
    const std::vector<int> box = tensor.got();
    for (int row = 0; row < 2 * kRows; ++row) {
        for (int column = 0; column < 2 * kColumns; ++column) {
            const bool inside = row >= kRows && column < kColumns;
            const int wanted = row * 2 * kColumns + column + kColumns + 2;
            REQUIRE(box[row * 2 * kColumns + column] == (inside ? wanted : 0));
        }
    }
}

TEST_CASE("blocks of a cluster send each other values by st.async and red.async") {
    if (!has_clusters()) testing::skip("clusters need compute capability 9.0");
    const Numbers numbers(kBlocks);
    CHECK(launch_cluster(messages, 2 * kBlocks, kThreads, kBlocks, 0, numbers.to()) == cudaSuccess);
    CHECK(numbers.got() == std::vector<int>(kBlocks, 0));
    const Numbers sums(kThreads);
    CHECK(launch_cluster(reductions, kBlocks, kThreads, kBlocks, 0, sums.to()) == cudaSuccess);
    const std::vector<int> got = sums.got();
    for (int i = 0; i < kThreads; ++i)
        REQUIRE(got[i] == 1 + 1000 * (kBlocks * (kBlocks - 1) / 2) + kBlocks * i);
}

}  // namespace ptx_tests

// NOLINTEND(performance-move-const-arg, bugprone-use-after-move)
