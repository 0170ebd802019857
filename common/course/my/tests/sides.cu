// SPDX-License-Identifier: MIT
//
// Code that asks for __CUDA_ARCH__, in each place where it may stand: `sides 90` ends with 0 if each has the answer of
// its side.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "sides.h"

#define REQUIRE(condition)                                                      \
    do {                                                                        \
        if (!(condition)) {                                                     \
            std::fprintf(stderr, "%s:%d %s\n", __FILE__, __LINE__, #condition); \
            std::exit(EXIT_FAILURE);                                            \
        }                                                                       \
    } while (0)

// As for GPUs before Pascal, whose atomicAdd had no double: a second one would be ambiguous.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 600
__device__ double atomicAdd(double* address, double value) {
    return *address += value;
}
#endif
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 600
#else
static __inline__ __device__ double atomicAdd(double* address, double value) {
    return *address;
}
#endif

constexpr int kHosts[2] = {7, 8};
__constant__ int devices[2] = {70, 80};

both_sides int element(int i) {
#ifdef __CUDA_ARCH__
    return devices[i];
#else
    return std::vector<int>(kHosts, kHosts + 2)[i];
#endif
}

BOTH_SIDES constexpr int architecture() {
#if defined(__CUDA_ARCH__)
    return __CUDA_ARCH__;
#else
    return 0;
#endif
}

template <class T>
struct Sum {
    T sum, count;
    BOTH_SIDES Sum(T x) : sum{x}, count(1) {
#ifdef __CUDA_ARCH__
        count += 10;
#endif
    }
    BOTH_SIDES T operator()(T x) const {
        T result = sum;
        // A block in a block, and a line that goes on.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800 && defined(__CUDACC__) && !defined(NO_SUCH_MACRO)
#if __CUDA_ARCH__ >= 900
        result += 900;
#else
        result += 800;
#endif
#elif !defined(__CUDA_ARCH__)
        result += 1;
#endif
        return result + x;
    }
};

__device__ int newest() {
#if __CUDA_ARCH__ >= 1000
    return 100;
#elif __CUDA_ARCH__ >= 900
    return 90;
#else
    return 80;
#endif
}

struct Out {
    int element, architecture, sum, count, newest, tens, clusters, feature, added;
};

__global__ void kernel(Out* out, double* x) {
    const Sum<int> sum(1);
    out->element = element(1);
    out->architecture = architecture();
    out->sum = sum(2);
    out->count = sum.count;
    out->newest = newest();
#ifdef __CUDA_ARCH__
    out->tens = ARCHITECTURE_IN_TENS;
#endif
#ifdef HAS_CLUSTERS
    out->clusters = 1;
#endif
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    out->feature = 1;
#endif
    atomicAdd(x, 1.0);
    out->added = *x == 1.0;
}

template <class F>
__global__ void call(F f, int* out) {
    *out = f(1);
}

template <class F>
int called(F f) {
    int *x, result = 0;
    cudaMalloc(&x, sizeof *x);
    call<<<1, 1>>>(f, x);
    cudaMemcpy(&result, x, sizeof result, cudaMemcpyDeviceToHost);
    cudaFree(x);
    return result;
}

int main(int count, char** words) {
    const int architecture_asked = count > 1 ? 10 * std::atoi(words[1]) : 0;
    const bool is_hopper = architecture_asked == 900;
#ifdef __CUDA_ARCH__
    const bool is_host = false;
#else
    const bool is_host = true;
#endif
    REQUIRE(is_host);
    Out *out, got{};
    double* x;
    cudaMalloc(&out, sizeof *out);
    cudaMalloc(&x, sizeof *x);
    cudaMemset(out, 0, sizeof *out);
    cudaMemset(x, 0, sizeof *x);
    kernel<<<1, 1>>>(out, x);
    cudaMemcpy(&got, out, sizeof got, cudaMemcpyDeviceToHost);
    REQUIRE(got.element == 80 && element(1) == 8);
    REQUIRE(got.architecture == architecture_asked && architecture() == 0);
    constexpr int compiled = architecture();
    REQUIRE(compiled == 0);
    REQUIRE(got.sum == 3 + architecture_asked && Sum<int>(1)(2) == 4);
    REQUIRE(got.count == 11 && Sum<int>(1).count == 1);
    REQUIRE(got.newest == architecture_asked / 10 && got.tens == architecture_asked / 10);
    REQUIRE(got.clusters == is_hopper && got.feature == is_hopper);
    REQUIRE(got.added);
    REQUIRE(__CUDA_ARCH_LIST__ == architecture_asked);
#ifndef __CUDA_ARCH__
    REQUIRE(of_the_host(1) == 2);
#endif

    const auto either = [=] __host__ __device__(int y) {
#ifdef __CUDA_ARCH__
        return y + 100;
#else
        return y + 200;
#endif
    };
    REQUIRE(either(1) == 201 && called(either) == 101);
    REQUIRE(called([=] __device__(int y) {
#ifdef __CUDA_ARCH__
                return y + __CUDA_ARCH__;
#else
                return y;
#endif
            }) == 1 + architecture_asked);
    std::puts("each side has its answer");
}
