// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 03_online_softmax/further/split_row, version 3.0
//
// Few long rows: one block per row would leave most of the GPU idle, so many blocks share a row.
//   new here   blocks that exchange their (m, d) in one launch, as a cluster or as a whole grid
//   traffic    1 read + 1 write per element as far as the blocks can keep their slices of x while
//              they wait; what does not fit is read again
//   accepts    rows x cols floats, row-major; y may be x; scratch where the whole grid waits
//   needs      CUDA 12; clusters need compute capability 9.0, below it the whole grid waits
//   source     the merge of Milakov & Gimelshein 2018, section 3.1, across blocks
#pragma once
#include <map>
#include <mutex>
#include <utility>

#include <cooperative_groups.h>

#include "../online_softmax.cuh"

extern __shared__ __align__(128) unsigned char shared_bytes[];

namespace online_softmax {

inline constexpr int kLargestCluster = 16;  // blocks, that any GPU offers
inline constexpr int kClusterHeld = 16;     // elements in the registers of a cluster's thread
inline constexpr int kGridThreads = 512;
inline constexpr int kGridBatch = kAtOnce * kGridThreads;  // elements that a block loads at once

// The sets of all lanes as one, in every lane.
__device__ inline Normalizer warp_normalizer(Normalizer mine) {
    float m = mine.m;
    for (int step = 16; step > 0; step /= 2) m = fmaxf(m, __shfl_xor_sync(~0u, m, step));
    const float base = fabsf(m) == INFINITY ? 0.f : m;  // inf - inf would be NaN
    float d = mine.d * expf(mine.m - base);
    for (int step = 16; step > 0; step /= 2) d += __shfl_xor_sync(~0u, d, step);
    return {m, d};
}

// The sets of all threads of a block as one, in its first warp alone: a second round of shuffles.
template <int kThreads>
__device__ Normalizer slice_normalizer(Normalizer mine) {
    constexpr int kWarps = kThreads / 32;
    __shared__ Normalizer warps[kWarps];
    const int lane = threadIdx.x % 32;
    mine = warp_normalizer(mine);
    if (lane == 0) warps[threadIdx.x / 32] = mine;
    __syncthreads();
    if (threadIdx.x >= 32) return mine;
    return warp_normalizer(lane < kWarps ? warps[lane] : Normalizer{-INFINITY, 0.f});
}

// Neighbouring elements that move in one access, at an address that is a multiple of their size.
template <int kPack>
struct __align__(sizeof(float) * kPack) Pack {
    float element[kPack];
};

// A thread's share of the cols elements at x: packs, kThreads apart. Behind them -inf.
template <int kThreads, int kPack, int kHeld>
__device__ void load_packs(const float* x, int64_t cols, float (&held)[kHeld]) {
#pragma unroll
    for (int i = 0; i < kHeld; i += kPack) {
        const int col = i * kThreads + threadIdx.x * kPack;
        Pack<kPack> pack;
        for (float& element : pack.element) element = -INFINITY;
        if (col < cols) pack = *reinterpret_cast<const Pack<kPack>*>(x + col);
#pragma unroll
        for (int k = 0; k < kPack; ++k) held[i + k] = pack.element[k];
    }
}
template <int kThreads, int kPack, int kHeld>
__device__ void store_packs(float* y, int64_t cols, const float (&held)[kHeld]) {
#pragma unroll
    for (int i = 0; i < kHeld; i += kPack) {
        const int col = i * kThreads + threadIdx.x * kPack;
        Pack<kPack> pack;
#pragma unroll
        for (int k = 0; k < kPack; ++k) pack.element[k] = held[i + k];
        if (col < cols) *reinterpret_cast<Pack<kPack>*>(y + col) = pack;
    }
}

// A cluster per row, blockIdx.y; a block of it per slice, blockIdx.x. The slice stays in registers.
// kCrowded: with so few of them that a multiprocessor is full of threads, for many rows (1253
// instead of 1566 us at 4000 x 128256, an H200); else with as many as make a thread fast (8.3
// instead of 9.2 us at 10 x 128256).
template <int kThreads, int kPack, bool kCrowded, class Output>
__global__ void __launch_bounds__(kThreads, kCrowded ? kResident / kThreads : 1)
    cluster_per_row_kernel(const float* x, float* y, int64_t cols, int64_t slice_cols) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    const auto cluster = cooperative_groups::this_cluster();
    __shared__ Normalizer slice;
    __shared__ Normalizer row;

    const int64_t first = blockIdx.x * slice_cols;
    const int64_t left = min(slice_cols, cols - first);
    const int64_t begin = blockIdx.y * cols + first;

    float held[kClusterHeld];
    load_packs<kThreads, kPack>(x + begin, left, held);
    Normalizer mine = slice_normalizer<kThreads>(lift(held));
    if (threadIdx.x == 0) slice = mine;

    cluster.sync();
    if (threadIdx.x < 32) {  // lane i asks block i
        mine = {-INFINITY, 0.f};
        if (threadIdx.x < cluster.num_blocks())
            mine = *cluster.map_shared_rank(&slice, threadIdx.x);
        mine = warp_normalizer(mine);
        if (threadIdx.x == 0) row = mine;
    }
    __syncthreads();
    // Who is asked must not end before. Relaxed, since nothing is handed over: the fence of the usual
    // arrival costs 0.6 of 8.9 us at 10 x 128256 (an H200).
    __cluster_barrier_arrive_relaxed();

    const Output output(for_division(row));
    for (float& element : held) element = output(element);
    store_packs<kThreads, kPack>(y + begin, left, held);
    __cluster_barrier_wait();
#else
    __trap();  // never launched: see largest_cluster
#endif
}

// For rows longer than a cluster can hold: gridDim.x blocks per row, blockIdx.y, all of them on the
// GPU at the same time. The slice's first batches stay in registers, the next `shared_batches` in
// shared memory, and what is left is read again, from L2 with luck.
template <int kHeldBatches, int kPack, class Output>
__global__ void __launch_bounds__(kGridThreads, 2)
    grid_per_row_kernel(const float* x, float* y, Normalizer* slices, int64_t cols,
                        int64_t slice_cols, int64_t shared_batches) {
    constexpr auto load = load_packs<kGridThreads, kPack, kAtOnce>;
    constexpr auto store = store_packs<kGridThreads, kPack, kAtOnce>;
    float* kept = reinterpret_cast<float*>(shared_bytes);
    __shared__ Normalizer row;

    const int64_t first = blockIdx.x * slice_cols;
    const int64_t left = min(slice_cols, cols - first);
    const float* x_slice = x + blockIdx.y * cols + first;
    float* y_slice = y + blockIdx.y * cols + first;

    float held[kHeldBatches][kAtOnce];
    float v[kAtOnce];
#pragma unroll
    for (int b = 0; b < kHeldBatches; ++b) {
        load(x_slice + b * kGridBatch, left - b * kGridBatch, held[b]);
    }
    Normalizer mine{-INFINITY, 0.f};
#pragma unroll
    for (int b = 0; b < kHeldBatches; ++b) mine = Merge{}(mine, lift(held[b]));
    for (int64_t b = kHeldBatches; b * kGridBatch < left; ++b) {
        load(x_slice + b * kGridBatch, left - b * kGridBatch, v);
        const int64_t shared = b - kHeldBatches;
        if (shared < shared_batches) store(kept + shared * kGridBatch, kGridBatch, v);
        mine = Merge{}(mine, lift(v));
    }
    mine = slice_normalizer<kGridThreads>(mine);

    Normalizer* row_slices = slices + blockIdx.y * gridDim.x;
    if (threadIdx.x == 0) row_slices[blockIdx.x] = mine;
    cooperative_groups::this_grid().sync();
    if (threadIdx.x < 32) {  // one warp: if all asked for the same few lines, they would queue
        Normalizer all{-INFINITY, 0.f};
        for (unsigned i = threadIdx.x; i < gridDim.x; i += 32) all = Merge{}(all, row_slices[i]);
        all = warp_normalizer(all);
        if (threadIdx.x == 0) row = all;
    }
    __syncthreads();

    const Output output(for_division(row));
#pragma unroll
    for (int b = 0; b < kHeldBatches; ++b) {
        for (float& element : held[b]) element = output(element);
        store(y_slice + b * kGridBatch, left - b * kGridBatch, held[b]);
    }
    for (int64_t b = kHeldBatches; b * kGridBatch < left; ++b) {
        const int64_t shared = b - kHeldBatches;
        if (shared < shared_batches) {
            load(kept + shared * kGridBatch, kGridBatch, v);
        } else {
            load(x_slice + b * kGridBatch, left - b * kGridBatch, v);
        }
        for (float& element : v) element = output(element);
        store(y_slice + b * kGridBatch, left - b * kGridBatch, v);
    }
}

// How the rows are cut.
enum class Wait { nobody, cluster, grid };  // for whom a row's blocks wait
struct Split {
    Wait wait;
    int64_t blocks;        // per row
    int64_t slice_cols;    // of each block but a row's last, which may have fewer
    int64_t rows_at_once;  // in one launch
    int threads;
};

// What the runtime says of the current device: ask(answer, device) is called once for each device and
// key, which is what else the answer depends on. No launch should wait for an answer a second time.
// A failure is not remembered, and leaves no error for the next call to find, unless there was one.
// (Each lambda is a type of its own: what one asks is not mistaken for what another does.)
template <class Answer, class Ask, class Key = int>
cudaError_t ask_once(Answer* answer, Ask ask, const Key& key = {}) {
    static std::mutex mutex;  // several host threads may launch
    static auto& answers = *new std::map<std::pair<int, Key>, Answer>;  // never destroyed
    const bool had_error = cudaPeekAtLastError() != cudaSuccess;
    int device = 0;
    cudaError_t error = cudaGetDevice(&device);
    const std::lock_guard<std::mutex> lock(mutex);
    const auto known = answers.find({device, key});
    if (error == cudaSuccess && known != answers.end()) {
        *answer = known->second;
        return cudaSuccess;
    }
    if (error == cudaSuccess) error = ask(answer, device);
    if (error == cudaSuccess) answers[{device, key}] = *answer;
    if (error != cudaSuccess && !had_error) cudaGetLastError();
    return error;
}

// Of the current device; 0 where there is none.
inline int64_t device_attribute(cudaDeviceAttr attribute) {
    int value = 0;
    const auto ask = [&](int* answer, int device) {
        return cudaDeviceGetAttribute(answer, attribute, device);
    };
    ask_once(&value, ask, attribute);
    return value;
}

// Sets what all launches of a kernel share, once a device: always to the same value, since another host
// thread may be about to launch it. (That cudaDeviceReset undoes it is not noticed.)
template <class... Parameters>
cudaError_t set_once(void (*kernel)(Parameters...), cudaFuncAttribute attribute, int value) {
    const auto set = [&](int*, int) { return cudaFuncSetAttribute(kernel, attribute, value); };
    return ask_once(&value, set, std::pair(reinterpret_cast<const void*>(kernel), attribute));
}

// The kernel for clusters of blocks of that many threads: 256 or 512.
using ClusterKernel = void (*)(const float*, float*, int64_t, int64_t);
template <int kThreads, int kPack>
ClusterKernel cluster_kernel(bool crowded) {
    return crowded ? cluster_per_row_kernel<kThreads, kPack, true, Softmax>
                   : cluster_per_row_kernel<kThreads, kPack, false, Softmax>;
}
inline ClusterKernel cluster_kernel(int threads, bool packs_of_four, bool crowded) {
    if (threads == 256) {
        return packs_of_four ? cluster_kernel<256, 4>(crowded) : cluster_kernel<256, 1>(crowded);
    }
    return packs_of_four ? cluster_kernel<512, 4>(crowded) : cluster_kernel<512, 1>(crowded);
}

// More than 8 blocks in a cluster must be asked for.
inline cudaError_t allow_large_clusters(ClusterKernel kernel) {
    return set_once(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
}

// Blocks in the largest cluster that the current device can run: 0 where it has none, or where the
// kernel was compiled for GPUs that have none.
inline int64_t largest_cluster() {
    int blocks = 0;
    ask_once(&blocks, [](int* answer, int device) {
        const ClusterKernel kernel = cluster_kernel(512, false, false);  // no other needs more
        int has_clusters = 0;
        cudaFuncAttributes compiled{};
        cudaError_t error = cudaDeviceGetAttribute(&has_clusters, cudaDevAttrClusterLaunch, device);
        if (error != cudaSuccess || has_clusters == 0) return error;
        error = cudaFuncGetAttributes(&compiled, kernel);
        if (error != cudaSuccess || compiled.ptxVersion < 90) return error;
        cudaLaunchConfig_t config{};
        config.gridDim = dim3(kLargestCluster);
        config.blockDim = dim3(512);
        error = allow_large_clusters(kernel);
        if (error != cudaSuccess) return error;
        error = cudaOccupancyMaxPotentialClusterSize(answer, kernel, &config);
        *answer = error == cudaSuccess ? std::min(*answer, kLargestCluster) : 0;
        return error;
    });
    return blocks;
}

// A cluster where it can hold the row; otherwise as many blocks as fit on the GPU at once, but none
// with less than a batch; and one block where there are so many rows. The same for a shape on every
// call with the same current device.
inline Split split(int64_t rows, int64_t cols) {
    const auto divided = [](int64_t a, int64_t b) { return (a + b - 1) / b; };
    Split cut{};
    const int64_t largest = cols <= kLargestCluster * kClusterHeld * 512 ? largest_cluster() : 0;
    cut.threads = cols <= largest * kClusterHeld * 256 ? 256 : 512;  // small blocks share an SM
    if (cols <= largest * kClusterHeld * cut.threads) {
        cut.wait = Wait::cluster;
        cut.blocks = divided(cols, kClusterHeld * cut.threads);
        cut.rows_at_once = 65535;  // of a grid's y
    } else {
        const int64_t at_once = 2 * device_attribute(cudaDevAttrMultiProcessorCount);
        cut.threads = kGridThreads;
        cut.blocks = std::min(at_once / std::max<int64_t>(1, rows), divided(cols, kGridBatch));
        cut.blocks = std::max<int64_t>(1, cut.blocks);
        cut.wait = cut.blocks == 1 ? Wait::nobody : Wait::grid;
        cut.rows_at_once = std::max<int64_t>(1, at_once / cut.blocks);
    }
    constexpr int64_t kLine = 32;  // floats: slices begin on a line of the cache where rows do
    cut.slice_cols = divided(divided(cols, cut.blocks), kLine) * kLine;
    cut.blocks = divided(cols, cut.slice_cols);
    return cut;
}

// Bytes of scratch for so many rows that are cut so: none for clusters.
inline size_t workspace_bytes_of(const Split& cut, int64_t rows) {
    if (cut.wait != Wait::grid) return 0;
    return static_cast<size_t>(std::min(rows, cut.rows_at_once) * cut.blocks) * sizeof(Normalizer);
}

// Bytes of scratch that split_row needs for this shape on the current device.
inline size_t split_row_workspace_bytes(int64_t rows, int64_t cols) {
    return rows <= 0 || cols <= 0 ? 0 : workspace_bytes_of(split(rows, cols), rows);
}

inline cudaError_t launch_cluster_per_row(const float* x, float* y, dim3 grid, int64_t cols,
                                          const Split& cut, bool packs_of_four,
                                          cudaStream_t stream) {
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim = {grid.x, 1, 1};
    cudaLaunchConfig_t config{};
    config.gridDim = grid;
    config.blockDim = dim3(static_cast<unsigned>(cut.threads));
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = 1;
    const int64_t multiprocessors = device_attribute(cudaDevAttrMultiProcessorCount);
    const bool crowded = int64_t{grid.x} * grid.y > 2 * multiprocessors;
    const ClusterKernel kernel = cluster_kernel(cut.threads, packs_of_four, crowded);
    const cudaError_t error = allow_large_clusters(kernel);
    if (error != cudaSuccess) return error;
    return cudaLaunchKernelEx(&config, kernel, x, y, cols, cut.slice_cols);
}

inline cudaError_t launch_grid_per_row(const float* x, float* y, Normalizer* slices, dim3 grid,
                                       int64_t cols, int64_t slice_cols, bool packs_of_four,
                                       cudaStream_t stream) {
    constexpr int kHeldBatches = 3;  // as many as 64 registers have room for
    const auto kernel = packs_of_four ? grid_per_row_kernel<kHeldBatches, 4, Softmax>
                                      : grid_per_row_kernel<kHeldBatches, 1, Softmax>;
    constexpr int64_t kBatchBytes = kGridBatch * sizeof(float);
    constexpr int64_t kReserved = 2048;  // by the system and for the kernel's own variables
    const int64_t room =
        device_attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor) / 2 - kReserved;
    const int64_t fitting = std::max<int64_t>(0, room / kBatchBytes);
    const int64_t wanted = (slice_cols + kGridBatch - 1) / kGridBatch - kHeldBatches;
    const int64_t batches = std::max<int64_t>(0, std::min(wanted, fitting));

    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeCooperative;
    attribute.val.cooperative = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = grid;
    config.blockDim = dim3(kGridThreads);
    config.dynamicSmemBytes = static_cast<size_t>(batches * kBatchBytes);
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = 1;
    const cudaError_t error = set_once(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                       static_cast<int>(fitting * kBatchBytes));
    if (error != cudaSuccess) return error;
    return cudaLaunchKernelEx(&config, kernel, x, y, slices, cols, slice_cols, batches);
}

// Softmax for few long rows. workspace: split_row_workspace_bytes(rows, cols) bytes of device
// memory, 8-byte aligned, of any content; cudaErrorInvalidValue where it is smaller. It belongs to
// one call at a time, on one stream: two calls that may overlap need one each.
inline cudaError_t split_row(const float* x, float* y, int64_t rows, int64_t cols, void* workspace,
                             size_t workspace_bytes, cudaStream_t stream) {
    if (rows < 0 || cols < 0) return cudaErrorInvalidValue;
    if (rows == 0 || cols == 0) return cudaSuccess;
    if (x == nullptr || y == nullptr) return cudaErrorInvalidValue;
    const Split cut = split(rows, cols);
    if (cut.wait == Wait::nobody) return block_per_row(x, y, rows, cols, stream);
    const size_t needed = workspace_bytes_of(cut, rows);
    if (workspace_bytes < needed || (needed > 0 && workspace == nullptr)) {
        return cudaErrorInvalidValue;
    }
    const auto by_16_bytes = [](const float* p) {
        return reinterpret_cast<uintptr_t>(p) % sizeof(Pack<4>) == 0;
    };
    const bool packs_of_four = cols % 4 == 0 && by_16_bytes(x) && by_16_bytes(y);
    auto* slices = static_cast<Normalizer*>(workspace);  // one launch after the other uses them
    cudaError_t error = cudaSuccess;
    for (int64_t row = 0; row < rows && error == cudaSuccess; row += cut.rows_at_once) {
        const dim3 grid(static_cast<unsigned>(cut.blocks),
                        static_cast<unsigned>(std::min(rows - row, cut.rows_at_once)));
        const float* x_row = x + row * cols;
        float* y_row = y + row * cols;
        error = cut.wait == Wait::cluster
                    ? launch_cluster_per_row(x_row, y_row, grid, cols, cut, packs_of_four, stream)
                    : launch_grid_per_row(x_row, y_row, slices, grid, cols, cut.slice_cols,
                                          packs_of_four, stream);
    }
    if (error != cudaSuccess) cudaGetLastError();  // reported here: not to be found again later
    return error;
}

}  // namespace online_softmax
