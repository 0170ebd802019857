// SPDX-License-Identifier: MIT
//
// What public kernels do and is right: everything here must run, and nothing of it be found fault with.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <cub/cub.cuh>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>

#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                            \
    do {                                                                                       \
        const cudaError_t error = (call);                                                      \
        if (error != cudaSuccess) {                                                            \
            std::fprintf(stderr, "%s:%d %s\n", __FILE__, __LINE__, cudaGetErrorString(error)); \
            std::exit(EXIT_FAILURE);                                                           \
        }                                                                                      \
    } while (0)

#define REQUIRE(condition)                                                      \
    do {                                                                        \
        if (!(condition)) {                                                     \
            std::fprintf(stderr, "%s:%d %s\n", __FILE__, __LINE__, #condition); \
            std::exit(EXIT_FAILURE);                                            \
        }                                                                       \
    } while (0)

#ifdef __CUDACC__
#define HOST_DEVICE __host__ __device__
#else
#define HOST_DEVICE
#endif

constexpr int kBlocks = 8, kThreads = 128, kCount = kBlocks * kThreads;

HOST_DEVICE float halved(float x) {
    return x / 2;
}

__global__ void halves(float* y, const float* x, const int* nothing) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = (nothing == nullptr ? halved(x[i]) * 0.5 : 1.0);
}

__device__ int fibonacci(int n) {
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}
__device__ bool is_odd(int n);
__device__ bool is_even(int n) {
    return n == 0 || is_odd(n - 1);
}
__device__ bool is_odd(int n) {
    return n != 0 && is_even(n - 1);
}
__global__ void recursive(int* x) {
    x[threadIdx.x] = fibonacci(static_cast<int>(threadIdx.x) % 8) + is_even(10);
}

// The last block to finish sums what the others left: fences and an atomic counter order it.
__device__ unsigned int finished = 0;
__global__ void sum_by_last_block(float* sum, float* partial, const float* x) {
    __shared__ float mine[kThreads];
    __shared__ bool is_last;
    mine[threadIdx.x] = x[blockIdx.x * blockDim.x + threadIdx.x];
    __syncthreads();
    for (int half = kThreads / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) mine[threadIdx.x] += mine[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = mine[0];
        __threadfence();
        is_last = atomicAdd(&finished, 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (is_last && threadIdx.x == 0) {
        float total = 0;
        for (unsigned i = 0; i < gridDim.x; i++) total += partial[i];
        *sum = total;
        finished = 0;
    }
}

// Each block waits for the one before it, by a flag.
__global__ void one_after_the_other(int* x, volatile int* flags) {
    if (threadIdx.x != 0) return;
    if (blockIdx.x > 0) {
        while (flags[blockIdx.x - 1] == 0) {
        }
    }
    __threadfence();
    x[0] = x[0] + 1;
    __threadfence();
    flags[blockIdx.x] = 1;
}

__global__ void histogram(int* bins, const int* keys) {
    __shared__ int mine[16];
    if (threadIdx.x < 16) mine[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&mine[keys[blockIdx.x * blockDim.x + threadIdx.x] % 16], 1);
    __syncthreads();
    if (threadIdx.x < 16) atomicAdd(&bins[threadIdx.x], mine[threadIdx.x]);
}

__global__ void whole_grid(int* x) {
    const auto grid = cooperative_groups::this_grid();
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    x[i] = static_cast<int>(i);
    grid.sync();
    const int other = x[kCount - 1 - i];
    grid.sync();
    x[i] = other;
}

struct Size {
    int rows, cols;
};
__global__ void pitched(float* x, size_t pitch, Size size, float4 added) {
    const int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
    if (col < size.cols && row < size.rows) {
        reinterpret_cast<float*>(reinterpret_cast<char*>(x) + row * pitch)[col] =
            added.x + row + col;
    }
}

__constant__ float weights[4];
__global__ void weighted(float* y, const float* x) {
    y[threadIdx.x] = x[threadIdx.x] * weights[threadIdx.x % 4];
}

__device__ float scales[4] = {1, 2, 3, 4};
__managed__ int seen = 0;
__device__ int calls_so_far() {
    static int calls;  // the device's, as its function
    return atomicAdd(&calls, 1);
}
__global__ void scaled(float* y, const float* by) {
    y[threadIdx.x] *= by[threadIdx.x % 4];
    if (threadIdx.x == 0) seen = seen + calls_so_far() + 1;
}

#define LAUNCH(name, ...) name##_kernel<<<1, 32>>>(__VA_ARGS__)
__global__ void pasted_kernel(char* x) {
    x[threadIdx.x] = 'a';  // several threads in one word: no race
}

using Barrier = cuda::barrier<cuda::thread_scope_block>;
__global__ void with_barrier(int* x, int* count) {
    __shared__ Barrier barrier;
    __shared__ int tile[64];
    if (threadIdx.x == 0) init(&barrier, blockDim.x);
    __syncthreads();
    tile[threadIdx.x] = static_cast<int>(threadIdx.x);
    barrier.arrive_and_wait();
    x[threadIdx.x] = tile[63 - threadIdx.x];
    auto token = barrier.arrive();
    barrier.wait(std::move(token));
    cuda::atomic_ref<int, cuda::thread_scope_device> total(*count);
    total.fetch_add(1, cuda::memory_order_relaxed);
}

// Two stages: what is copied while the other is used.
__global__ void pipelined(int* to, const int* from, int tiles) {
    __shared__ alignas(16) int tile[2][64];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    const auto block = cooperative_groups::this_thread_block();
    auto pipeline = cuda::make_pipeline(block, &state);
    const auto fetch = [&](int i) {
        pipeline.producer_acquire();
        cuda::memcpy_async(block, tile[i % 2], from + i * 64, cuda::aligned_size_t<16>(256),
                           pipeline);
        pipeline.producer_commit();
    };
    fetch(0);
    for (int i = 0; i < tiles; i++) {
        if (i + 1 < tiles) fetch(i + 1);
        pipeline.consumer_wait();
        to[i * 64 + threadIdx.x] = tile[i % 2][63 - threadIdx.x];
        pipeline.consumer_release();
    }
}

__global__ void copied_with_barrier(int* to, const int* from) {
    __shared__ Barrier barrier;
    extern __shared__ int tile[];
    if (threadIdx.x == 0) init(&barrier, blockDim.x);
    __syncthreads();
    cuda::memcpy_async(tile + threadIdx.x, from + threadIdx.x, sizeof(int), barrier);
    barrier.arrive_and_wait();
    to[threadIdx.x] = tile[63 - threadIdx.x];
}

__global__ void largest(int* key, const int* x) {
    using Pair = cub::KeyValuePair<int, int>;
    using Reduce = cub::BlockReduce<Pair, 64>;
    __shared__ typename Reduce::TempStorage storage;
    int items[4];
    cub::LoadDirectStriped<64>(threadIdx.x, x, items);
    Pair mine{0, items[0]};
    for (int i = 1; i < 4; i++) {
        const int place = i * 64 + static_cast<int>(threadIdx.x);
        mine = cub::ArgMax()(mine, {place, items[i]});
    }
    const Pair best = Reduce(storage).Reduce(mine, cub::ArgMax());
    if (threadIdx.x == 0) *key = best.key;
}

// What lies between the members nobody writes, and a copy reads.
struct Best {
    double value;
    int index;
};
template <class T>
struct Pair {
    T a;
    float b;
};
struct __align__(16) Node {
    float value;
    int index;
};
typedef struct {
    float x, y, z;
    bool is_alive;
} Particle;

__device__ Best better(Best a, Best b) {
    return a.value >= b.value ? a : b;
}
__global__ void padded(Best* best, Node* nodes, Particle* particles, Pair<double>* pairs) {
    __shared__ Best mine[64];
    __shared__ Pair<char> marks[64];
    const unsigned i = threadIdx.x;
    mine[i].value = i;
    mine[i].index = static_cast<int>(i);
    marks[i].a = 1;
    marks[i].b = 2;
    particles[i].x = particles[i].y = particles[i].z = 1;
    particles[i].is_alive = true;
    nodes[i].value = 1;
    nodes[i].index = 2;
    pairs[i].a = 1;
    pairs[i].b = 2;
    __syncthreads();
    for (unsigned half = 32; half > 0; half /= 2) {
        if (i < half) mine[i] = better(mine[i], mine[i + half]);
        __syncthreads();
    }
    const Particle particle = particles[63 - i];
    const Node node = nodes[63 - i];
    const Pair<double> pair = pairs[63 - i];
    const Pair<char> mark = marks[63 - i];
    __syncthreads();
    particles[i] = particle;
    nodes[i] = node;
    pairs[i] = pair;
    marks[i] = mark;
    if (i == 0) *best = mine[0];
}

__global__ void __cluster_dims__(2, 1, 1) in_pairs(int* x) {
    cooperative_groups::cluster_group cluster = cooperative_groups::this_cluster();
    if (threadIdx.x == 0) x[blockIdx.x] = 10 * cluster.num_blocks() + cluster.block_rank();
}

__global__ void counted_by_atomic(int* x) {
    __shared__ cuda::atomic<int, cuda::thread_scope_block> count;
    if (threadIdx.x == 0) count.store(0);
    __syncthreads();
    count.fetch_add(2);
    __syncthreads();
    if (threadIdx.x == 0) *x = count.load();
}

int main() {
    float *x, *y;
    int* numbers;
    CHECK(cudaMalloc(&x, kCount * sizeof(float)));
    CHECK(cudaMalloc(&y, kCount * sizeof(float)));
    CHECK(cudaMalloc(&numbers, kCount * sizeof(int)));
    std::vector<float> host(kCount, 1.f);
    CHECK(cudaMemcpy(x, host.data(), kCount * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemset(numbers, 0, kCount * sizeof(int)));

    halves<<<kBlocks, kThreads>>>(y, x, 0);
    halves<<<kBlocks, kThreads>>>(y, x, NULL);
    CHECK(cudaMemcpy(host.data(), y, kCount * sizeof(float), cudaMemcpyDeviceToHost));
    REQUIRE(host[kCount - 1] == 0.25f);

    recursive<<<1, 32>>>(numbers);
    std::vector<int> whole(kCount);
    CHECK(cudaMemcpy(whole.data(), numbers, 32 * sizeof(int), cudaMemcpyDeviceToHost));
    REQUIRE(whole[7] == 14);

    float *sum, *partial;
    CHECK(cudaMalloc(&sum, sizeof(float)));
    CHECK(cudaMalloc(&partial, kBlocks * sizeof(float)));
    for (int i = 0; i < 3; i++) sum_by_last_block<<<kBlocks, kThreads>>>(sum, partial, x);
    float result = 0;
    CHECK(cudaMemcpy(&result, sum, sizeof result, cudaMemcpyDeviceToHost));
    REQUIRE(result == kCount);

    int* flags;
    CHECK(cudaMalloc(&flags, kBlocks * sizeof(int)));
    CHECK(cudaMemset(flags, 0, kBlocks * sizeof(int)));
    CHECK(cudaMemset(numbers, 0, kCount * sizeof(int)));
    one_after_the_other<<<kBlocks, 32>>>(numbers, flags);
    int* bins;
    CHECK(cudaMalloc(&bins, 16 * sizeof(int)));
    CHECK(cudaMemset(bins, 0, 16 * sizeof(int)));
    histogram<<<kBlocks, kThreads>>>(bins, numbers);
    CHECK(cudaMemcpy(whole.data(), numbers, sizeof(int), cudaMemcpyDeviceToHost));
    REQUIRE(whole[0] == kBlocks);

    void* arguments[] = {&numbers};
    CHECK(cudaLaunchCooperativeKernel((void*)whole_grid, dim3(kBlocks), dim3(kThreads), arguments,
                                      0, 0));
    CHECK(cudaMemcpy(whole.data(), numbers, kCount * sizeof(int), cudaMemcpyDeviceToHost));
    REQUIRE(whole[0] == kCount - 1);
    CHECK(cudaLaunchKernel((const void*)recursive, 1, 32, arguments, 0, 0));

    float* rows;
    size_t pitch;
    CHECK(cudaMallocPitch(&rows, &pitch, 100 * sizeof(float), 10));
    pitched<<<dim3(1, 10), 128>>>(rows, pitch, {10, 100}, {1, 2, 3, 4});
    CHECK(cudaGetLastError());
    std::vector<float> matrix(1000);
    CHECK(cudaMemcpy2D(matrix.data(), 400, rows, pitch, 400, 10, cudaMemcpyDeviceToHost));
    REQUIRE(matrix[999] == 109.f);

    const float values[] = {1, 2, 3, 4};
    CHECK(cudaMemcpyToSymbol(weights, values, sizeof values));
    weighted<<<1, 64>>>(y, x);
    float* by;
    size_t bytes_of_scales = 0;
    CHECK(cudaGetSymbolAddress((void**)&by, scales));
    CHECK(cudaGetSymbolSize(&bytes_of_scales, scales));
    REQUIRE(bytes_of_scales == sizeof scales);
    seen = 5;
    scaled<<<1, 64>>>(y, by);
    CHECK(cudaDeviceSynchronize());
    REQUIRE(seen == 6);
    char* letters;
    CHECK(cudaMalloc(&letters, 32));
    LAUNCH(pasted, letters);

    CHECK(cudaMemset(bins, 0, 16 * sizeof(int)));
    with_barrier<<<1, 64>>>(numbers, bins);
    int* sorted;
    CHECK(cudaMalloc(&sorted, 64 * sizeof(int)));
    void* scratch = nullptr;
    size_t bytes = 0;
    for (int turn = 0; turn < 2; turn++) {
        if (turn == 1) CHECK(cudaMalloc(&scratch, bytes));
        CHECK(cub::DeviceRadixSort::SortKeys(scratch, bytes, numbers, sorted, 64));
        CHECK(cub::DeviceScan::InclusiveSum(scratch, bytes, sorted, sorted, 64));
        CHECK(cub::DeviceReduce::Sum(scratch, bytes, numbers, bins + 1, 64));
    }
    CHECK(cudaMemcpy(whole.data(), sorted, 64 * sizeof(int), cudaMemcpyDeviceToHost));
    REQUIRE(whole[0] == 0 && whole[2] == 3 && whole[63] == 2016);
    CHECK(cudaMemcpy(whole.data(), bins, 2 * sizeof(int), cudaMemcpyDeviceToHost));
    REQUIRE(whole[0] == 64 && whole[1] == 2016);

    for (int i = 0; i < 256; i++) whole[i] = i * 77 % 256;
    int* taken;
    CHECK(cudaMalloc(&taken, 256 * sizeof(int)));
    CHECK(cudaMemcpy(taken, whole.data(), 256 * sizeof(int), cudaMemcpyHostToDevice));
    pipelined<<<1, 64>>>(numbers, taken, 4);
    largest<<<1, 64>>>(bins, taken);
    copied_with_barrier<<<1, 64, 256>>>(taken + 64, taken);
    CHECK(cudaMemcpy(matrix.data(), numbers, 256 * sizeof(int), cudaMemcpyDeviceToHost));
    REQUIRE(reinterpret_cast<const int*>(matrix.data())[255] == 192 * 77 % 256);
    int first[2];
    CHECK(cudaMemcpy(first, bins, sizeof(int), cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(first + 1, taken + 127, sizeof(int), cudaMemcpyDeviceToHost));
    REQUIRE(whole[first[0]] == 255 && first[1] == 0);

    Best* best;
    Node* nodes;
    Particle* particles;
    Pair<double>* pairs;
    CHECK(cudaMalloc(&best, sizeof(Best)));
    CHECK(cudaMalloc(&nodes, 64 * sizeof(Node)));
    CHECK(cudaMalloc(&particles, 64 * sizeof(Particle)));
    CHECK(cudaMalloc(&pairs, 64 * sizeof(Pair<double>)));
    padded<<<1, 64>>>(best, nodes, particles, pairs);
    Best found;
    std::vector<Particle> all(64);
    CHECK(cudaMemcpy(&found, best, sizeof found, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(all.data(), particles, 64 * sizeof(Particle), cudaMemcpyDeviceToHost));
    REQUIRE(found.index == 63 && all[63].is_alive);

    in_pairs<<<4, 32>>>(numbers);
    counted_by_atomic<<<1, 64>>>(numbers + 4);
    int ranks[5];
    CHECK(cudaMemcpy(ranks, numbers, sizeof ranks, cudaMemcpyDeviceToHost));
    REQUIRE(ranks[0] == 20 && ranks[3] == 21 && ranks[4] == 128);

    int* managed;
    CHECK(cudaMallocManaged(&managed, kCount * sizeof(int)));
    for (int i = 0; i < kCount; i++) managed[i] = i;
    recursive<<<1, 32>>>(managed);
    CHECK(cudaDeviceSynchronize());
    REQUIRE(managed[7] == 14);
    for (void* memory : {(void*)x, (void*)y, (void*)numbers, (void*)sum, (void*)managed})
        CHECK(cudaFree(memory));
}
