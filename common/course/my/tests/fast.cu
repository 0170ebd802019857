// SPDX-License-Identifier: MIT
// Programs for --fast, chosen by a word.
#include <cooperative_groups.h>

#include <cstdio>
#include <cstring>

__global__ void past(int* x, int n) {
    x[threadIdx.x + n] = 1;
}
__device__ int deep(int n) {
    volatile char frame[4096];
    frame[n % 4096] = 1;
    return n == 0 ? 0 : deep(n - 1) + frame[n % 4096];
}
__global__ void recursive(int* x, int n) {
    __syncthreads();
    x[threadIdx.x] = deep(n);
}
__global__ void reverse(int* x) {
    __shared__ int shared[64];
    shared[threadIdx.x] = threadIdx.x;
    __syncthreads();
    const int mine = shared[63 - threadIdx.x];
    x[threadIdx.x] = mine + __shfl_xor_sync(~0u, mine, 1);
}
__global__ void locked(int* lock, int* count) {
    if (threadIdx.x % 2 == 1) return;
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    *count += 1;
    __threadfence();
    atomicExch(lock, 0);
}
// What a lock guarded, all lanes have written before one of them gives it back.
__global__ void handed_over(int* x) {
    x[threadIdx.x] = threadIdx.x;
    __threadfence();
    if (threadIdx.x == 1) atomicAdd(x, x[31]);
}
// All lanes give a mask that names half of them, and meet.
__global__ void unnamed(int* x) {
    const int value = __shfl_up_sync(0x0000ffffu, static_cast<int>(threadIdx.x) + 7, 16);
    if (threadIdx.x >= 16) x[threadIdx.x - 16] = value;
}
__global__ void slow(int* x) {
    const long long begun = clock64();
    while (clock64() - begun < 2000000) {
    }
    x[threadIdx.x] = 1;
}
// More threads that wait than the system has guard pages for their stacks.
__global__ void together(int* x) {
    atomicAdd(x, 1);
    cooperative_groups::this_grid().sync();
    if (blockIdx.x == 0 && threadIdx.x == 0) x[1] = x[0];
}
// Threads end before and after they have waited.
__global__ void ended(int* x) {
    atomicAdd(x, 1);
    if (threadIdx.x % 2 == 1) asm volatile("exit;");
    __syncwarp(0x55555555u);
    atomicAdd(x + 1, 1);
    asm volatile("exit;");
    atomicAdd(x, 1000);
}

int main(int, char** words) {
    const auto is = [&](const char* word) { return std::strcmp(words[1], word) == 0; };
    if (is("memory")) {
        size_t free, total;
        cudaMemGetInfo(&free, &total);
        void *a, *b;
        const cudaError_t first = cudaMalloc(&a, free / 10 * 6);
        std::printf("%s, %s\n", cudaGetErrorName(first),
                    cudaGetErrorName(cudaMalloc(&b, free / 10 * 6)));
        return 0;
    }
    int* x;
    cudaMalloc(&x, 64 * sizeof(int));
    cudaMemset(x, 0, 64 * sizeof(int));
    if (is("past")) past<<<2, 64>>>(x, 1 << 20);
    if (is("deep")) recursive<<<1, 64>>>(x, 1000);
    if (is("less_deep")) recursive<<<1, 64>>>(x, 50);
    if (is("reverse")) reverse<<<300, 64>>>(x);
    if (is("locked")) locked<<<10, 64>>>(x, x + 1);
    void* arguments[] = {&x};
    if (is("together")) cudaLaunchCooperativeKernel(together, 33, 1024, arguments);
    if (is("handed_over")) handed_over<<<1, 32>>>(x);
    if (is("ended")) ended<<<300, 64>>>(x);
    if (is("unnamed")) unnamed<<<1, 32>>>(x);
    if (is("slow")) slow<<<64 * 64, 64>>>(x);
    const cudaError_t error = cudaDeviceSynchronize();
    int y[2] = {};
    cudaMemcpy(y, x, sizeof y, cudaMemcpyDeviceToHost);
    std::printf("%s %d %d\n", cudaGetErrorName(error), y[0], y[1]);
}
