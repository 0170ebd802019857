// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 03_online_softmax/further/split_row, version 2.0
//
// Few long rows: one block per row would leave most of the GPU idle, so many blocks share a row.
//   new here   blocks that exchange their (m, d) in one launch, as a cluster or as a whole grid
//   traffic    1 read + 1 write per element as far as the blocks can keep their slices of x while
//              they wait; what does not fit is read again
//   accepts    rows x cols floats, row-major; y may be x; scratch where the whole grid waits
//   needs      CUDA 12; clusters need compute capability 9.0, below it the whole grid waits
//   source     the merge of Milakov & Gimelshein 2018, section 3.1, across blocks
#pragma once
#include <cooperative_groups.h>

#include "../online_softmax.cuh"

extern __shared__ __align__(16) unsigned char shared_bytes[];

namespace online_softmax {

inline constexpr int kSliceThreads = 512;
inline constexpr int kBatch = kAtOnce * kSliceThreads;  // elements that a block loads at once
inline constexpr int kLargestCluster = 16;              // that any GPU offers

// The sets of all lanes as one, in every lane.
__device__ inline Normalizer warp_normalizer(Normalizer mine) {
    float m = mine.m;
    for (int step = 16; step > 0; step /= 2) m = fmaxf(m, __shfl_xor_sync(~0u, m, step));
    const float base = fabsf(m) == INFINITY ? 0.f : m;  // inf - inf would be NaN
    float d = mine.d * expf(mine.m - base);
    for (int step = 16; step > 0; step /= 2) d += __shfl_xor_sync(~0u, d, step);
    return {m, d};
}

// The sets of all threads of a block of kSliceThreads as one, in every thread. cub::BlockReduce
// lets one thread merge what the warps found, one after another; where a block has little else to
// do, the detour over a second round of shuffles pays.
__device__ inline Normalizer slice_normalizer(Normalizer mine) {
    constexpr int kWarps = kSliceThreads / 32;
    __shared__ Normalizer warps[kWarps];
    const int lane = threadIdx.x % 32;
    mine = warp_normalizer(mine);
    if (lane == 0) warps[threadIdx.x / 32] = mine;
    __syncthreads();
    return warp_normalizer(lane < kWarps ? warps[lane] : Normalizer{-INFINITY, 0.f});
}

// What batch b of a slice of that many columns has of them.
__device__ inline Part part(int64_t slice_cols, int64_t b) {
    return {static_cast<int>(min(slice_cols - b * kBatch, int64_t{kBatch}))};
}

// A cluster per row, blockIdx.y; a block of it per slice, blockIdx.x. The slice stays in registers.
template <int kBatches, class Output>
__global__ void __launch_bounds__(kSliceThreads)
    cluster_per_row_kernel(const float* x, float* y, int64_t cols, int64_t slice_cols) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    const auto cluster = cooperative_groups::this_cluster();
    cluster.barrier_arrive();
    __shared__ Normalizer slices[kLargestCluster];

    const int64_t first = blockIdx.x * slice_cols;
    const int64_t left = min(slice_cols, cols - first);
    const float* x_slice = x + blockIdx.y * cols + first;
    float* y_slice = y + blockIdx.y * cols + first;

    float held[kBatches][kAtOnce];
#pragma unroll
    for (int b = 0; b < kBatches; ++b) {
        load<kSliceThreads>(x_slice + b * kBatch, part(left, b), held[b]);
    }
    Normalizer mine{-INFINITY, 0.f};
#pragma unroll
    for (int b = 0; b < kBatches; ++b) mine = Merge{}(mine, lift(held[b]));
    mine = slice_normalizer(mine);

    cluster.barrier_wait();  // every block has begun, so that its shared memory is there
    const unsigned blocks = cluster.num_blocks();
    if (threadIdx.x < blocks) {  // thread i tells block i
        cluster.map_shared_rank(slices, threadIdx.x)[cluster.block_rank()] = mine;
    }
    cluster.sync();
    const unsigned lane = threadIdx.x % 32;
    const Normalizer row =
        warp_normalizer(lane < blocks ? slices[lane] : Normalizer{-INFINITY, 0.f});

    const Output output(for_division(row));
#pragma unroll
    for (int b = 0; b < kBatches; ++b) {
        for (float& element : held[b]) element = output(element);
        store<kSliceThreads>(y_slice + b * kBatch, part(left, b), held[b]);
    }
#else
    __trap();  // never launched: see largest_cluster
#endif
}

// For rows longer than a cluster can hold: gridDim.x blocks per row, blockIdx.y, all of them on the
// GPU at the same time. The slice's first batches stay in registers, the next `shared_batches` in
// shared memory, and what is left is read again, from L2 with luck.
template <int kHeldBatches, class Output>
__global__ void __launch_bounds__(kSliceThreads, 2)
    grid_per_row_kernel(const float* x, float* y, Normalizer* slices, int64_t cols,
                        int64_t slice_cols, int64_t shared_batches) {
    float* kept = reinterpret_cast<float*>(shared_bytes) + threadIdx.x;
    __shared__ Normalizer row;

    const int64_t first = blockIdx.x * slice_cols;
    const int64_t left = min(slice_cols, cols - first);
    const float* x_slice = x + blockIdx.y * cols + first;
    float* y_slice = y + blockIdx.y * cols + first;

    float held[kHeldBatches][kAtOnce];
    float v[kAtOnce];
#pragma unroll
    for (int b = 0; b < kHeldBatches; ++b) {
        load<kSliceThreads>(x_slice + b * kBatch, part(left, b), held[b]);
    }
    Normalizer mine{-INFINITY, 0.f};
#pragma unroll
    for (int b = 0; b < kHeldBatches; ++b) mine = Merge{}(mine, lift(held[b]));
    for (int64_t b = kHeldBatches; b * kBatch < left; ++b) {
        load<kSliceThreads>(x_slice + b * kBatch, part(left, b), v);
        if (b - kHeldBatches < shared_batches) {
#pragma unroll
            for (int i = 0; i < kAtOnce; ++i) {
                kept[(b - kHeldBatches) * kBatch + i * kSliceThreads] = v[i];
            }
        }
        mine = Merge{}(mine, lift(v));
    }
    mine = slice_normalizer(mine);

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
        store<kSliceThreads>(y_slice + b * kBatch, part(left, b), held[b]);
    }
    for (int64_t b = kHeldBatches; b * kBatch < left; ++b) {
        if (b - kHeldBatches < shared_batches) {
#pragma unroll
            for (int i = 0; i < kAtOnce; ++i) {
                v[i] = kept[(b - kHeldBatches) * kBatch + i * kSliceThreads];
            }
        } else {
            load<kSliceThreads>(x_slice + b * kBatch, part(left, b), v);
        }
        for (float& element : v) element = output(element);
        store<kSliceThreads>(y_slice + b * kBatch, part(left, b), v);
    }
}

// How the rows are cut.
enum class Wait { nobody, cluster, grid };  // for whom a row's blocks wait
struct Split {
    Wait wait;
    int64_t blocks;        // per row
    int64_t slice_cols;    // of each block but a row's last, which may have fewer
    int64_t rows_at_once;  // in one launch
    int batches;           // of a slice in registers
};

inline int64_t device_attribute(cudaDeviceAttr attribute) {
    int device = 0;
    int value = 0;
    if (cudaGetDevice(&device) == cudaSuccess) cudaDeviceGetAttribute(&value, attribute, device);
    return value;
}

// Blocks in the largest cluster that the current device can run: 0 where it has none, or where the
// kernel was compiled for GPUs that have none.
inline int64_t largest_cluster() {
    const auto kernel = cluster_per_row_kernel<2, Softmax>;
    cudaFuncAttributes compiled{};
    if (device_attribute(cudaDevAttrClusterLaunch) == 0) return 0;
    if (cudaFuncGetAttributes(&compiled, kernel) != cudaSuccess || compiled.ptxVersion < 90)
        return 0;
    // More than 8 must be asked for.
    for (const auto each :
         {cluster_per_row_kernel<1, Softmax>, cluster_per_row_kernel<2, Softmax>}) {
        if (cudaFuncSetAttribute(each, cudaFuncAttributeNonPortableClusterSizeAllowed, 1) !=
            cudaSuccess) {
            return 0;
        }
    }
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(kLargestCluster);
    config.blockDim = dim3(kSliceThreads);
    int blocks = 0;
    if (cudaOccupancyMaxPotentialClusterSize(&blocks, kernel, &config) != cudaSuccess) return 0;
    return std::min(blocks, kLargestCluster);
}

// A cluster where it can hold the row; otherwise as many blocks as fit on the GPU at once, but none
// with less than a batch; and one block where there are so many rows. The same for a shape on every
// call with the same current device.
inline Split split(int64_t rows, int64_t cols) {
    const auto divided = [](int64_t a, int64_t b) { return (a + b - 1) / b; };
    Split cut{};
    const int64_t largest = cols <= kLargestCluster * kBatch * 2 ? largest_cluster() : 0;
    cut.batches = cols <= largest * kBatch ? 1 : 2;
    if (cols <= largest * kBatch * 2) {
        cut.wait = Wait::cluster;
        cut.blocks = divided(cols, cut.batches * kBatch);
        cut.rows_at_once = 65535;  // of a grid's y
    } else {
        const int64_t at_once = 2 * device_attribute(cudaDevAttrMultiProcessorCount);
        cut.batches = 3;  // as many as 64 registers have room for
        cut.blocks = std::min(at_once / std::max<int64_t>(1, rows), divided(cols, kBatch));
        cut.blocks = std::max<int64_t>(1, cut.blocks);
        cut.wait = cut.blocks == 1 ? Wait::nobody : Wait::grid;
        cut.rows_at_once = std::max<int64_t>(1, at_once / cut.blocks);
    }
    constexpr int64_t kLine = 32;  // floats: slices begin on a line of the cache where rows do
    cut.slice_cols = divided(divided(cols, cut.blocks), kLine) * kLine;
    cut.blocks = divided(cols, cut.slice_cols);
    return cut;
}

// Bytes of scratch that split_row needs for this shape on the current device: none for clusters.
inline size_t split_row_workspace_bytes(int64_t rows, int64_t cols) {
    if (rows <= 0 || cols <= 0) return 0;
    const Split cut = split(rows, cols);
    if (cut.wait != Wait::grid) return 0;
    return static_cast<size_t>(std::min(rows, cut.rows_at_once) * cut.blocks) * sizeof(Normalizer);
}

template <int kBatches>
cudaError_t launch_cluster_per_row(const float* x, float* y, dim3 grid, int64_t cols,
                                   int64_t slice_cols, cudaStream_t stream) {
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim = {grid.x, 1, 1};
    cudaLaunchConfig_t config{};
    config.gridDim = grid;
    config.blockDim = dim3(kSliceThreads);
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = 1;
    return cudaLaunchKernelEx(&config, cluster_per_row_kernel<kBatches, Softmax>, x, y, cols,
                              slice_cols);
}

template <int kBatches>
cudaError_t launch_grid_per_row(const float* x, float* y, Normalizer* slices, dim3 grid,
                                int64_t cols, int64_t slice_cols, cudaStream_t stream) {
    const auto kernel = grid_per_row_kernel<kBatches, Softmax>;
    constexpr int64_t kBatchBytes = kBatch * sizeof(float);
    constexpr int64_t kReserved = 2048;  // by the system and for the kernel's own variables
    const int64_t room =
        device_attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor) / 2 - kReserved;
    const int64_t fitting = std::max<int64_t>(0, room / kBatchBytes);
    const int64_t wanted = (slice_cols + kBatch - 1) / kBatch - kBatches;
    const int64_t batches = std::max<int64_t>(0, std::min(wanted, fitting));

    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeCooperative;
    attribute.val.cooperative = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = grid;
    config.blockDim = dim3(kSliceThreads);
    config.dynamicSmemBytes = static_cast<size_t>(batches * kBatchBytes);
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = 1;
    // The same for all shapes: another host thread may be about to launch the kernel.
    const cudaError_t error =
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(fitting * kBatchBytes));
    if (error != cudaSuccess) return error;
    return cudaLaunchKernelEx(&config, kernel, x, y, slices, cols, slice_cols, batches);
}

// Softmax for few long rows. workspace: split_row_workspace_bytes(rows, cols) bytes of device
// memory, 8-byte aligned, of any content; cudaErrorInvalidValue where it is smaller.
inline cudaError_t split_row(const float* x, float* y, int64_t rows, int64_t cols, void* workspace,
                             size_t workspace_bytes, cudaStream_t stream) {
    if (rows < 0 || cols < 0) return cudaErrorInvalidValue;
    if (rows == 0 || cols == 0) return cudaSuccess;
    if (x == nullptr || y == nullptr) return cudaErrorInvalidValue;
    const Split cut = split(rows, cols);
    if (cut.wait == Wait::nobody) return block_per_row(x, y, rows, cols, stream);
    const size_t needed = split_row_workspace_bytes(rows, cols);
    if (workspace_bytes < needed || (needed > 0 && workspace == nullptr)) {
        return cudaErrorInvalidValue;
    }
    auto* slices = static_cast<Normalizer*>(workspace);  // one launch after the other uses them
    cudaError_t error = cudaSuccess;
    for (int64_t row = 0; row < rows && error == cudaSuccess; row += cut.rows_at_once) {
        const dim3 grid(static_cast<unsigned>(cut.blocks),
                        static_cast<unsigned>(std::min(rows - row, cut.rows_at_once)));
        const float* x_row = x + row * cols;
        float* y_row = y + row * cols;
        if (cut.wait == Wait::grid) {
            error =
                launch_grid_per_row<3>(x_row, y_row, slices, grid, cols, cut.slice_cols, stream);
        } else if (cut.batches == 1) {
            error = launch_cluster_per_row<1>(x_row, y_row, grid, cols, cut.slice_cols, stream);
        } else {
            error = launch_cluster_per_row<2>(x_row, y_row, grid, cols, cut.slice_cols, stream);
        }
    }
    if (error != cudaSuccess) cudaGetLastError();  // reported here: not to be found again later
    return error;
}

}  // namespace online_softmax
