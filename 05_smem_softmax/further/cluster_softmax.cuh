// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 05_smem_softmax/further/cluster_softmax, version 1.0
//
// Several blocks share a row, so that rows of a megabyte stay on the chip, and few rows use all of it.
//   new here   blocks of a cluster that send their (m, d) to each other's shared memory; or a grid of
//              blocks that are all there at the same time, and leave it in device memory
//   traffic    1 read + 1 write per element while the blocks can keep the row: 16 of them 1.4 million
//              floats on an H200; 2 reads of what is left
//   accepts    as online_cached.cuh
//   needs      CUDA 12. Clusters: compute capability 9.0; below it a block has a row
//   source     the merge of Milakov & Gimelshein 2018, section 3.1, across blocks, as in 03's split_row
#pragma once
#include <cooperative_groups.h>
#ifdef __NVCC__
#include <cuda/ptx>
#endif

#include "online_cached.cuh"

namespace smem_softmax {

inline constexpr int kLargestCluster = 16;  // blocks, that any GPU offers

// A message to another block's shared memory: the numbers of a set, and that they have arrived.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
template <class Compute>
__device__ void send(Normalizer<Compute> set, Normalizer<Compute>* there, uint64_t* arrived) {
    const Compute numbers[] = {set.m, set.d};
    cuda::ptx::st_async(&there->m, numbers, arrived);
}
#endif

// A cluster per row. A block waits for messages, not for a barrier of the cluster: at 976 x 65536 floats
// on an H200 that is the difference between 0.87 and 0.97 of the speed of a copy.
struct Cluster {
    template <class Set>
    struct Scratch {
        Set of_block[kLargestCluster];
        uint64_t arrived;  // counts the bytes of the messages
    };
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    __device__ static auto cluster() {
        return cooperative_groups::this_cluster();
    }
    __device__ int64_t row() const {
        return blockIdx.x / cluster().num_blocks();
    }
    __device__ int rank() const {
        return static_cast<int>(cluster().block_rank());
    }

    // Nobody may send before all blocks are there: the barrier is joined here, and waited for in
    // exchange(), when x has been read.
    template <class Set>
    __device__ void open([[maybe_unused]] Scratch<Set>& scratch) const {
#ifdef __CUDA_ARCH__
        if (threadIdx.x == 0) {
            const unsigned bytes = cluster().num_blocks() * sizeof(Set);
            cuda::ptx::mbarrier_init(&scratch.arrived, 1);
            cuda::ptx::fence_mbarrier_init(cuda::ptx::sem_release, cuda::ptx::scope_cluster);
            cuda::ptx::mbarrier_arrive_expect_tx(cuda::ptx::sem_release, cuda::ptx::scope_cta,
                                                 cuda::ptx::space_shared, &scratch.arrived, bytes);
        }
#endif
        __cluster_barrier_arrive_relaxed();
    }
    template <class Set>
    __device__ Set exchange(Scratch<Set>& scratch, Set block) {
        const auto blocks = static_cast<int>(cluster().num_blocks());
        const auto to = static_cast<int>(threadIdx.x);  // lane i of the first warp tells block i
        __cluster_barrier_wait();
#ifdef __CUDA_ARCH__
        if (to < blocks) {
            send(block, cluster().map_shared_rank(scratch.of_block + rank(), to),
                 cluster().map_shared_rank(&scratch.arrived, to));
        }
        while (!cuda::ptx::mbarrier_try_wait_parity(
            cuda::ptx::sem_acquire, cuda::ptx::scope_cluster, &scratch.arrived, 0)) {
        }
#else
        if (to < blocks) *cluster().map_shared_rank(scratch.of_block + rank(), to) = block;
        __cluster_barrier_arrive();
        __cluster_barrier_wait();
#endif
        return warp_merge(scratch.of_block, blocks);
    }
#else  // never launched: see largest_cluster
    __device__ int64_t row() const {
        return 0;
    }
    __device__ int rank() const {
        return 0;
    }
    template <class Set>
    __device__ void open(Scratch<Set>&) const {
        __trap();
    }
    template <class Set>
    __device__ Set exchange(Scratch<Set>&, Set block) {
        return block;
    }
#endif
};

// All blocks of a cooperative launch at the same time, `blocks_a_row` of them for a row.
template <class Set>
struct Grid {
    template <class>
    struct Scratch {
        Set row;
    };
    Set* of_block;  // device memory, one per block
    int blocks_a_row;

    __device__ int64_t row() const { return blockIdx.x / blocks_a_row; }
    __device__ int rank() const { return static_cast<int>(blockIdx.x % blocks_a_row); }
    __device__ void open(Scratch<Set>&) const {}
    __device__ Set exchange(Scratch<Set>& scratch, Set block) {
        if (threadIdx.x == 0) of_block[blockIdx.x] = block;
        cooperative_groups::this_grid().sync();
        if (threadIdx.x < 32) {  // one warp: if all asked for the same few lines, they would queue
            block = warp_merge(of_block + row() * blocks_a_row, blocks_a_row);
            if (threadIdx.x == 0) scratch.row = block;
        }
        __syncthreads();
        return scratch.row;
    }
};

// How rows are cut: a row over so many blocks, each with a slice.
enum class Share { block, cluster, grid };  // who has a row
struct Cut {
    Share share;
    int blocks;  // a row
    Slice slice;
    int64_t rows_at_once;  // in one launch
};

// What the cut depends on, of the current device.
struct Chip {
    int64_t multiprocessors;
    int64_t room;             // bytes of shared memory for a block's rows
    int64_t largest_cluster;  // blocks; 0 where there are no clusters
    double bytes_per_us;      // of a copy, as far as the device tells
};

// Blocks in the largest cluster that the current device can run: 0 where it has none, or where the
// kernel was compiled for GPUs that have none.
inline int64_t largest_cluster() {
    const auto kernel = row_on_chip_kernel<Algorithm::softmax, true, true, Cluster, float>;
    cudaFuncAttributes compiled{};
    if (device_attribute(cudaDevAttrClusterLaunch) == 0) return 0;
    if (cudaFuncGetAttributes(&compiled, kernel) != cudaSuccess || compiled.ptxVersion < 90) {
        return 0;
    }
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(kLargestCluster);
    config.blockDim = dim3(1024);
    int blocks = 0;
    if (cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1) !=
            cudaSuccess ||
        cudaOccupancyMaxPotentialClusterSize(&blocks, kernel, &config) != cudaSuccess) {
        return 0;
    }
    return std::min(blocks, kLargestCluster);
}

inline Chip current_chip() {
    const double megahertz =
        static_cast<double>(device_attribute(cudaDevAttrMemoryClockRate)) / 1e3;
    const auto bits = static_cast<double>(device_attribute(cudaDevAttrGlobalMemoryBusWidth));
    const double peak = 2 * megahertz * bits / 8;  // bytes a microsecond; of which a copy gets 87 %
    return {device_attribute(cudaDevAttrMultiProcessorCount), room_for_rows(), largest_cluster(),
            peak > 0 ? 0.87 * peak : 4.27e6};
}

// A row of so many packs over `blocks` blocks of at most `most_threads`, which share the `room` of a
// multiprocessor with others where they are smaller than 1024. Slices begin on a line of the cache
// where rows do. tensors: as in Slice.
inline Cut cut_of(Share share, int64_t packs, int tensors, int64_t blocks, int64_t room,
                  int most_threads, int64_t rows_at_once) {
    constexpr int64_t kLine = 128 / 16;
    const int64_t each = divided_up(std::max<int64_t>(1, packs), blocks * kLine) * kLine;
    // Blocks of 256 threads, of which a multiprocessor holds four, one loading while another waits;
    // more threads where these have no room for the slice, or up to 512 just for it in their registers
    // (0.92 instead of 0.87 of the copy at 262144 floats, an H200; of a gradient always).
    int threads = threads_for(each * tensors);
    if (threads > 512 || (tensors == 1 && threads > 256 && threads <= 448)) {
        for (threads = 256; threads < most_threads; threads *= 2) {
            const int64_t kept = divided_up(each, threads) - kHeld / tensors;
            if (kept * tensors * threads * 16 <= room * threads / 1024 - 1024) break;
        }
    }
    return {share, static_cast<int>(divided_up(std::max<int64_t>(1, packs), each)),
            slice_of(each, threads, tensors, std::min(room, room * most_threads / 1024)),
            rows_at_once};
}

// The cut for rows of so many packs: a block per row where 256 threads have it in their registers;
// beyond that a cluster of blocks of 128, of which a multiprocessor holds eight, each at another point of
// its work; what 16 such do not hold, in blocks of 256, and then in larger ones. The whole grid has a
// row where there are few rows, longer than a cluster has registers, and scratch for it.
inline Cut cut_for(int64_t rows, int64_t packs, int tensors, const Chip& chip, bool has_scratch) {
    const int64_t full = int64_t{128} * kHeld / tensors;
    constexpr int64_t kLongest = int64_t{256} * kHeld * kLargestCluster;
    const int64_t grid_blocks = std::min(divided_up(packs, 2 * full),
                                         2 * chip.multiprocessors / std::max<int64_t>(1, rows));
    if (has_scratch && packs > kLongest && grid_blocks >= kLargestCluster) {
        return cut_of(Share::grid, packs, tensors, grid_blocks, chip.room - 2048, 512, rows);
    }
    const int64_t of_one = packs <= full * kLargestCluster ? full : 2 * full;
    const int64_t blocks =
        packs <= 2 * full ? 1 : std::min(divided_up(packs, of_one), chip.largest_cluster);
    if (blocks < 2) return cut_of(Share::block, packs, tensors, 1, chip.room, 1024, INT32_MAX);
    return cut_of(Share::cluster, packs, tensors, blocks, chip.room, 1024, INT32_MAX / blocks);
}

// Bytes of scratch that a cut for so many rows needs.
template <class Set>
size_t workspace_bytes_of(const Cut& cut) {
    if (cut.share != Share::grid) return 0;
    return static_cast<size_t>(cut.rows_at_once * cut.blocks) * sizeof(Set);
}

// Bytes of scratch with which few rows of this shape take less time on the current device: 0 where
// they do not.
template <class T>
size_t cluster_softmax_workspace_bytes(int64_t rows, int64_t cols) {
    if (rows <= 0 || cols <= 0) return 0;
    return workspace_bytes_of<Normalizer<ComputeOf<T>>>(
        cut_for(rows, packs_of<T>(cols), 1, current_chip(), true));
}

// One kernel, as many grids as it takes for all rows. tensors: what it reads and writes.
template <class Kernel, class Team, class... T>
cudaError_t launch_cut(Kernel kernel, Team team, int64_t rows, int64_t cols, const Cut& cut,
                       cudaStream_t stream, T*... tensors) {
    cudaLaunchAttribute attribute{};
    if (cut.share == Share::cluster) {
        attribute.id = cudaLaunchAttributeClusterDimension;
        attribute.val.clusterDim = {static_cast<unsigned>(cut.blocks), 1, 1};
    } else if (cut.share == Share::grid) {
        attribute.id = cudaLaunchAttributeCooperative;
        attribute.val.cooperative = 1;
    }
    cudaLaunchConfig_t config{};
    config.blockDim = dim3(static_cast<unsigned>(cut.slice.threads));
    config.dynamicSmemBytes = cut.slice.shared();
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = cut.share == Share::block ? 0 : 1;
    cudaError_t error = cudaSuccess;
    if (cut.slice.shared() > 0) {  // all: another host thread may be about to launch other rows
        error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                     static_cast<int>(room_for_rows()));
    }
    if (error == cudaSuccess && cut.share == Share::cluster) {  // more than 8 must be asked for
        error = cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
    }
    for (int64_t row = 0; row < rows && error == cudaSuccess; row += cut.rows_at_once) {
        const int64_t now = std::min(rows - row, cut.rows_at_once);
        config.gridDim = dim3(static_cast<unsigned>(now * cut.blocks));
        error = cudaLaunchKernelEx(&config, kernel, (tensors + row * cols)..., team, cols,
                                   cut.slice.packs, cut.slice.kept);
    }
    if (error != cudaSuccess) cudaGetLastError();  // reported here: not to be found again later
    return error;
}

// Softmax or log-softmax of each row, cut so. workspace: workspace_bytes_of(cut) bytes.
template <Algorithm kAlgorithm, class T>
cudaError_t launch_as(const Cut& cut, const T* x, T* y, int64_t rows, int64_t cols, void* workspace,
                      cudaStream_t stream) {
    const bool more = cut.slice.more();
    if (cut.share == Share::cluster) {
        const auto kernel = more ? row_on_chip_kernel<kAlgorithm, true, true, Cluster, T>
                                 : row_on_chip_kernel<kAlgorithm, false, true, Cluster, T>;
        return launch_cut(kernel, Cluster{}, rows, cols, cut, stream, x, y);
    }
    if (cut.share == Share::grid) {
        using Set = Normalizer<ComputeOf<T>>;
        const auto kernel = row_on_chip_kernel<kAlgorithm, true, true, Grid<Set>, T>;
        return launch_cut(kernel, Grid<Set>{static_cast<Set*>(workspace), cut.blocks}, rows, cols,
                          cut, stream, x, y);
    }
    const auto kernel = more ? row_on_chip_kernel<kAlgorithm, true, true, Block, T>
                             : row_on_chip_kernel<kAlgorithm, false, true, Block, T>;
    return launch_cut(kernel, Block{}, rows, cols, cut, stream, x, y);
}

template <Algorithm kAlgorithm, class T>
cudaError_t launch_clusters(const T* x, T* y, int64_t rows, int64_t cols, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
    bool empty = false;
    const cudaError_t error = check_rows(x, y, rows, cols, &empty);
    if (error != cudaSuccess || empty) return error;
    if (!have_one_alignment(x, y))
        return launch_online_cached<kAlgorithm>(x, y, rows, cols, stream);
    const Chip chip = current_chip();
    Cut cut = cut_for(rows, packs_of<T>(cols), 1, chip, workspace != nullptr);
    if (workspace_bytes_of<Normalizer<ComputeOf<T>>>(cut) > workspace_bytes) {
        cut = cut_for(rows, packs_of<T>(cols), 1, chip, false);
    }
    return launch_as<kAlgorithm>(cut, x, y, rows, cols, workspace, stream);
}

// Softmax of each row of x into y (rows x cols, device memory, y may be x), of any width; a block per
// row where there are no clusters, or x and y are not misaligned by the same. workspace may be null;
// with cluster_softmax_workspace_bytes() of it, 16-byte aligned and of any content, few long rows take
// less time. Asynchronous on stream. cudaErrorInvalidValue for a null pointer, a negative size, more than
// 2^31 - 1 columns, an address that no T has.
template <class T>
cudaError_t cluster_softmax(const T* x, T* y, int64_t rows, int64_t cols, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
    return launch_clusters<Algorithm::softmax>(x, y, rows, cols, workspace, workspace_bytes,
                                               stream);
}

// log(softmax(x)) of each row.
template <class T>
cudaError_t cluster_log_softmax(const T* x, T* y, int64_t rows, int64_t cols, void* workspace,
                                size_t workspace_bytes, cudaStream_t stream) {
    return launch_clusters<Algorithm::log_softmax>(x, y, rows, cols, workspace, workspace_bytes,
                                                   stream);
}

}  // namespace smem_softmax
