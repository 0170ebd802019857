// SPDX-License-Identifier: MIT
//
// Programs that are wrong, one for each word on the command line. What has to be said of each stands in
// faults.txt, where @NAME is the line that carries that mark here. A mark stays on its line:
// clang-format off
#include <cooperative_groups.h>
#include <cuda_pipeline.h>

#include <algorithm>
#include <cassert>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <string>
#include <vector>

#include "words.cuh"

constexpr int kCount = 256;

// Device memory with zeros in it, unless told otherwise.
template <class T = float>
T* device(int count = kCount, bool filled = true) {
    T* data = nullptr;
    cudaMalloc(&data, count * sizeof(T));
    if (filled) cudaMemset(data, 0, count * sizeof(T));
    return data;
}

// ---------------------------------------------------------------- races in shared memory

__global__ void missing_barrier(float* x) {
    __shared__ float tile[kCount];
    tile[threadIdx.x] = x[threadIdx.x];           // @missing_barrier_write
    x[threadIdx.x] = tile[kCount - 1 - threadIdx.x];  // @missing_barrier_read
}

// ---------------------------------------------------------------- races in global memory

__global__ void neighbours_in_place(float* x) {
    if (threadIdx.x > 0) x[threadIdx.x] += x[threadIdx.x - 1];  // @neighbours
}

__global__ void sum_of_blocks(float* sum, const float* x) {
    if (threadIdx.x == 0) *sum += x[blockIdx.x];  // @sum_of_blocks
}

__device__ int counter;
__global__ void count_in_variable() {
    counter++;  // @count_in_variable
}

// ---------------------------------------------------------------- what nobody has written

__global__ void unwritten_shared(float* x) {
    __shared__ float tile[kCount];
    if (threadIdx.x > 0) tile[threadIdx.x] = 1.f;
    __syncthreads();
    x[threadIdx.x] = tile[threadIdx.x];  // @unwritten_shared
}

__global__ void unwritten_everywhere(float* x) {
    __shared__ float tile[kCount];
    __syncthreads();
    x[threadIdx.x] = tile[threadIdx.x];  // @unwritten_everywhere
}

struct Sample {
    double value;
    int index;
};
__global__ void half_a_sample(Sample* y, const Sample* x) {
    __shared__ Sample mine[32];
    mine[threadIdx.x].value = x[threadIdx.x].value;
    __syncthreads();
    y[threadIdx.x] = mine[threadIdx.x];  // @half_a_sample
}

__global__ void copy(float* y, const float* x) {
    y[threadIdx.x] = x[threadIdx.x];  // @copy
}

__global__ void accumulate(float* y, const float* x) {
    y[threadIdx.x] += x[threadIdx.x];  // @accumulate
}

__global__ void add_atomically(float* sum, const float* x) {
    atomicAdd(sum, x[threadIdx.x]);  // @add_atomically
}

__global__ void all_but_last(float* y) {
    if (threadIdx.x + 1 < kCount) y[threadIdx.x] = 1.f;
}

// ---------------------------------------------------------------- asynchronous copies, and clusters

__global__ void waits_behind_the_barrier(float* y, const float* x) {
    __shared__ float tile[kCount];
    __pipeline_memcpy_async(tile + threadIdx.x, x + threadIdx.x, 4);  // @waits_behind_the_barrier
    __pipeline_commit();
    __syncthreads();
    __pipeline_wait_prior(0);
    y[threadIdx.x] = threadIdx.x == 0 ? 0 : tile[threadIdx.x - 1];  // @reads_too_early
}

__global__ void __cluster_dims__(2) ends_while_read(float* y) {
    __shared__ float mine;
    const auto cluster = cooperative_groups::this_cluster();
    if (threadIdx.x == 0) mine = blockIdx.x;
    cluster.sync();
    y[blockIdx.x] = *cluster.map_shared_rank(&mine, 1 - cluster.block_rank());  // @ends_while_read
}

// ---------------------------------------------------------------- launches

__global__ void __launch_bounds__(128) bounded(float* x) {
    x[threadIdx.x] = 1.f;  // @bounded
}

__global__ void __cluster_dims__(2) in_pairs(float* x) {
    x[threadIdx.x] = 1.f;
}

__global__ void nothing(float* x) {
    x[threadIdx.x] = 1.f;
}

__global__ void calls_a_kernel(float* x) {
    nothing(x);  // @calls_a_kernel
}

__global__ void launches_a_kernel(float* x) {
    nothing<<<1, 32>>>(x);  // @launches_a_kernel
}

__global__ void allocates(float** x) {
    cudaMalloc(x, 4);  // @allocates
}

__global__ void barriers_of_one_line(float* x) {
    if (threadIdx.x < 32) __syncthreads(); else __syncthreads();  // @one_line
    x[threadIdx.x] = 1.f;
}

__global__ void barrier_of_some(float* x) {
    if (threadIdx.x < 100) __syncthreads();  // @barrier_of_some
    x[threadIdx.x] = 1.f;
}

__global__ void barrier_after_return(float* x, int n) {
    if (threadIdx.x >= n) return;
    x[threadIdx.x] = 1.f;
    __syncthreads();  // @barrier_after_return
}

__global__ void grid_barrier_of_some(int* x) {
    if (blockIdx.x == 0) return;
    cooperative_groups::this_grid().sync();  // @grid_of_some
    x[blockIdx.x] = 1;
}

__global__ void shuffle_beyond_block(int* x) {
    x[threadIdx.x] = __shfl_down_sync(0xffffffffu, static_cast<int>(threadIdx.x), 8);  // @shuffle_beyond
}

__global__ void shuffle_from_exited(int* x) {
    if (threadIdx.x == 5) return;
    x[threadIdx.x] = __shfl_sync(0xffffffffu, static_cast<int>(threadIdx.x), 5);  // @shuffle_exited
}

__global__ void shuffle_dropped(int* x) {
    const int right = __shfl_down_sync(0xffffffffu, static_cast<int>(threadIdx.x), 1);  // @shuffle_dropped
    x[threadIdx.x] = threadIdx.x + 1 < blockDim.x ? right : 0;  // @shuffle_stored
}

__global__ void shuffle_in_a_branch(int* x) {
    if (threadIdx.x < 16) {
        x[threadIdx.x] = __shfl_xor_sync(0xffffffffu, 1, 1);  // @shuffle_branch
    }
    __syncthreads();
}

__global__ void endless(volatile int* x) {
    while (*x == 0) {
    }
}

__global__ void barrier_of_blocks(unsigned* count) {
    atomicAdd(count, 1);
    while (atomicAdd(count, 0) < gridDim.x) {}  // @barrier_of_blocks
}

__global__ void wait_for_host(volatile int* flag) {
    while (*flag == 0) {}  // @wait_for_host
}

__global__ void divide(int* x) {
    x[0] = 10 / x[1];  // @divide
}

__global__ void asserts(float* x) {
    assert(x[0] > 0.f);  // @asserts
}

__device__ int deep(int n, int* x) {
    int local[64];
    for (int& value : local) value = n + x[0];
    return n == 0 ? local[3] : deep(n - 1, local) + local[n % 64];
}
__global__ void recurse_too_deep(int* x) {
    x[0] = deep(1000, x);
}

// ---------------------------------------------------------------- addresses

__global__ void store_everywhere(float* x) {
    x[blockIdx.x * blockDim.x + threadIdx.x] = 1.f;  // @store_everywhere
}

__global__ void load_before(float* x) {
    x[threadIdx.x] = x[static_cast<int>(threadIdx.x) - 1];  // @load_before
}

__global__ void index_before(float* x) {
    x[static_cast<int>(threadIdx.x) - 3000] = 1.f;  // @index_before
}

__global__ void index_wraps(float* x, int rows, int cols) {
    const int at = static_cast<int>(static_cast<unsigned>(rows) * static_cast<unsigned>(cols));
    x[at] = 1.f;  // @index_wraps
}

__global__ void local_overrun(float* x, int count) {
    float few[8];
    float* const values = few;
    for (int i = 0; i < count; i++) values[i] = 1.f;  // @local_overrun
    x[threadIdx.x] = few[count % 8];
}

__global__ void shared_index(float* x) {
    __shared__ float tile[32];
    tile[threadIdx.x] = x[threadIdx.x];  // @shared_index
    __syncthreads();
    x[threadIdx.x] = tile[0];
}

__global__ void dynamic(float* x) {
    extern __shared__ float tile[];
    tile[threadIdx.x] = 1.f;  // @dynamic
    x[threadIdx.x] = tile[threadIdx.x];
}

__global__ void misaligned(float* x) {
    const float4 pack = *reinterpret_cast<float4*>(x + 1);  // @misaligned
    x[0] = pack.x;
}

__constant__ float weights[5];
__device__ float table[5];
__global__ void past_constant(float* x, int i) {
    const float* from = weights;
    x[threadIdx.x] = from[i];  // @past_constant
}
__global__ void past_variable(float* x, int i) {
    float* from = table;
    x[threadIdx.x] = from[i];  // @past_variable
}

float factor = 2.f;  // of the host's
namespace {
int calls;
}
// By a macro: what is named so the translation finds.
#define FACTOR factor
#define CALLS calls
__global__ void reads_of_host(float* x) {
    x[threadIdx.x] *= FACTOR;  // @reads_of_host
}
__global__ void counts_on_host() {
    CALLS++;  // @counts_on_host
}

struct Arrays {
    float* x;
    float* host;
};
__global__ void pointer_in_struct(Arrays arrays) {
    arrays.x[threadIdx.x] = arrays.host[threadIdx.x];  // @pointer_in_struct
}

// ---------------------------------------------------------------- the table

// Of the host's, and unknown to the compiler.
volatile int* volatile unset = nullptr;
void (*volatile unset_function)() = nullptr;
volatile int zero = 0;
float of_host[kCount - 1];

const Programs kPrograms = {
    {"missing_barrier", [] { missing_barrier<<<1, kCount>>>(device()); }},
    {"neighbours_in_place", [] { neighbours_in_place<<<1, kCount>>>(device()); }},
    {"sum_of_blocks", [] { sum_of_blocks<<<8, 32>>>(device(1), device()); }},
    {"count_in_variable", [] { count_in_variable<<<4, 1>>>(); }},
    {"unwritten_shared", [] { unwritten_shared<<<1, kCount>>>(device()); }},
    {"unwritten_everywhere", [] { unwritten_everywhere<<<1, kCount>>>(device()); }},
    {"half_a_sample", [] { half_a_sample<<<1, 32>>>(device<Sample>(), device<Sample>()); }},
    {"unwritten_input", [] { copy<<<1, kCount>>>(device(), device(kCount, false)); }},
    {"unwritten_sum", [] { accumulate<<<1, kCount>>>(device(kCount, false), device()); }},
    {"unwritten_atomic", [] { add_atomically<<<4, 32>>>(device(1, false), device()); }},
    {"unwritten_result",
     [] {
         std::vector<float> y(kCount);
         float* const result = device(kCount, false);
         all_but_last<<<1, kCount>>>(result);
         cudaMemcpy(y.data(), result, kCount * 4, cudaMemcpyDeviceToHost);  // @unwritten_result
     }},
    {"host_reads", [] { std::printf("%f\n", device()[3]); }},  // @host_reads
    {"host_copies",
     [] {
         std::vector<float> host(kCount);
         std::memcpy(host.data(), device(), kCount * sizeof(float));  // @host_copies
     }},
    {"host_sets", [] { std::memset(device(), 0, kCount * sizeof(float)); }},  // @host_sets
    {"host_writes", [] { device()[3] = 1.f; }},                // @host_writes
    {"host_sorts",
     [] {
         float* const x = device();
         std::sort(x, x + kCount);  // @host_sorts
     }},
    {"host_compares",
     [] {
         std::vector<float> host(kCount);
         std::printf("%d\n", std::memcmp(host.data(), device(), kCount * 4));  // @host_compares
     }},
    {"host_reads_file",
     [] {
         FILE* const file = std::fopen("/proc/self/exe", "rb");
         std::printf("%zu\n", std::fread(device(), 4, kCount, file));  // @host_reads_file
     }},
    {"host_writes_file", [] { std::fwrite(device(), 4, kCount, stdout); }},  // @host_writes_file
    {"host_prints", [] { std::printf("%d: %-8s|\n", 1, device<char>()); }},  // @host_prints
    {"host_measures", [] { std::printf("%zu\n", std::strlen(device<char>())); }},  // @host_measures
    {"host_streams", [] { std::cout << device<char>(); }},  // @host_streams
    {"host_streams_bytes", [] { std::cout.write(device<char>(), kCount); }},  // @host_streams_bytes
    {"host_makes_string", [] { std::cout << std::string(device<char>()); }},  // @host_makes_string
    {"host_reads_freed",
     [] {
         int* managed = nullptr;
         cudaMallocManaged(&managed, 400);
         managed[0] = 1;
         cudaFree(managed);
         std::printf("%d\n", managed[0]);  // @host_reads_freed
     }},
    {"host_reads_variable", [] { std::printf("%d\n", counter); }},  // @host_reads_variable
    {"host_writes_constant", [] { weights[1] = 2.f; }},             // @host_writes_constant
    {"host_null_pointer", [] { std::printf("%d\n", *unset); }},  // @host_null_pointer
    {"host_null_member", [] { unset[3] = 1; }},                // @host_null_member
    {"host_null_function", [] { unset_function(); }},          // @host_null_function
    {"host_unallocated", [] { std::printf("%d\n", unset[1 << 20]); }},  // @host_unallocated
    {"host_null_in_library", [] { std::memset(const_cast<int*>(unset), 0, 1024); }},  // @host_null_in_library
    {"host_divides", [] { std::printf("%d\n", 7 % zero); }},   // @host_divides
    {"host_large_array", [] { volatile float large[1 << 24]; large[0] = 1.f; }},  // @host_large_array
    {"host_index",
     [] {
         int few[4] = {};
         few[zero + 4] = 1;  // @host_index
         std::printf("%d\n", few[zero]);
     }},
    {"host_aborts", [] { std::abort(); }},  // @host_aborts
    {"host_fault_behind_kernel",
     [] {
         missing_barrier<<<1, kCount>>>(device());
         unset[0] = 1;  // @host_behind_kernel
     }},
    {"waits_behind_the_barrier", [] { waits_behind_the_barrier<<<1, kCount>>>(device(), device()); }},
    {"ends_while_read", [] { ends_while_read<<<2, 1>>>(device()); }},
    {"launch_bounds", [] { bounded<<<1, 256>>>(device()); }},
    {"clusters_of_others",
     [] {
         cudaLaunchAttribute four{};
         four.id = cudaLaunchAttributeClusterDimension;
         four.val.clusterDim.x = 4;
         four.val.clusterDim.y = four.val.clusterDim.z = 1;
         cudaLaunchConfig_t how{};
         how.gridDim = 4;
         how.blockDim = 32;
         how.attrs = &four;
         how.numAttrs = 1;
         cudaLaunchKernelEx(&how, in_pairs, device());
     }},
    {"half_a_cluster", [] { in_pairs<<<3, 32>>>(device()); }},
    {"kernel_as_function", [] { nothing(device()); }},  // @kernel_as_function
    {"variable_as_argument", [] { copy<<<1, 5>>>(device(), table); }},  // @variable_as_argument
    {"variable_of_host", [] { reads_of_host<<<1, 32>>>(device()); }},
    {"hidden_variable_of_host", [] { counts_on_host<<<1, 1>>>(); }},
    {"allocation_in_kernel", [] { allocates<<<1, 1>>>(device<float*>()); }},
    {"launch_in_kernel", [] { launches_a_kernel<<<1, 1>>>(device()); }},
    {"kernel_in_kernel", [] { calls_a_kernel<<<1, 32>>>(device()); }},
    {"barriers_of_one_line", [] { barriers_of_one_line<<<1, 64>>>(device()); }},
    {"barrier_of_some", [] { barrier_of_some<<<1, 128>>>(device()); }},
    {"barrier_after_return", [] { barrier_after_return<<<1, 128>>>(device(), 100); }},
    {"grid_barrier_of_some",
     [] {
         int* x = device<int>();
         void* arguments[] = {&x};
         cudaLaunchCooperativeKernel((void*)grid_barrier_of_some, 3, 32, arguments, 0, 0);
     }},
    {"shuffle_beyond_block", [] { shuffle_beyond_block<<<1, 20>>>(device<int>()); }},
    {"shuffle_from_exited", [] { shuffle_from_exited<<<1, 32>>>(device<int>()); }},
    {"shuffle_dropped", [] { shuffle_dropped<<<1, 20>>>(device<int>()); }},
    {"shuffle_in_a_branch", [] { shuffle_in_a_branch<<<1, 32>>>(device<int>()); }},
    {"endless", [] { endless<<<1, 1>>>(device<int>()); }},
    {"barrier_of_blocks", [] { barrier_of_blocks<<<1024, 1>>>(device<unsigned>()); }},
    {"wait_for_host",
     [] {
         int* flag = nullptr;
         cudaMallocHost(&flag, 4);
         *flag = 0;
         wait_for_host<<<1, 1>>>(flag);
         *flag = 1;
     }},
    {"divide", [] { divide<<<1, 1>>>(device<int>()); }},
    {"asserts", [] { asserts<<<1, 1>>>(device()); }},
    {"recurse_too_deep", [] { recurse_too_deep<<<1, 1>>>(device<int>()); }},
    {"too_many_blocks", [] { store_everywhere<<<2, 200>>>(device()); }},
    {"load_before", [] { load_before<<<1, 32>>>(device()); }},
    {"index_before", [] { index_before<<<1, 32>>>(device()); }},
    {"index_wraps", [] { index_wraps<<<1, 1>>>(device(), 50000, 50000); }},
    {"local_overrun", [] { local_overrun<<<1, 1>>>(device(), 50000); }},
    {"use_after_free",
     [] {
         float* const x = device();
         cudaFree(x);  // @frees
         store_everywhere<<<1, 32>>>(x);
     }},
    {"null_pointer", [] { store_everywhere<<<1, 32>>>(nullptr); }},
    {"null_offset", [] { store_everywhere<<<1, 32>>>(static_cast<float*>(nullptr) + 1000); }},
    {"unchecked_malloc",
     [] {
         float* x = nullptr;
         cudaMalloc(&x, size_t{1} << 43);  // @unchecked_malloc
         store_everywhere<<<1, 32>>>(x);
     }},
    {"unchecked_copy",
     [] {
         float one = 1.f, *x = nullptr;
         cudaMallocManaged(&x, size_t{1} << 43), cudaMemcpy(x, &one, 4, cudaMemcpyHostToDevice);  // @unchecked_copy
     }},
    {"host_pointer",
     [] {
         std::vector<float> host(kCount);
         store_everywhere<<<1, 32>>>(host.data());
     }},
    {"host_pointer_in_struct",
     [] {
         std::vector<float> host(kCount);
         pointer_in_struct<<<1, 32>>>({device(), host.data()});
     }},
    {"shared_index", [] { shared_index<<<1, 64>>>(device()); }},
    {"dynamic_not_asked", [] { dynamic<<<1, 32>>>(device()); }},
    {"dynamic_too_little", [] { dynamic<<<1, 32, 64>>>(device()); }},
    {"dynamic_too_much", [] { dynamic<<<1, 32, 60000>>>(device()); }},
    {"misaligned", [] { misaligned<<<1, 1>>>(device()); }},
    {"past_constant", [] { past_constant<<<1, 1>>>(device(), 5); }},
    {"past_variable", [] { past_variable<<<1, 1>>>(device(), 7); }},
    {"too_many_threads", [] { nothing<<<1, 2000>>>(device()); }},  // @too_many_threads
    {"no_blocks", [] { nothing<<<0, 32>>>(device()); }},
    {"double_free",
     [] {
         float* const x = device();
         cudaFree(x);  // @frees_first
         cudaFree(x);  // @double_free
     }},
    {"free_inside", [] { cudaFree(device() + 4); }},  // @free_inside
    {"free_of_host",
     [] {
         std::vector<float> host(kCount);
         cudaFree(host.data());  // @free_of_host
     }},
    {"wrong_direction",
     [] {
         std::vector<float> host(kCount);
         cudaMemcpy(device(), host.data(), kCount * 4, cudaMemcpyDeviceToHost);  // @wrong_direction
     }},
    {"copy_too_long",
     [] {
         std::vector<float> host(2 * kCount);
         cudaMemcpy(device(), host.data(), 2 * kCount * 4, cudaMemcpyHostToDevice);  // @copy_too_long
     }},
    {"copy_beyond_vector",
     [] {
         std::vector<float> host(kCount - 1);
         cudaMemcpy(host.data(), device(), kCount * 4, cudaMemcpyDeviceToHost);  // @copy_beyond_vector
     }},
    {"copy_beyond_malloc",
     [] {
         auto* const host = static_cast<float*>(std::malloc(64));
         std::memset(host, 0, 64);
         cudaMemcpy(device(), host + 4, 64, cudaMemcpyHostToDevice);  // @copy_beyond_malloc
     }},
    {"copy_beyond_variable",
     [] {
         cudaMemcpy(of_host, device(), kCount * 4, cudaMemcpyDeviceToHost);  // @copy_beyond_variable
     }},
    {"copy_beyond_stack",
     [] {
         float host[4];
         cudaMemcpy(host, device(), kCount * 4, cudaMemcpyDeviceToHost);  // @copy_beyond_stack
     }},
    {"copy_from_freed",
     [] {
         std::vector<float> host(kCount);
         float* const x = device();
         cudaFree(x);
         cudaMemcpy(host.data(), x, kCount * 4, cudaMemcpyDeviceToHost);  // @copy_from_freed
     }},
    {"copy_to_null", [] { cudaMemcpy(nullptr, device(), 4, cudaMemcpyDeviceToHost); }},  // @copy_to_null
    {"memset_too_long", [] { cudaMemset(device(), 0, kCount * 8); }},  // @memset_too_long
    {"symbol_too_long",
     [] {
         const float values[8] = {};
         cudaMemcpyToSymbol(weights, values, sizeof values);  // @symbol_too_long
     }},
    {"sticky",
     [] {
         store_everywhere<<<1, 32>>>(nullptr);
         cudaGetLastError();
         float* x = nullptr;
         const cudaError_t error = cudaMalloc(&x, 4);
         std::fprintf(stderr, "cudaMalloc after the fault: %s\n", cudaGetErrorName(error));
     }},
};

int main(int count, char** words) {
    return run_word(count, words, kPrograms);
}
