// SPDX-License-Identifier: MIT
// What the memory hooks see of the stand-in headers: a pack is one access, an atomic is one atomic and
// nothing else, and a collective's shared memory traffic is what nvcc makes of CUB's.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <string>
#include <vector>

#include <cub/block/block_reduce.cuh>

#include "common/cpu_device/tests/device_map.cuh"
#include "common/cpu_device/tests/recorded_accesses.hpp"

namespace access_widths_tests {

template <class T>
__global__ void hints_kernel(const T* x, T* y) {
    __stwb(y + 0, __ldg(x + 0));
    __stcg(y + 1, __ldcg(x + 1));
    __stcs(y + 2, __ldcs(x + 2));
    __stwt(y + 3, __ldcv(x + 3));
    y[4] = __ldca(x + 4);
    y[5] = __ldlu(x + 5);
    y[6] = x[6];
}

template <class T>
void check_widths() {
    DeviceVector<T> x{std::vector<T>(7)}, y{std::vector<T>(7)};
    const auto counts = accesses_of([&] { hints_kernel<T><<<1, 1>>>(x.data(), y.data()); });
    require_success();
    const std::string width = std::to_string(sizeof(T));
    CHECK(counts == "global load " + width + ": 7, global store " + width + ": 7");
}

TEST_CASE("hints and plain copies are one access of the full width") {
    check_widths<char>();
    check_widths<short>();
    check_widths<int>();
    check_widths<double>();
    check_widths<float2>();
    check_widths<float4>();
    check_widths<ulonglong2>();
    check_widths<uchar4>();
    check_widths<short4>();
    check_widths<__half>();
    check_widths<__half2>();
    check_widths<__nv_bfloat16>();
    check_widths<__nv_bfloat162>();
}

struct alignas(16) Quad {
    float of[4];
};

__device__ Quad turned(Quad quad, float by) {
    if (quad.of[0] > by) return {{quad.of[1], quad.of[2] - by, quad.of[3], quad.of[0] * by}};
    return {{quad.of[3] + by, quad.of[0], quad.of[1] * by, quad.of[2]}};
}

// Too much for g++ to inline by itself.
__global__ void lambda_kernel(const Quad* x, Quad* y) {
    const auto mixed = [](Quad quad) {
        for (const float by : {1.f, 2.f}) {
            quad = turned(turned(turned(quad, by), by + 1), by + 2);
            quad = turned(turned(turned(quad, by + 3), by + 4), by + 5);
            quad = turned(turned(turned(quad, by + 6), by + 7), by + 8);
        }
        return quad;
    };
    y[0] = mixed(x[0]);
    y[1] = mixed(x[1]);
    y[2] = mixed(mixed(x[2]));
}

TEST_CASE("what a lambda takes by value and returns is counted") {
    DeviceVector<Quad> x{std::vector<Quad>(3)}, y{std::vector<Quad>(3)};
    const auto counts = accesses_of([&] { lambda_kernel<<<1, 1>>>(x.data(), y.data()); });
    require_success();
    CHECK(counts == "global load 16: 3, global store 16: 3");
}

__global__ void small_float_kernel(const __half* x, const __half2* pairs, __half* y,
                                   __half2* pair_results) {
    __shared__ __half2 tile[2];
    y[0] = x[0] * x[1] + x[2];
    y[1] += x[3];
    y[2] = __hfma(x[4], x[5], hexp(x[6]));
    y[3] = __float2half(__half2float(x[7]) + 1.f);
    tile[0] = __hfma2(pairs[0], pairs[1], pairs[2]);
    __syncthreads();  // or the compiler would keep what it stored at hand
    pair_results[0] = pairs[3] * tile[0] + h2exp(pairs[4]);
    pair_results[1] = __halves2half2(x[8], __high2half(pairs[5]));
}

TEST_CASE("16-bit floats are read and written whole") {
    DeviceVector<__half> x{std::vector<__half>(9)}, y{std::vector<__half>(4)};
    DeviceVector<__half2> pairs{std::vector<__half2>(6)}, pair_results{std::vector<__half2>(2)};
    const auto counts = accesses_of([&] {
        small_float_kernel<<<1, 1>>>(x.data(), pairs.data(), y.data(), pair_results.data());
    });
    require_success();
    // Ten halves: x[0] to x[8], and y[1] for +=.
    CHECK(counts ==
          "global load 2: 10, global load 4: 6, global store 2: 4, global store 4: 2, "
          "shared load 4: 1, shared store 4: 1");
}

__global__ void atomics_kernel(int* counter, double* sum, __half2* pair) {
    __shared__ unsigned word;
    if (threadIdx.x == 0) word = 0;
    __syncthreads();
    atomicAdd(counter, 1);
    atomicMax(counter + 1, 5);
    atomicCAS(counter + 2, 0, 1);
    atomicAdd(sum, 0.5);
    atomicAdd(pair, __floats2half2_rn(1.f, 1.f));
    atomicOr(&word, 1u << threadIdx.x);
}

TEST_CASE("an atomic is one atomic access, no load and no store") {
    DeviceVector<int> counter{std::vector<int>(3)};
    DeviceVector<double> sum{std::vector<double>(1)};
    DeviceVector<__half2> pair{std::vector<__half2>(1)};
    const auto counts =
        accesses_of([&] { atomics_kernel<<<1, 8>>>(counter.data(), sum.data(), pair.data()); });
    require_success();
    CHECK(counts ==
          "global atomic 4: 32, global atomic 8: 8, shared atomic 4: 8, shared store 4: 1");
}

// ---------------------------------------------------------------- cub

struct Normalizer {  // two floats, aligned like one
    float m, d;
};
struct __align__(8) AlignedNormalizer {
    float m, d;
};
struct Larger {
    template <class T>
    __device__ T operator()(T a, T b) const {
        return a.m < b.m ? b : a;
    }
};
struct Add {
    template <class T>
    __device__ T operator()(T a, T b) const {
        return a + b;
    }
};

template <class T, class Operation, int kThreads>
__global__ void block_reduce_kernel(T value, T* result) {
    using BlockReduce = cub::BlockReduce<T, kThreads>;
    __shared__ typename BlockReduce::TempStorage scratch;
    const T reduced = BlockReduce(scratch).Reduce(value, Operation());
    if (threadIdx.x == 0) *result = reduced;
}

template <class T, class Operation, int kThreads>
std::string traffic(T value) {
    DeviceVector<T> result{std::vector<T>(1)};
    const auto launch = [&] {
        block_reduce_kernel<T, Operation, kThreads><<<1, kThreads>>>(value, result.data());
    };
    const std::string accesses = accesses_of(launch, "shared");
    require_success();
    return accesses;
}

// The loads and stores in the machine code that nvcc 13.0 makes of CUB 3.0 for sm_90: a store by each
// warp, and what thread 0 loads.
TEST_CASE("BlockReduce's shared memory traffic is that of CUB on hardware") {
    CHECK(traffic<float, Add, 64>(1) == "shared load 4: 1, shared store 4: 2");
    CHECK(traffic<float, Add, 128>(1) == "shared load 4: 1, shared load 8: 1, shared store 4: 4");
    CHECK(traffic<float, Add, 256>(1) ==
          "shared load 16: 1, shared load 4: 1, shared load 8: 1, shared store 4: 8");
    CHECK(traffic<float, Add, 320>(1) == "shared load 16: 2, shared load 4: 1, shared store 4: 10");
    CHECK(traffic<float, Add, 352>(1) == "shared load 16: 2, shared load 8: 1, shared store 4: 11");
    CHECK(traffic<float, Add, 512>(1) == "shared load 16: 4, shared store 4: 16");
    CHECK(traffic<float, Add, 1024>(1) == "shared load 16: 8, shared store 4: 32");
    CHECK(traffic<double, Add, 256>(1) == "shared load 16: 3, shared load 8: 1, shared store 8: 8");
    CHECK(traffic<double, Add, 1024>(1) ==
          "shared load 16: 15, shared load 8: 1, shared store 8: 32");
    CHECK(traffic<__half, Add, 256>(__float2half(1)) == "shared load 8: 2, shared store 2: 8");
    CHECK(traffic<__half, Add, 512>(__float2half(1)) == "shared load 8: 4, shared store 2: 16");
    CHECK(traffic<Normalizer, Larger, 128>({1, 1}) ==
          "shared load 16: 1, shared load 4: 2, shared store 4: 8");
    CHECK(traffic<Normalizer, Larger, 256>({1, 1}) ==
          "shared load 16: 3, shared load 8: 1, shared store 8: 8");
    CHECK(traffic<AlignedNormalizer, Larger, 128>({1, 1}) ==
          "shared load 16: 1, shared load 8: 1, shared store 8: 4");
}

}  // namespace access_widths_tests
