// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
//
// OneFlow's softmax of long rows, the second and third tier of its softmax.cuh (2021): written anew
// from their description, to be compared with.
//   design     a block per row at a time, at most 32 waves of them; packs of 2 where the columns are
//              even. Second tier: the row in shared memory, a pack's elements columns apart so that
//              no banks collide. Third: nothing is kept, blocks of 1024 threads read x three times
//   threads    of the second tier: 1024, 512 or 256, the first of which as many blocks fit on a
//              multiprocessor as of 128, else 128. Where of 128 none fits, the third tier
//   traffic    1 + 1, and 3 + 1 accesses per element
//   accepts    float, __half, __nv_bfloat16, computed and kept in float; any columns; y may be x
//   limits     shared memory is used as far as it is to be had unasked, 48 KB: some 12,000 columns.
//              Accesses as in the first tier. No columns are an error, no rows are none
//   changed    double, which always takes the third tier, is not here
//   source     the description of OneFlow's softmax.cuh, and the article that presents it
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>

#include <cub/block/block_reduce.cuh>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include "oneflow_warp_softmax.cuh"

// The row, in float.
extern __shared__ __align__(16) unsigned char shared_bytes[];

namespace oneflow_block_softmax {

using oneflow_warp_softmax::Algorithm;
using oneflow_warp_softmax::DirectLoad;
using oneflow_warp_softmax::DirectStore;
using oneflow_warp_softmax::Max;
using oneflow_warp_softmax::Sum;

// Every thread gets the value of all of them.
template <int kThreads, class Op>
__device__ float reduce_in_block(float value, Op op) {
    using BlockReduce = cub::BlockReduce<float, kThreads>;
    __shared__ typename BlockReduce::TempStorage scratch;
    __shared__ float total;
    value = BlockReduce(scratch).Reduce(value, op);
    if (threadIdx.x == 0) total = value;
    __syncthreads();
    return total;
}

template <Algorithm kAlgorithm, int kPack, int kThreads, class Load, class Store>
__global__ void shared_memory_kernel(Load load, Store store, int64_t rows, int64_t cols) {
    float* const held = reinterpret_cast<float*>(shared_bytes);
    const int packs = static_cast<int>(cols / kPack);
    const int tid = threadIdx.x;
    for (int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
        float max = -INFINITY;
        for (int pack = tid; pack < packs; pack += kThreads) {
            float elements[kPack];
            load.template load<kPack>(elements, row, pack * kPack);
#pragma unroll
            for (int i = 0; i < kPack; ++i) {
                held[i * packs + pack] = elements[i];
                max = fmaxf(max, elements[i]);
            }
        }
        max = reduce_in_block<kThreads>(max, Max{});

        float sum = 0.f;
        for (int place = tid; place < cols; place += kThreads) {
            const float difference = held[place] - max;
            const float share = expf(difference);
            held[place] = kAlgorithm == Algorithm::softmax ? share : difference;
            sum += share;
        }
        sum = reduce_in_block<kThreads>(sum, Sum{});

        const float log_sum = kAlgorithm == Algorithm::log_softmax ? logf(sum) : 0.f;
        for (int pack = tid; pack < packs; pack += kThreads) {
            float elements[kPack];
#pragma unroll
            for (int i = 0; i < kPack; ++i) {
                const float it = held[i * packs + pack];
                elements[i] = kAlgorithm == Algorithm::softmax ? it / sum : it - log_sum;
            }
            store.template store<kPack>(elements, row, pack * kPack);
        }
    }
}

constexpr int kUncachedThreads = 1024;

template <Algorithm kAlgorithm, int kPack, class Load, class Store>
__global__ void uncached_kernel(Load load, Store store, int64_t rows, int64_t cols) {
    const int packs = static_cast<int>(cols / kPack);  // no launch bounds, and 32 bits: as there
    for (int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
        float elements[kPack];
        float max = -INFINITY;
        for (int pack = threadIdx.x; pack < packs; pack += kUncachedThreads) {
            load.template load<kPack>(elements, row, pack * kPack);
#pragma unroll
            for (int i = 0; i < kPack; ++i) max = fmaxf(max, elements[i]);
        }
        max = reduce_in_block<kUncachedThreads>(max, Max{});

        float sum = 0.f;
        for (int pack = threadIdx.x; pack < packs; pack += kUncachedThreads) {
            load.template load<kPack>(elements, row, pack * kPack);
#pragma unroll
            for (int i = 0; i < kPack; ++i) sum += expf(elements[i] - max);
        }
        sum = reduce_in_block<kUncachedThreads>(sum, Sum{});

        const float log_sum = kAlgorithm == Algorithm::log_softmax ? logf(sum) : 0.f;
        for (int pack = threadIdx.x; pack < packs; pack += kUncachedThreads) {
            load.template load<kPack>(elements, row, pack * kPack);
#pragma unroll
            for (int i = 0; i < kPack; ++i) {
                const float difference = elements[i] - max;
                elements[i] = kAlgorithm == Algorithm::softmax ? expf(difference) / sum
                                                               : difference - log_sum;
            }
            store.template store<kPack>(elements, row, pack * kPack);
        }
    }
}

// The block's threads, of which as many blocks are resident as of 128; 0 where of 128 none is.
// resident: of a block of so many threads on a multiprocessor.
template <class Resident>
int threads_for(Resident resident) {
    const int most = resident(128);
    if (most <= 0) return 0;
    for (const int threads : {1024, 512, 256}) {
        if (resident(threads) == most) return threads;
    }
    return 128;
}

// The second tier. *taken says whether the row fits; if not, nothing is launched.
template <Algorithm kAlgorithm, int kPack, class Load, class Store>
cudaError_t in_shared_memory(Load load, Store store, int64_t rows, int64_t cols,
                             cudaStream_t stream, bool* taken) {
    constexpr int64_t kUnasked = 48 * 1024;
    *taken = false;
    if (cols * static_cast<int64_t>(sizeof(float)) > kUnasked) return cudaSuccess;
    const size_t bytes = static_cast<size_t>(cols) * sizeof(float);
    const auto kernel_of = [](int threads) {
        return threads == 1024  ? shared_memory_kernel<kAlgorithm, kPack, 1024, Load, Store>
               : threads == 512 ? shared_memory_kernel<kAlgorithm, kPack, 512, Load, Store>
               : threads == 256 ? shared_memory_kernel<kAlgorithm, kPack, 256, Load, Store>
                                : shared_memory_kernel<kAlgorithm, kPack, 128, Load, Store>;
    };
    cudaError_t error = cudaSuccess;
    const int threads = threads_for([&](int each) {
        int blocks = 0;
        const cudaError_t status =
            cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel_of(each), each, bytes);
        if (status != cudaSuccess) error = status;
        return blocks;
    });
    if (error != cudaSuccess || threads == 0) return error;
    unsigned blocks = 0;
    error = oneflow_warp_softmax::blocks_for(rows, threads, &blocks);
    if (error != cudaSuccess) return error;
    *taken = true;
    const auto kernel = kernel_of(threads);
    kernel<<<blocks, static_cast<unsigned>(threads), bytes, stream>>>(load, store, rows, cols);
    return cudaPeekAtLastError();
}

// The third tier.
template <Algorithm kAlgorithm, int kPack, class Load, class Store>
cudaError_t uncached(Load load, Store store, int64_t rows, int64_t cols, cudaStream_t stream) {
    unsigned blocks = 0;
    const cudaError_t error = oneflow_warp_softmax::blocks_for(rows, kUncachedThreads, &blocks);
    if (error != cudaSuccess) return error;
    uncached_kernel<kAlgorithm, kPack>
        <<<blocks, kUncachedThreads, 0, stream>>>(load, store, rows, cols);
    return cudaPeekAtLastError();
}

template <Algorithm kAlgorithm, int kPack, class Load, class Store>
cudaError_t launch_packed(Load load, Store store, int64_t rows, int64_t cols, cudaStream_t stream) {
    bool taken = false;
    const cudaError_t error =
        in_shared_memory<kAlgorithm, kPack>(load, store, rows, cols, stream, &taken);
    if (error != cudaSuccess || taken) return error;
    return uncached<kAlgorithm, kPack>(load, store, rows, cols, stream);
}

// The second tier where the row fits it, else the third. cols: at least 1.
template <Algorithm kAlgorithm, class Load, class Store>
cudaError_t launch_long(Load load, Store store, int64_t rows, int64_t cols, cudaStream_t stream) {
    if (rows < 0 || cols <= 0) return cudaErrorInvalidValue;
    if (cols % 2 == 0) return launch_packed<kAlgorithm, 2>(load, store, rows, cols, stream);
    return launch_packed<kAlgorithm, 1>(load, store, rows, cols, stream);
}

template <class T>
cudaError_t softmax(const T* x, T* y, int64_t rows, int64_t cols, cudaStream_t stream) {
    return launch_long<Algorithm::softmax>(DirectLoad<T>{x, cols}, DirectStore<T>{y, cols}, rows,
                                           cols, stream);
}

template <class T>
cudaError_t log_softmax(const T* x, T* y, int64_t rows, int64_t cols, cudaStream_t stream) {
    return launch_long<Algorithm::log_softmax>(DirectLoad<T>{x, cols}, DirectStore<T>{y, cols},
                                               rows, cols, stream);
}

}  // namespace oneflow_block_softmax
