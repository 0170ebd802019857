// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 05_smem_softmax, version 1.0
//
// A row too long for the registers of a warp stays in the shared memory of a block.
//   new here   layouts of a row in shared memory and their bank conflicts; a block size chosen by occupancy
//   traffic    as 04: 1 read + 1 write per element while the row fits; uncached: 3 reads + 1 write
//   accepts    what 04 accepts, with rows of up to 57,856 floats on an H200; uncached: rows of any length
//   rows       special rows as in 04
//   source     OneFlow's oneflow/core/cuda/softmax.cuh (2021), tiers two and three; x keeps its type
#pragma once
#include <cub/block/block_reduce.cuh>

#include "../04_warp_softmax/ask_once.cuh"
#include "../04_warp_softmax/warp_softmax.cuh"

extern __shared__ __align__(128) unsigned char shared_bytes[];

namespace smem_softmax {

// ---------------------------------------------------------------- layouts of a row

// A layout keeps a row in shared memory between the three loops. put() stores pack p of `packs`; get() loads the pack
// back in the same thread. pack_size() returns the elements per pack if width and alignment allow packs. ByElement
// stores packs of two one element at a time, as OneFlow does. Packed: in the row's order, so neighbouring lanes store
// element i two places apart. Interleaved: the first elements of all packs, then the second elements.
template <bool kInterleaved>
struct ByElement {
    static constexpr bool kKeeps = true;
    static constexpr int pack_size(size_t /*element_bytes*/) { return 2; }

    template <class Pack>
    __device__ static auto& place(unsigned char* kept, int p, int i, int packs) {
        auto* row = reinterpret_cast<typename Pack::Element*>(kept);
        return row[kInterleaved ? i * packs + p : p * Pack::kSize + i];
    }
    template <class Pack>
    __device__ static void put(const Pack& from, unsigned char* kept, int p, int packs) {
        for (int i = 0; i < Pack::kSize; ++i) place<Pack>(kept, p, i, packs) = from.element[i];
    }
    template <class Pack>
    __device__ static void get(Pack& to, unsigned char* kept, int p, int packs) {
        for (int i = 0; i < Pack::kSize; ++i) to.element[i] = place<Pack>(kept, p, i, packs);
    }
};
using Packed = ByElement<false>;
using Interleaved = ByElement<true>;

// Stores and loads 16 bytes with one access. The cast promises their alignment, which nvcc cannot always prove.
struct Whole {
    static constexpr bool kKeeps = true;
    static constexpr int pack_size(size_t element_bytes) { return 16 / int(element_bytes); }

    template <class Pack>
    __device__ static void put(const Pack& from, unsigned char* kept, int p, int /*packs*/) {
        reinterpret_cast<Pack*>(kept)[p] = from;
    }
    template <class Pack>
    __device__ static void get(Pack& to, unsigned char* kept, int p, int /*packs*/) {
        to = reinterpret_cast<Pack*>(kept)[p];
    }
};

// Keeps nothing: each loop loads the row again, from the L2 if the row is still there.
struct Uncached {
    static constexpr bool kKeeps = false;
    static constexpr int pack_size(size_t element_bytes) { return 16 / int(element_bytes); }
};

// ---------------------------------------------------------------- the kernel

// Shared memory for one reduction of a block. Each reduction of a kernel has its own scratch. So no reduction
// overwrites a result that slow threads still read, whatever barriers CUB contains.
template <int kThreads, class Value>
struct BlockScratch {
    typename cub::BlockReduce<Value, kThreads>::TempStorage cub;
    Value result;
};

// Reduces one value per thread of a row (a warp or a block), and returns the result to all of these threads.
template <int kThreads, class Value, class Merge>
__device__ Value reduce_in_row(Value value, Merge merge, BlockScratch<kThreads, Value>& scratch) {
    if constexpr (kThreads == 32) {
        for (int bit = 16; bit > 0; bit /= 2)  // as in 04
            value = merge(value, __shfl_xor_sync(~0u, value, bit));
        return value;
    } else {
        value = cub::BlockReduce<Value, kThreads>(scratch.cub).Reduce(value, merge);
        if (threadIdx.x == 0) scratch.result = value;  // CUB returns it to thread 0 only
        __syncthreads();
        return scratch.result;
    }
}

// Rows per block: one, or four if a warp computes each row.
template <int kThreads>
constexpr int kRowsOfBlock = kThreads == 32 ? 4 : 1;

// kThreads threads compute a row: threadIdx.x selects a thread's packs, threadIdx.y the row in the block.
template <class Layout, class Pack, int kThreads>
__global__ void __launch_bounds__(kThreads* kRowsOfBlock<kThreads>)
    row_in_shared_kernel(const Pack* x, Pack* y, int64_t rows, int cols) {
    using T = typename Pack::Element;
    constexpr int kRows = kRowsOfBlock<kThreads>;
    __shared__ BlockScratch<kThreads, float> max_scratch, sum_scratch;
    const auto larger = [](float a, float b) { return fmaxf(a, b); };
    const auto total = [](float a, float b) { return a + b; };
    const int row_in_block = kRows == 1 ? 0 : threadIdx.y;
    const int64_t row = int64_t{blockIdx.x} * kRows + row_in_block;
    if (row >= rows) return;  // whole warps return; with one row per block, its row exists

    const int packs = cols / Pack::kSize;
    const Pack* x_row = x + row * packs;
    Pack* y_row = y + row * packs;
    unsigned char* const kept = shared_bytes + row_in_block * cols * sizeof(T);
    const auto fetch_again = [&](int p) {
        Pack pack;
        if constexpr (Layout::kKeeps) Layout::get(pack, kept, p, packs);
        if constexpr (!Layout::kKeeps) pack = x_row[p];
        return pack;
    };

    // All threads run the same number of iterations, and each tests whether its pack exists.
    float max = -INFINITY;
    for (int first = 0; first < packs; first += kThreads) {
        const int p = first + threadIdx.x;
        if (p < packs) {
            const Pack pack = x_row[p];
            if constexpr (Layout::kKeeps) Layout::put(pack, kept, p, packs);
            for (const T element : pack.element) max = fmaxf(max, static_cast<float>(element));
        }
    }
    max = reduce_in_row(max, larger, max_scratch);

    float sum = 0.f;
    for (int first = 0; first < packs; first += kThreads) {
        const int p = first + threadIdx.x;
        if (p < packs) {
            const Pack pack = fetch_again(p);  // no barrier: this thread stored it
            for (const T element : pack.element) sum += expf(static_cast<float>(element) - max);
        }
    }
    sum = reduce_in_row(sum, total, sum_scratch);

    const float scale = 1.f / sum;
    for (int first = 0; first < packs; first += kThreads) {
        const int p = first + threadIdx.x;
        if (p < packs) {
            Pack pack = fetch_again(p);  // x again: T would have rounded its exponential
            for (T& element : pack.element) {
                element = static_cast<T>(expf(static_cast<float>(element) - max) * scale);
            }
            y_row[p] = pack;
        }
    }
}

// ---------------------------------------------------------------- the launch

// Returns the bytes of shared memory for the rows of one block: all but 1 KB, which the reductions use.
inline int64_t room_for_rows() {
    return warp_softmax::device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin) - 1024;
}

// Block sizes to choose from. Uncached uses only the largest: the fewer rows are in flight, the more the L2 holds.
template <int... kThreads>
using BlockSizes = std::integer_sequence<int, kThreads...>;
template <class Layout>
using SizesFor =
    std::conditional_t<Layout::kKeeps, BlockSizes<128, 256, 512, 1024>, BlockSizes<1024>>;

struct Choice {
    int kernel;    // its index
    int resident;  // blocks of this kernel that fit on a multiprocessor
};

// Chooses the kernel with the largest block that has the occupancy of the smallest block: more threads per block cost
// nothing while as many blocks run when one waits at a barrier. A block keeps `rows` rows of `packs` packs in
// `shared` bytes. Only the smallest block may have more threads than a row has packs.
template <class Kernel, int kCount>
cudaError_t choose(Choice* choice, const Kernel (&kernels)[kCount], const int (&threads)[kCount],
                   int rows, int64_t packs, size_t shared) {
    const auto ask = [&](Choice* best, int) {
        const auto room = static_cast<int>(room_for_rows());  // the same in all launches
        for (int i = 0; i < kCount && (i == 0 || threads[i] <= packs); ++i) {
            int resident = 0;
            cudaError_t error =
                cudaFuncSetAttribute(kernels[i], cudaFuncAttributeMaxDynamicSharedMemorySize, room);
            if (error == cudaSuccess)
                error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernels[i],
                                                                      threads[i] * rows, shared);
            if (error != cudaSuccess) return error;
            if (i == 0 || resident == best->resident) *best = {i, resident};
        }
        return cudaSuccess;
    };
    const auto* first = reinterpret_cast<const void*>(kernels[0]);
    return warp_softmax::ask_once(choice, ask, std::pair(first, packs));
}

template <class Layout, class Pack, int... kThreads>
cudaError_t launch_blocks(BlockSizes<kThreads...>, const Pack* x, Pack* y, int64_t rows,
                          int64_t cols, cudaStream_t stream) {
    using Kernel = void (*)(const Pack*, Pack*, int64_t, int);
    const Kernel kernels[] = {row_in_shared_kernel<Layout, Pack, kThreads>...};
    constexpr int kSizes[] = {kThreads...};
    constexpr int kRows = kRowsOfBlock<kSizes[0]>;
    constexpr int64_t kMaxRows = int64_t{kRows} * INT32_MAX;  // of one launch
    const int64_t packs = cols / Pack::kSize;
    const size_t shared = Layout::kKeeps ? kRows * packs * sizeof(Pack) : 0;
    if (static_cast<int64_t>(shared) > room_for_rows()) return cudaErrorInvalidValue;
    Choice best{};
    const cudaError_t error = choose(&best, kernels, kSizes, kRows, packs, shared);
    if (error != cudaSuccess) return error;
    for (int64_t row = 0; row < rows; row += kMaxRows) {
        const int64_t some = std::min(rows - row, kMaxRows);
        const auto blocks = static_cast<unsigned>((some + kRows - 1) / kRows);
        kernels[best.kernel]<<<blocks, dim3(kSizes[best.kernel], kRows), shared, stream>>>(
            x + row * packs, y + row * packs, some, static_cast<int>(cols));
    }
    return cudaGetLastError();
}

// Computes the softmax of each row of x into y (rows x cols, device memory, y may be x), asynchronously on
// stream. kRows: rows per block, 1, or 4 with a warp per row. Returns cudaErrorInvalidValue for a null or
// misaligned pointer, a negative size, or rows that do not fit (Uncached: more columns than 2^31 - 1 - 1024).
// takes: cols <= 24576
template <class Layout = Whole, int kRows = 1, class T>
cudaError_t softmax(const T* x, T* y, int64_t rows, int64_t cols, cudaStream_t stream) {
    static_assert(sizeof(T) <= sizeof(float), "it is computed in float");
    static_assert(kRows == 1 || kRows == kRowsOfBlock<32>, "a block for a row, or for four");
    using warp_softmax::takes_packs;
    using Sizes = std::conditional_t<kRows == 1, SizesFor<Layout>, BlockSizes<32>>;
    constexpr int kPack = Layout::pack_size(sizeof(T));
    if (rows < 0 || cols < 0 || cols > INT32_MAX - 1024) return cudaErrorInvalidValue;
    if (rows == 0 || cols == 0) return cudaSuccess;
    if (x == nullptr || y == nullptr) return cudaErrorInvalidValue;
    if (!takes_packs<1>(x, cols) || !takes_packs<1>(y, cols)) return cudaErrorInvalidValue;
    const auto with_packs = [&](auto pack) {
        using Pack = decltype(pack);
        return launch_blocks<Layout>(Sizes{}, reinterpret_cast<const Pack*>(x),
                                     reinterpret_cast<Pack*>(y), rows, cols, stream);
    };
    return takes_packs<kPack>(x, cols) && takes_packs<kPack>(y, cols)
               ? with_packs(warp_softmax::Pack<T, kPack>{})
               : with_packs(warp_softmax::Pack<T, 1>{});
}

}  // namespace smem_softmax
