// SPDX-License-Identifier: MIT
//
// Kernels in the styles found in public code. Each one's counts are derived by hand in its test.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_fp16.h>

#include "common/runner/device.hpp"
#include "common/xray/tests/counted.hpp"

using namespace xray;

namespace {

__inline__ __device__ float warpReduceSum(float val) {
    for (int mask = 16; mask > 0; mask >>= 1) val += __shfl_xor_sync(0xffffffff, val, mask, 32);
    return val;
}

// ---- static shared memory in a device function

__inline__ __device__ float blockReduceSum(float val) {
    static __shared__ float shared[32];
    int lane = threadIdx.x & 0x1f;
    int wid = threadIdx.x >> 5;
    val = warpReduceSum(val);
    if (lane == 0) shared[wid] = val;
    __syncthreads();
    val = (threadIdx.x < (blockDim.x >> 5)) ? shared[lane] : (float)(0.0f);
    val = warpReduceSum(val);
    return val;
}

__global__ void row_sums_by_blocks(const float* in, float* out, const int n) {
    __shared__ float s_sum;
    float sum = 0.0f;
    for (int tid = threadIdx.x; tid < n; tid += blockDim.x) sum += in[blockIdx.x * n + tid];
    sum = blockReduceSum(sum);
    if (threadIdx.x == 0) s_sum = sum;
    __syncthreads();
    for (int tid = threadIdx.x; tid < n; tid += blockDim.x) out[blockIdx.x * n + tid] = s_sum;
}

// ---- templates over pack types, loads and stores as functors

template <typename T, int N>
struct GetPackType {
    using type = typename std::aligned_storage<N * sizeof(T), N * sizeof(T)>::type;
};
template <typename T, int N>
using PackType = typename GetPackType<T, N>::type;

template <typename T, int N>
union Pack {
    static_assert(sizeof(PackType<T, N>) == sizeof(T) * N, "");
    __device__ Pack() {}
    PackType<T, N> storage;
    T elem[N];
};

template <typename SRC, typename DST>
struct DirectLoad {
    DirectLoad(const SRC* src, int64_t row_size) : src(src), row_size(row_size) {}
    template <int N>
    __device__ void load(DST* dst, int64_t row, int64_t col) const {
        Pack<SRC, N> pack;
        const int64_t offset = (row * row_size + col) / N;
        pack.storage = *(reinterpret_cast<const PackType<SRC, N>*>(src) + offset);
#pragma unroll
        for (int i = 0; i < N; ++i) dst[i] = static_cast<DST>(pack.elem[i]);
    }
    const SRC* src;
    int64_t row_size;
};

template <typename SRC, typename DST>
struct DirectStore {
    DirectStore(DST* dst, int64_t row_size) : dst(dst), row_size(row_size) {}
    template <int N>
    __device__ void store(const SRC* src, int64_t row, int64_t col) {
        Pack<DST, N> pack;
        const int64_t offset = (row * row_size + col) / N;
#pragma unroll
        for (int i = 0; i < N; ++i) pack.elem[i] = static_cast<DST>(src[i]);
        *(reinterpret_cast<PackType<DST, N>*>(dst) + offset) = pack.storage;
    }
    DST* dst;
    int64_t row_size;
};

template <typename LOAD, typename STORE, int pack_size>
__global__ void copy_packs(LOAD load, STORE store, const int64_t rows, const int64_t cols) {
    float buf[pack_size];
    for (int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
        for (int64_t pack = threadIdx.x; pack < cols / pack_size; pack += blockDim.x) {
            load.template load<pack_size>(buf, row, pack * pack_size);
            store.template store<pack_size>(buf, row, pack * pack_size);
        }
    }
}

// ---- volatile shared memory: the last warp's steps of a tree

template <unsigned int blockSize>
__device__ void warp_reduce(volatile float* sdata, unsigned int tid) {
    if (blockSize >= 64) sdata[tid] += sdata[tid + 32];
    __syncwarp();
    for (unsigned int step = 16; step > 0; step /= 2) {
        const float other = tid < step ? sdata[tid + step] : 0;
        __syncwarp();
        if (tid < step) sdata[tid] += other;
        __syncwarp();
    }
}

template <unsigned int blockSize>
__global__ void reduce_tree(float* g_idata, float* g_odata, unsigned int n) {
    extern __shared__ float sdata[];
    unsigned int tid = threadIdx.x;
    unsigned int i = blockIdx.x * (blockSize * 2) + tid;
    unsigned int gridSize = blockSize * 2 * gridDim.x;
    sdata[tid] = 0;
    while (i < n) {
        sdata[tid] += g_idata[i] + g_idata[i + blockSize];
        i += gridSize;
    }
    __syncthreads();
    if (blockSize >= 128) {
        if (tid < 64) sdata[tid] += sdata[tid + 64];
        __syncthreads();
    }
    if (tid < 32) warp_reduce<blockSize>(sdata, tid);
    if (tid == 0) g_odata[blockIdx.x] = sdata[0];
}

// ---- halves, eight at a time

__global__ void scale_half8(const half* x, half* y, float factor) {
    const int i = (blockIdx.x * blockDim.x + threadIdx.x) * 8;
    float4 raw = *(float4*)(x + i);
    half2* pairs = (half2*)&raw;
    for (int k = 0; k < 4; k++) pairs[k] = __hmul2(pairs[k], __float2half2_rn(factor));
    *(float4*)(y + i) = raw;
}

// ---- cooperative groups

namespace cg = cooperative_groups;

__global__ void sums_by_tiles(const float* x, float* y, int C) {
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
    int idx = blockIdx.x * warp.meta_group_size() + warp.meta_group_rank();
    const float* row = x + idx * C;
    float sum = 0.0f;
    for (int i = warp.thread_rank(); i < C; i += warp.size()) sum += row[i];
    sum = cg::reduce(warp, sum, cg::plus<float>{});
    if (warp.thread_rank() == 0) y[idx] = sum;
}

// ---- atomics in shared memory, then in global memory

__global__ void histogram(const int* x, int* bins, int n) {
    __shared__ int local[64];
    if (threadIdx.x < 64) local[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        atomicAdd(&local[x[i] & 63], 1);
    }
    __syncthreads();
    if (threadIdx.x < 64) atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
}

struct Expected {
    int64_t loads, load_sectors, stores, store_sectors;
    int64_t shared_loads = 0, shared_stores = 0, conflicts = 0;
};

template <class Launch>
std::vector<KernelCounts> expect(const Expected& expected, Launch launch) {
    const auto kernels = counted(launch);
    CHECK(requests(kernels, AccessKind::global_load) == expected.loads);
    CHECK(sectors(kernels, AccessKind::global_load) == expected.load_sectors);
    CHECK(requests(kernels, AccessKind::global_store) == expected.stores);
    CHECK(sectors(kernels, AccessKind::global_store) == expected.store_sectors);
    CHECK(requests(kernels, AccessKind::shared_load) == expected.shared_loads);
    CHECK(requests(kernels, AccessKind::shared_store) == expected.shared_stores);
    CHECK(conflicts(kernels) == expected.conflicts);
    CHECK(kernels.front().races.empty());
    CHECK(kernels.front().uninitialized_reads.empty());
    return kernels;
}

}  // namespace

TEST_CASE("kernels in public styles") {
    runner::DeviceBuffer<float> input(8192), output(8192);
    float* const x = input.data();
    float* const y = output.data();

    SECTION("static shared memory in a device function") {
        // Each of 4 rows of 256 on 4 warps: 8 loads, 8 stores. Shared: 4 stores of warps' sums, one
        // of the row's; one load of 4 lanes; the row's sum once by each warp, since nothing in the
        // loop can change it.
        expect({32, 128, 32, 128, 20, 20}, [&] { row_sums_by_blocks<<<4, 128>>>(x, y, 256); });
    }
    SECTION("packs of two halves, of eight floats") {
        // Half: 4 rows of 256, 128 packs of 4 bytes: 4 requests of 4 sectors a row, both ways.
        auto* const half_x = reinterpret_cast<half*>(x);
        const DirectLoad<half, float> load(half_x, 256);
        const DirectStore<float, half> store(half_x + 4096, 256);
        expect({16, 64, 16, 64}, [&] {
            copy_packs<DirectLoad<half, float>, DirectStore<float, half>, 2>
                <<<4, 128>>>(load, store, 4, 256);
        });
        // Eight floats are 32 bytes, two accesses: each touches half of 32 sectors.
        const DirectLoad<float, float> wide_load(x, 512);
        const DirectStore<float, float> wide_store(y, 512);
        const auto kernels = expect({16, 512, 16, 512}, [&] {
            copy_packs<DirectLoad<float, float>, DirectStore<float, float>, 8>
                <<<4, 64>>>(wide_load, wide_store, 4, 512);
        });
        CHECK(total(kernels, AccessKind::global_load).split_requests == 16);
    }
    SECTION("volatile shared memory") {
        // 2 blocks of 128 sum 512 elements: each thread adds one pair. A block's 4 warps: 8 loads;
        // a store (zeros), a load and a store (the pair). 2 warps add the upper half: 2 + 2 loads,
        // 2 stores. One warp: 2 loads and a store, then five steps of 2 loads and a store; the last
        // load by thread 0, which stores to global memory.
        expect({16, 64, 2, 2, 2 * (4 + 4 + 2 + 10 + 1), 2 * (8 + 2 + 1 + 5)},
               [&] { reduce_tree<128><<<2, 128, 128 * sizeof(float)>>>(x, y, 512); });
    }
    SECTION("eight halves at a time") {
        auto* const half_x = reinterpret_cast<half*>(x);
        expect({4, 64, 4, 64}, [&] { scale_half8<<<1, 128>>>(half_x, half_x + 2048, 0.5f); });
    }
    SECTION("cooperative groups") {
        // 8 rows of 100 on 8 warps, a row 12.5 sectors long: 4 + 4 + 4 + 1 sectors where it begins
        // with a sector, 5 + 5 + 5 + 1 in every other row.
        const auto kernels = counted([&] { sums_by_tiles<<<2, 128>>>(x, y, 100); });
        CHECK(requests(kernels, AccessKind::global_load) == 32);
        CHECK(sectors(kernels, AccessKind::global_load) == 4 * 13 + 4 * 16);
        CHECK(requests(kernels, AccessKind::global_store) == 8);
    }
    SECTION("atomics") {
        // 1024 elements on 256 threads in 2 blocks: 32 loads, 32 shared atomics; then 2 warps of
        // each block add 64 bins.
        runner::DeviceBuffer<int> numbers(1024), bins(64);
        const auto kernels = expect({32, 128, 0, 0, 4, 4}, [&] {
            histogram<<<2, 128>>>(numbers.data(), bins.data(), 1024);
        });
        CHECK(requests(kernels, AccessKind::shared_atomic) == 32);
        CHECK(requests(kernels, AccessKind::global_atomic) == 4);
    }
}
