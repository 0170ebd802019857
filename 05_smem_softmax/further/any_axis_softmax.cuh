// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 05_smem_softmax/further/any_axis_softmax, version 1.0
//
// Softmax along the middle axis of (outer, dim, inner): the elements of a column are inner elements apart in
// memory.
//   new here   a block copies a tile, dim rows x some columns, to shared memory (or to that of a cluster) in whole
//              packs, for any inner; all packs of a thread cover the same columns
//   traffic    1 read + 1 write per element; 2 reads if a tile with 32 bytes of every row does not fit
//   accepts    float, __half, __nv_bfloat16, double; any sizes, any alignment; y may be x
//   needs      CUDA 12; clusters need compute capability 9.0; below it the kernel reads more tiles twice
//   rows       as in 03: a column with -inf alone, or with NaN or +inf, becomes NaN
//   source     ours; PaddlePaddle's kernel for the same is in paddle_any_axis.cuh
#pragma once
#include <climits>
#include <cstring>

#include <cooperative_groups.h>
#include <cuda_pipeline.h>

#include "any_axis_registers.cuh"

namespace smem_softmax {
namespace any_axis {

// ---------------------------------------------------------------- a thread's part of a slab

// Returns the number of elements from the last multiple of 16 bytes to the address.
template <class T>
__host__ __device__ int phase_of(const T* address) {
    return static_cast<int>(reinterpret_cast<uintptr_t>(address) % 16 / sizeof(T));
}

// Stores 16 bytes as one access. (nvcc would split it, because other code stores the same elements one by one.)
__device__ inline void store_16_bytes(void* y, uint4 bits) {
    asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};"
                 :
                 : "l"(__cvta_generic_to_global(y)), "r"(bits.x), "r"(bits.y), "r"(bits.z),
                   "r"(bits.w)
                 : "memory");
}
template <class T, int kPack>
__device__ void store_whole(T* y, const Pack<T, kPack>& pack) {
    if constexpr (sizeof(pack) == sizeof(uint4)) {
        uint4 bits;
        memcpy(&bits, &pack, sizeof(bits));
        store_16_bytes(y, bits);
    } else {
        *y = pack.element[0];
    }
}

// A thread's packs of a tile. From one pack to the next, the threads advance by whole rows, so element i of every
// pack is in the same column. The blocks of a tile take the tile's rows in turn: 0.60 of a copy's speed on an H200
// for a tile that is read twice, instead of 0.58 with one contiguous part per block. kEnds: true if packs at the
// ends of a slab reach beyond the slab.
template <class T, int kPack, bool kEnds>
struct Part {
    using ThisPack = Pack<T, kPack>;
    int64_t first;  // offset of the first pack
    int64_t step;
    int64_t count;
    int64_t begin;  // of the slab, as is end
    int64_t end;

    __device__ Part(const T* x, const Sizes& sizes, const Tiling& tiling, int tile, int thread) {
        const int64_t place = blockIdx.x / tiling.blocks;
        const int64_t slab = place / tiling.tiles * tiling.slabs + tile;
        const int64_t col = place % tiling.tiles * tiling.width + thread * kPack % tiling.width;
        begin = slab * sizes.dim * sizes.inner;
        end = begin + sizes.dim * sizes.inner;
        const int phase = kEnds ? phase_of(x + begin) : 0;
        const int64_t of_block = tiling.threads * kPack / tiling.width * sizes.inner;
        step = of_block * tiling.blocks;
        const int64_t packs = (phase + sizes.dim * tiling.width + kPack - 1) / kPack;
        const int64_t before =
            blockIdx.x % tiling.blocks;  // blocks that share the tile and come first
        first =
            begin - phase + thread * kPack / tiling.width * sizes.inner + col + before * of_block;
        const bool none = tile >= tiling.slabs || slab >= sizes.outer || col >= sizes.inner;
        const int64_t of_all = (packs - thread + tiling.threads - 1) / tiling.threads;
        count = none ? 0 : blocks_share(max(int64_t{0}, of_all - before), tiling);
    }

    __device__ bool is_whole(int64_t at) const {
        return !kEnds || (at >= begin && at + kPack <= end);
    }

    // Loads pack k of the tensor, with `padding` outside of the slab.
    __device__ ThisPack fetch(const T* x, int64_t k, T padding) const {
        const int64_t at = first + k * step;
        ThisPack pack;
        if (k < count && is_whole(at)) {
            pack = *reinterpret_cast<const ThisPack*>(x + at);
        } else {
#pragma unroll
            for (int i = 0; i < kPack; ++i) {
                const bool there = kEnds && k < count && at + i >= begin && at + i < end;
                pack.element[i] = there ? x[at + i] : padding;
            }
        }
        return pack;
    }

    __device__ void put(T* y, int64_t k, const ThisPack& pack) const {
        const int64_t at = first + k * step;
        if (is_whole(at)) {
            store_whole(y + at, pack);
        } else {
#pragma unroll
            for (int i = 0; i < kPack; ++i) {
                if (at + i >= begin && at + i < end) y[at + i] = pack.element[i];
            }
        }
    }

    // Starts copies of all packs to shared memory, where they are `apart` packs apart; wait_for_copies() waits for
    // them.
    __device__ void copy(const T* x, ThisPack* held, int apart, T padding) const {
        constexpr int kCopyBatch = 8;
        if constexpr (sizeof(ThisPack) < 4) {  // too small for an asynchronous copy
            for (int k = 0; k < count; k += kCopyBatch) {
                ThisPack batch[kCopyBatch];
#pragma unroll
                for (int i = 0; i < kCopyBatch; ++i) batch[i] = fetch(x, k + i, padding);
#pragma unroll
                for (int i = 0; i < kCopyBatch; ++i) {
                    if (k + i < count) held[(k + i) * apart] = batch[i];
                }
            }
        } else {
            int64_t at = first;
            for (int k = 0; k < count; ++k, at += step) {
                if (is_whole(at)) {
                    __pipeline_memcpy_async(held + k * apart, x + at, sizeof(ThisPack));
                } else {
                    held[k * apart] = fetch(x, k, padding);
                }
            }
        }
    }
};

// Waits for the thread's own copies, without a barrier: a thread reads only the packs that it copied itself.
__device__ inline void wait_for_copies() {
    __pipeline_commit();
    __pipeline_wait_prior(0);
}

// Waits for all blocks that share a tile.
__device__ inline void synchronize(const Tiling& tiling) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    if (tiling.blocks > 1) return cooperative_groups::this_cluster().sync();
#endif
    __syncthreads();
}
// Keeps a block alive while others may still read its shared memory.
__device__ inline void wait_for_readers(const Tiling& tiling) {
    if (tiling.blocks > 1) synchronize(tiling);
}
// Returns a value from another block's shared memory, from the same place as `value` in this block's.
template <class Compute>
__device__ Compute value_of(int block, Compute* value) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    return *cooperative_groups::this_cluster().map_shared_rank(value, block);
#else
    return *value;  // without clusters there is no other block
#endif
}

// Copy a thread's values to or from neighbouring places, 16 bytes at a time.
template <class Compute, int kPack>
constexpr int kJoined = kPack * sizeof(Compute) > 16 ? 16 / sizeof(Compute) : kPack;

template <int kPack, class Compute>
__device__ void put_values(const Compute (&mine)[kPack], Compute* values) {
    using Some = Pack<Compute, kJoined<Compute, kPack>>;
#pragma unroll
    for (int i = 0; i < kPack; i += kJoined<Compute, kPack>) {
        Some some;
#pragma unroll
        for (int j = 0; j < kJoined<Compute, kPack>; ++j) some.element[j] = mine[i + j];
        *reinterpret_cast<Some*>(values + i) = some;
    }
}
template <int kPack, class Compute>
__device__ void get_values(Compute (&mine)[kPack], const Compute* values) {
    using Some = Pack<Compute, kJoined<Compute, kPack>>;
#pragma unroll
    for (int i = 0; i < kPack; i += kJoined<Compute, kPack>) {
        const Some some = *reinterpret_cast<const Some*>(values + i);
#pragma unroll
        for (int j = 0; j < kJoined<Compute, kPack>; ++j) mine[i + j] = some.element[j];
    }
}

// Reduces columns over all threads of the tile: first in the warp, then in the block and in the cluster. mine[i]
// belongs to the column of element i of the thread's packs, and each thread gets its columns' results. Shared
// memory holds rows of values, with column `col` in place col of each row. All threads of a block, or of a cluster
// that shares a tile, must call this function once in each of the kernel's two rounds.
template <int kPack, class Compute, class Join>
__device__ void reduce_columns(Compute (&mine)[kPack], const Tiling& tiling, int tile, int thread,
                               int round, Join join) {
    constexpr int kRowsToOne = 8;
    const int width = tiling.lanes > 0 ? tiling.lanes * kPack : tiling.width;
    int rows = tiling.threads * kPack / width;
    if (tiling.lanes > 0) {
#pragma unroll
        for (int step = kPack / 2; step > 0; step /= 2) {
            if (step < tiling.width) break;  // a pack covers more columns than the tile has
#pragma unroll
            for (int i = 0; i < kPack; ++i) {
                if ((i & step) == 0) mine[i] = mine[i ^ step] = join(mine[i], mine[i ^ step]);
            }
        }
        for (int step = min(tiling.threads, 32) / 2; step >= tiling.lanes; step /= 2) {
#pragma unroll
            for (int i = 0; i < kPack; ++i)
                mine[i] = join(mine[i], __shfl_xor_sync(~0u, mine[i], step));
        }
        rows = max(1, tiling.threads / 32);
    }
    if (rows <= 1 && tiling.blocks == 1) return;

    Compute* values =
        reinterpret_cast<Compute*>(shared_bytes + round * tiling.join_bytes) + tile * rows * width;
    const bool takes_part = tile < tiling.slabs;
    if (tiling.lanes == 0 && takes_part) {
        put_values(mine, values + thread * kPack);
    } else if (takes_part && thread % 32 < tiling.lanes) {
        put_values(mine, values + thread / 32 * width + thread % 32 * kPack);
    }
    while (rows > 1) {  // eight rows become one, in the place of the first
        __syncthreads();
        const int left = (rows + kRowsToOne - 1) / kRowsToOne;
        const int end = rows * width;
        const int apart = left * width;
        for (int i = thread; takes_part && i < apart; i += tiling.threads) {
            Compute all = values[i];
#pragma unroll
            for (int j = 1; j < kRowsToOne; ++j) {
                if (i + j * apart < end) all = join(all, values[i + j * apart]);
            }
            values[i] = all;
        }
        rows = left;
    }
    synchronize(tiling);
    if (tiling.blocks > 1) {  // after the block's own values, which others still read
        for (int i = thread; takes_part && i < width; i += tiling.threads) {
            Compute all = value_of(0, values + i);
            for (int b = 1; b < tiling.blocks; ++b) all = join(all, value_of(b, values + i));
            values[width + i] = all;
        }
        values += width;
        __syncthreads();
    }
    int col = thread * kPack % width;
    if (takes_part && width % kPack == 0) {
        get_values(mine, values + col);
    } else if (takes_part) {
#pragma unroll
        for (int i = 0; i < kPack; ++i) {
            mine[i] = values[col];
            col = col + 1 == width ? 0 : col + 1;
        }
    }
}

struct Larger {
    template <class Compute>
    __device__ Compute operator()(Compute a, Compute b) const {
        return fmax(a, b);
    }
};
struct Total {
    template <class Compute>
    __device__ Compute operator()(Compute a, Compute b) const {
        return a + b;
    }
};

// ---------------------------------------------------------------- the kernel

// Packs per thread and tensor in flight, for a tile that is read twice.
inline constexpr int kBatch = 4;

// Adds elements to a thread's pairs, one pair of maximum and sum of exp(x - max) per column.
template <class T, int kPacks, int kPack, class Compute>
__device__ void add_packs(const Pack<T, kPack> (&packs)[kPacks], Compute (&max)[kPack],
                          Compute (&sum)[kPack]) {
#pragma unroll
    for (int i = 0; i < kPack; ++i) {
        Compute next = max[i];
#pragma unroll
        for (const auto& pack : packs) next = fmax(next, static_cast<Compute>(pack.element[i]));
        const Compute base = next == -static_cast<Compute>(INFINITY) ? 0 : next;
        sum[i] *= lifted_exp<T>(max[i] - base) / static_cast<Compute>(kLift<T>);
#pragma unroll
        for (const auto& pack : packs) {
            sum[i] += summand<T>(static_cast<Compute>(pack.element[i]) - base);
        }
        max[i] = next;
    }
}

// The reads of a tile: once, if the tile stays on the chip; twice by the same block; or once in each of two
// launches, of which the first stores sums and the second computes the results.
enum class Reads { once, twice, first, second };

template <Reads kReads>
constexpr bool kIsPart = kReads == Reads::first || kReads == Reads::second;

// Maximum number of threads of a block, and the number of blocks for which a multiprocessor must have registers.
// Packs of 16-bit types need more registers.
template <class T, Reads kReads>
constexpr int kThreadsFor = kIsPart<kReads> ? kPartThreads : kMostThreads<T, kReads == Reads::once>;
template <class T, Reads kReads>
constexpr int kBlocksFor = kIsPart<kReads> && sizeof(T) == 2 ? 1 : 1024 / kThreadsFor<T, kReads>;

// A thread's share of the sums of a tile's parts: kNumbers numbers per column.
template <int kPack, int kNumbers, class Compute>
struct SumsOfTile {
    Compute* sums;
    int width;    // of a row that the threads cover side by side
    int rows;     // of such rows
    int columns;  // with sums; a pack over more columns than that repeats them
    int first;    // element of this thread, counted through the block

    __device__ SumsOfTile(const Tiling& tiling, int thread)
        : sums(static_cast<Compute*>(tiling.sums) +
               int64_t{blockIdx.x / tiling.blocks} * tiling.parts * kNumbers * tiling.width),
          width(tiling.lanes > 0 ? tiling.lanes * kPack : tiling.width),
          rows(tiling.threads * kPack / width),
          columns(tiling.width),
          first(thread * kPack) {}

    __device__ Compute* of_part(int part, int column) const {
        return sums + part * kNumbers * columns + column;
    }
    // Calls put(place, i) if this thread stores the sums of element i's column; number n belongs at place[n *
    // columns].
    template <class Put>
    __device__ void put(int part, Put put) const {
#pragma unroll
        for (int i = 0; i < kPack; ++i) {
            if (first + i < columns) put(of_part(part, first + i), i);
        }
    }
    // Calls get(place, i) for each part whose sums this thread adds to those of element i.
    template <class Get>
    __device__ void get(int parts, Get get) const {
#pragma unroll
        for (int i = 0; i < kPack; ++i) {
            const int column = (first + i) % width;
            if (column >= columns) continue;
            for (int p = (first + i) / width; p < parts; p += rows) get(of_part(p, column), i);
        }
    }
};

// Converts a sum of exp(x - max) to a sum of exp(x - higher). If both maxima are equal, even if both are -inf, the
// factor is 1.
template <class T, class Compute>
__device__ Compute rebased(Compute sum, Compute max, Compute higher) {
    if (max == higher) return sum;
    return sum * (lifted_exp<T>(max - higher) / static_cast<Compute>(kLift<T>));
}

template <Algorithm kAlgorithm, int kPack, bool kEnds, Reads kReads, class T>
__global__ void __launch_bounds__(kThreadsFor<T, kReads>, kBlocksFor<T, kReads>)
    any_axis_kernel(const T* x, T* y, Sizes sizes, Tiling tiling) {
    using Compute = ComputeOf<T>;
    using ThisPack = Pack<T, kPack>;
    constexpr bool kHeld = kReads == Reads::once;
    const T nothing(-INFINITY);
    const int tile = threadIdx.x / tiling.threads;
    const int thread = threadIdx.x % tiling.threads;
    const Part<T, kPack, kEnds> part(x, sizes, tiling, tile, thread);
    ThisPack* held = reinterpret_cast<ThisPack*>(shared_bytes + 2 * tiling.join_bytes +
                                                 tile * tiling.tile_bytes) +
                     thread;

    Tiling team = tiling;  // the threads that reduce a column together
    if constexpr (kIsPart<kReads>) team.blocks = 1;
    [[maybe_unused]] const SumsOfTile<kPack, 2, Compute> sums(tiling, thread);

    Compute max[kPack];
    Compute sum[kPack];
#pragma unroll
    for (int i = 0; i < kPack; ++i) {
        max[i] = -static_cast<Compute>(INFINITY);
        sum[i] = 0;
    }
    if constexpr (kHeld) {
        part.copy(x, held, tiling.threads, nothing);
        wait_for_copies();
#pragma unroll 4
        for (int k = 0; k < part.count; ++k) {
            const ThisPack pack = held[k * tiling.threads];
#pragma unroll
            for (int i = 0; i < kPack; ++i)
                max[i] = fmax(max[i], static_cast<Compute>(pack.element[i]));
        }
        reduce_columns(max, team, tile, thread, 0, Larger{});
#pragma unroll 2
        for (int k = 0; k < part.count; ++k) {
            const ThisPack pack = held[k * tiling.threads];
#pragma unroll
            for (int i = 0; i < kPack; ++i) {
                sum[i] += summand<T>(static_cast<Compute>(pack.element[i]) - max[i]);
            }
        }
    } else {
        if constexpr (kReads == Reads::second) {
            sums.get(tiling.parts, [&](const Compute* place, int i) {
                const Compute higher = fmax(max[i], place[0]);
                sum[i] = rebased<T>(sum[i], max[i], higher) +
                         rebased<T>(place[sums.columns], place[0], higher);
                max[i] = higher;
            });
        } else {
            for (int64_t k = 0; k < part.count; k += kBatch) {
                ThisPack batch[kBatch];
#pragma unroll
                for (int i = 0; i < kBatch; ++i) batch[i] = part.fetch(x, k + i, nothing);
                add_packs(batch, max, sum);
            }
        }
        Compute all[kPack];
#pragma unroll
        for (int i = 0; i < kPack; ++i) all[i] = max[i];
        reduce_columns(all, team, tile, thread, 0, Larger{});
#pragma unroll
        for (int i = 0; i < kPack; ++i) {
            sum[i] = rebased<T>(sum[i], max[i], all[i]);
            max[i] = all[i];
        }
    }
    reduce_columns(sum, team, tile, thread, 1, Total{});

    Compute last[kPack];  // the last step from x - max, or from its exponential, to the result
#pragma unroll
    for (int i = 0; i < kPack; ++i) {
        last[i] = kAlgorithm == Algorithm::softmax ? 1 / sum[i] : std::log(sum[i] / kLift<T>);
    }
    [[maybe_unused]] const auto finish = [&](ThisPack pack) {
#pragma unroll
        for (int i = 0; i < kPack; ++i) {
            const Compute below = static_cast<Compute>(pack.element[i]) - max[i];
            pack.element[i] =
                static_cast<T>(kAlgorithm == Algorithm::softmax ? lifted_exp<T>(below) * last[i]
                                                                : below - last[i]);
        }
        return pack;
    };
    if constexpr (kReads == Reads::first) {
        if (tile < tiling.slabs) {
            sums.put(blockIdx.x % tiling.blocks, [&](Compute* place, int i) {
                place[0] = max[i];
                place[sums.columns] = sum[i];
            });
        }
    } else if constexpr (kHeld) {
#pragma unroll 2
        for (int k = 0; k < part.count; ++k) part.put(y, k, finish(held[k * tiling.threads]));
    } else {
        // Backwards: the cache may still hold the packs that were read last.
        for (int64_t k = part.count - 1; k >= 0; k -= kBatch) {
            ThisPack batch[kBatch];
#pragma unroll
            for (int i = 0; i < kBatch; ++i) {
                if (k >= i) batch[i] = part.fetch(x, k - i, nothing);
            }
#pragma unroll
            for (int i = 0; i < kBatch; ++i) {
                if (k >= i) part.put(y, k - i, finish(batch[i]));
            }
        }
    }
    wait_for_readers(team);
}

// ---------------------------------------------------------------- the launch

// A Family provides the instances of a kernel: get<kPack, kEnds, kReads>() for packs of 16 bytes or of one element,
// and registers<kPacks>() for tiles in registers. kNumbers is the count of numbers in a column's sums.
template <class Family, Reads kReads, class T>
auto kernel_for(const Tiling& tiling) {
    constexpr int kWhole = 16 / sizeof(T);
    return tiling.pack == 1 ? Family::template get<1, false, kReads, T>()
           : tiling.ends    ? Family::template get<kWhole, true, kReads, T>()
                            : Family::template get<kWhole, false, kReads, T>();
}

// Launches the kernel with (tensors..., sizes, tiling).
template <class Kernel, class T, class... Others>
cudaError_t launch_kernel(Kernel kernel, const Tiling& tiling, Sizes sizes, cudaStream_t stream,
                          const T* first, Others... others) {
    constexpr int kTensors = sizeof...(others);  // that are read
    const int64_t blocks =
        (sizes.outer + tiling.slabs - 1) / tiling.slabs * tiling.tiles * tiling.blocks;
    if (blocks > INT_MAX) return cudaErrorInvalidValue;
    const auto shared = static_cast<int>(device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin));
    cudaError_t error = set_once(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared);
    if (error != cudaSuccess) return error;
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim = {static_cast<unsigned>(tiling.blocks), 1, 1};
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(static_cast<unsigned>(blocks));
    config.blockDim = dim3(static_cast<unsigned>((tiling.slabs * tiling.threads + 31) / 32 * 32));
    if (tiling.packs > 0)
        config.blockDim = dim3(tiling.lanes, tiling.threads / tiling.lanes, tiling.slabs);
    config.dynamicSmemBytes = tiling.shared_bytes(kTensors);
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = tiling.blocks > 1 && tiling.parts == 0 ? 1 : 0;
    error = cudaLaunchKernelEx(&config, kernel, first, others..., sizes, tiling);
    if (error != cudaSuccess)
        cudaGetLastError();  // already returned: must not be found again later
    return error;
}

// Launches the kernels that the tiling requires. If tiling.parts > 0, tiling.sums is the workspace.
template <class Family, class T, class... Others>
cudaError_t launch_tiling(const Tiling& tiling, Sizes sizes, cudaStream_t stream, const T* first,
                          Others... others) {
    if (tiling.parts > 0) {
        Tiling of_sums = tiling;
        of_sums.blocks = tiling.parts;
        const cudaError_t error = launch_kernel(kernel_for<Family, Reads::first, T>(tiling),
                                                of_sums, sizes, stream, first, others...);
        if (error != cudaSuccess) return error;
    }
    const auto kernel = tiling.packs == 2   ? Family::template registers<2, T>()
                        : tiling.packs == 4 ? Family::template registers<4, T>()
                        : tiling.packs == 8 ? Family::template registers<8, T>()
                        : tiling.held       ? kernel_for<Family, Reads::once, T>(tiling)
                        : tiling.parts > 0  ? kernel_for<Family, Reads::second, T>(tiling)
                                            : kernel_for<Family, Reads::twice, T>(tiling);
    return launch_kernel(kernel, tiling, sizes, stream, first, others...);
}

// Returns how many bytes of scratch make this shape faster on the current device at any address, or 0 if scratch
// does not help.
template <class Family, class T>
size_t workspace_bytes(Sizes sizes, int tensors) {
    if (sizes.outer <= 0 || sizes.dim <= 0 || sizes.inner <= 0) return 0;
    const Device device = device_of(softmax_stages::this_chip());
    size_t most = 0;
    for (const int phase : {-1, 0, 1}) {
        const Tiling tiling = tiling_for<T>(sizes, tensors, phase, device, true);
        most = std::max(most, tiling.sums_bytes(sizes, Family::kNumbers * sizeof(ComputeOf<T>)));
    }
    return most;
}

// Chooses a tiling for these tensors and launches it. The kernel writes the last tensor and reads the others.
template <class Family, class T, class... Others>
cudaError_t launch(Sizes sizes, void* workspace, size_t bytes, cudaStream_t stream, const T* first,
                   Others... others) {
    if (sizes.outer < 0 || sizes.dim < 0 || sizes.inner < 0) return cudaErrorInvalidValue;
    if (sizes.outer == 0 || sizes.dim == 0 || sizes.inner == 0) return cudaSuccess;
    const auto is_bad = [](const T* address) {
        return address == nullptr || reinterpret_cast<uintptr_t>(address) % sizeof(T) != 0;
    };
    if (is_bad(first) || (is_bad(others) || ...)) return cudaErrorInvalidValue;
    const bool alike = ((phase_of(first) == phase_of<T>(others)) && ...);
    const Device device = device_of(softmax_stages::this_chip());
    const auto tiling_with = [&](bool scratch) {
        return tiling_for<T>(sizes, sizeof...(others), alike ? phase_of(first) : -1, device,
                             scratch);
    };
    Tiling tiling = tiling_with(workspace != nullptr);
    if (tiling.sums_bytes(sizes, Family::kNumbers * sizeof(ComputeOf<T>)) > bytes) {
        tiling = tiling_with(false);
    }
    tiling.sums = workspace;
    return launch_tiling<Family>(tiling, sizes, stream, first, others...);
}

template <Algorithm kAlgorithm>
struct Forward {
    static constexpr int kNumbers = 2;
    template <int kPack, bool kEnds, Reads kReads, class T>
    static auto get() {  // the sums are the same for both algorithms
        constexpr Algorithm kOf = kReads == Reads::first ? Algorithm::softmax : kAlgorithm;
        return any_axis_kernel<kOf, kPack, kEnds, kReads, T>;
    }
    template <int kPacks, class T>
    static auto registers() {
        return any_axis_registers_kernel<kAlgorithm, kPacks, T>;
    }
};

}  // namespace any_axis

// Returns the bytes of workspace with which softmax_any_axis and log_softmax_any_axis of this shape are faster on
// the current device; 0 for most shapes.
template <class T>
size_t any_axis_workspace_bytes(int64_t outer, int64_t dim, int64_t inner) {
    using namespace any_axis;
    return workspace_bytes<Forward<Algorithm::softmax>, T>({outer, dim, inner}, 1);
}

// Computes the softmax of x (outer x dim x inner, row-major, device memory) along dim into y, which may be x.
// workspace may be null; with any_axis_workspace_bytes() bytes, aligned to 16 bytes, few long columns are faster.
// Concurrent calls need a workspace each. Asynchronous on stream. Returns cudaErrorInvalidValue for a null or
// misaligned pointer or a negative size.
template <class T>
cudaError_t softmax_any_axis(const T* x, T* y, int64_t outer, int64_t dim, int64_t inner,
                             void* workspace, size_t workspace_bytes, cudaStream_t stream) {
    using namespace any_axis;
    return launch<Forward<Algorithm::softmax>>({outer, dim, inner}, workspace, workspace_bytes,
                                               stream, x, y);
}

// Computes log(softmax(x)) in the same way.
template <class T>
cudaError_t log_softmax_any_axis(const T* x, T* y, int64_t outer, int64_t dim, int64_t inner,
                                 void* workspace, size_t workspace_bytes, cudaStream_t stream) {
    using namespace any_axis;
    return launch<Forward<Algorithm::log_softmax>>({outer, dim, inner}, workspace, workspace_bytes,
                                                   stream, x, y);
}

}  // namespace smem_softmax
