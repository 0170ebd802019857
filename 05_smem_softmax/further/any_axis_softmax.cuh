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
//   needs      CUDA 12.5, as row_teams.cuh; clusters need compute capability 9.0; below it the kernel reads more tiles
//              twice
//   rows       as in 03: a column with -inf alone, or with NaN or +inf, becomes NaN
//   source     ours
#pragma once
#include <climits>
#include <cstring>

#include <cooperative_groups.h>
#include <cuda_pipeline.h>

#include "any_axis_registers.cuh"
#include "row_launch.cuh"

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

// Computes an operation on columns. The sum of a column adds up its elements' terms, relative to its maximum. (Gradients
// have no maximum: max stays -inf and is not used.)
template <class Operation, int kPack, bool kEnds, Reads kReads>
__global__ void __launch_bounds__(kThreadsFor<typename Operation::Element, kReads>,
                                  kBlocksFor<typename Operation::Element, kReads>)
    any_axis_kernel(Operation operation, Sizes sizes, Tiling tiling) {
    using T = typename Operation::Element;
    using Compute = ComputeOf<T>;
    using ThisPack = Pack<T, kPack>;
    constexpr int kInputs = Operation::kInputs;
    constexpr bool kHeld = kReads == Reads::once;
    constexpr bool kHasMaximum = Operation::kHasMaximum;
    // Packs of each tensor in flight. For two tensors with eight elements per pack, the registers allow only half as many.
    constexpr int kInFlight = kHeld ? 1 : kInputs * kPack > 8 ? kBatch / 2 : kBatch;
    [[maybe_unused]] constexpr int kUnroll = !kHasMaximum ? 4 / kInFlight : kHeld ? 2 : 1;
    const int tile = threadIdx.x / tiling.threads;
    const int thread = threadIdx.x % tiling.threads;
    const Part<T, kPack, kEnds> part(operation.in[0], sizes, tiling, tile, thread);
    ThisPack* held[kInputs];
#pragma unroll
    for (int t = 0; t < kInputs; ++t) {
        held[t] = reinterpret_cast<ThisPack*>(shared_bytes + 2 * tiling.join_bytes +
                                              (kInputs * tile + t) * tiling.tile_bytes) +
                  thread;
    }
    constexpr int kLast = kInputs - 1;
    // A line per tensor, because the x-ray finds by its line how nvcc unrolled a loop.
    if constexpr (kHeld) {
        part.copy(operation.in[0], held[0], tiling.threads, Operation::nothing());
        if constexpr (kLast > 0)
            part.copy(operation.in[kLast], held[kLast], tiling.threads, Operation::nothing());
        wait_for_copies();
    }

    // Fetches pack k of the inputs from `first` on, as number b of those in flight.
    using Packs = ThisPack[kInputs][kInFlight];
    const auto fetch = [&](Packs& packs, int b, int64_t k, int first) {
#pragma unroll
        for (int t = first; t < kInputs; ++t) {
            if constexpr (kHeld) {
                packs[t][b] = held[t][static_cast<int>(k) * tiling.threads];
            } else {
                packs[t][b] = part.fetch(operation.in[t], k, Operation::nothing());
            }
        }
    };
    using Values = Compute[kInputs];
    const auto take = [&](Values& x, const Packs& packs, int b, int i) {
#pragma unroll
        for (int t = 0; t < kInputs; ++t) x[t] = static_cast<Compute>(packs[t][b].element[i]);
    };

    Tiling team = tiling;  // the threads that reduce a column together
    if constexpr (kIsPart<kReads>) team.blocks = 1;
    [[maybe_unused]] const SumsOfTile<kPack, kHasMaximum ? 2 : 1, Compute> sums(tiling, thread);

    Compute max[kPack];
    Compute sum[kPack];
#pragma unroll
    for (int i = 0; i < kPack; ++i) {
        max[i] = -static_cast<Compute>(INFINITY);
        sum[i] = 0;
    }
    // If the tile is held, computes the maxima first. Otherwise updates maxima and sums together.
    if constexpr (kHeld && kHasMaximum) {
#pragma unroll 4
        for (int k = 0; k < part.count; ++k) {
            Packs packs;
            fetch(packs, 0, k, 0);
#pragma unroll
            for (int i = 0; i < kPack; ++i)
                max[i] = fmax(max[i], static_cast<Compute>(packs[0][0].element[i]));
        }
        reduce_columns(max, team, tile, thread, 0, Larger{});
    }
    if constexpr (kReads == Reads::second) {
        sums.get(tiling.parts, [&](const Compute* place, int i) {
            if constexpr (kHasMaximum) {
                const Compute higher = fmax(max[i], place[0]);
                sum[i] = rebased<T>(sum[i], max[i], higher) +
                         rebased<T>(place[sums.columns], place[0], higher);
                max[i] = higher;
            } else {
                sum[i] += place[0];
            }
        });
    } else {
#pragma unroll kUnroll
        for (int64_t k = 0; k < part.count; k += kInFlight) {
            Packs packs{};
#pragma unroll
            for (int b = 0; b < kInFlight; ++b) fetch(packs, b, k + b, Operation::kFirstOfTerm);
            if constexpr (kHasMaximum && !kHeld) {
#pragma unroll
                for (int i = 0; i < kPack; ++i) {
                    Compute higher = max[i];
#pragma unroll
                    for (const ThisPack& pack : packs[0])
                        higher = fmax(higher, static_cast<Compute>(pack.element[i]));
                    sum[i] *= factor_of<T>(max[i], higher);
                    max[i] = higher;
                }
            }
#pragma unroll
            for (int b = 0; b < kInFlight; ++b) {
#pragma unroll
                for (int i = 0; i < kPack; ++i) {
                    Values x;
                    take(x, packs, b, i);
                    sum[i] += Operation::term(x, kHeld ? max[i] : base_of(max[i]));
                }
            }
        }
    }
    if constexpr (kHasMaximum && !kHeld) {
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

    if constexpr (kReads == Reads::first) {
        if (tile < tiling.slabs) {
            sums.put(blockIdx.x % tiling.blocks, [&](Compute* place, int i) {
                place[0] = kHasMaximum ? max[i] : sum[i];
                if constexpr (kHasMaximum) place[sums.columns] = sum[i];
            });
        }
    } else {
#pragma unroll
        for (Compute& last : sum) last = Operation::last_of(last);
        [[maybe_unused]] const auto finish = [&](const Packs& packs, int b) {
            ThisPack result;
#pragma unroll
            for (int i = 0; i < kPack; ++i) {
                Values x;
                take(x, packs, b, i);
                result.element[i] = Operation::result(x, max[i], sum[i]);
            }
            return result;
        };
        if constexpr (kHeld && kHasMaximum) {
#pragma unroll 2
            for (int k = 0; k < part.count; ++k) {
                Packs packs;
                fetch(packs, 0, k, 0);
                part.put(operation.out, k, finish(packs, 0));
            }
        } else {  // backwards: the cache may still hold the packs that were read last
#pragma unroll(kHeld ? 2 : 1)
            for (int64_t k = part.count - 1; k >= 0; k -= kInFlight) {
                Packs packs;
#pragma unroll
                for (int b = 0; b < kInFlight; ++b) {
                    if (k >= b) fetch(packs, b, k - b, 0);
                }
#pragma unroll
                for (int b = 0; b < kInFlight; ++b) {
                    if (k >= b) part.put(operation.out, k - b, finish(packs, b));
                }
            }
        }
    }
    wait_for_readers(team);
}

// ---------------------------------------------------------------- the launch

// Returns the instance for packs of 16 bytes or of one element.
template <class Operation, Reads kReads>
auto kernel_for(const Tiling& tiling) {
    constexpr int kWhole = kWidest<typename Operation::Element>;
    return tiling.pack == 1 ? any_axis_kernel<Operation, 1, false, kReads>
           : tiling.ends    ? any_axis_kernel<Operation, kWhole, true, kReads>
                            : any_axis_kernel<Operation, kWhole, false, kReads>;
}

template <class Operation>
cudaError_t launch_kernel(void (*kernel)(Operation, Sizes, Tiling), const Operation& operation,
                          const Tiling& tiling, Sizes sizes, cudaStream_t stream) {
    const int64_t blocks =
        (sizes.outer + tiling.slabs - 1) / tiling.slabs * tiling.tiles * tiling.blocks;
    if (blocks > INT_MAX) return cudaErrorInvalidValue;
    const auto shared = static_cast<int>(device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin));
    cudaError_t error = set_once(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared);
    const bool is_cluster = tiling.blocks > 1 && tiling.parts == 0;
    if (error == cudaSuccess && is_cluster) {  // more than 8 blocks need permission
        error = set_once(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
    }
    if (error != cudaSuccess) return error;
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim = {static_cast<unsigned>(tiling.blocks), 1, 1};
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(static_cast<unsigned>(blocks));
    config.blockDim = dim3(static_cast<unsigned>((tiling.slabs * tiling.threads + 31) / 32 * 32));
    if (tiling.packs > 0) {
        const auto of_tile = static_cast<unsigned>(tiling.blocks);
        config.gridDim = dim3(config.gridDim.x / of_tile, of_tile);
        config.blockDim = dim3(tiling.lanes, tiling.threads / tiling.lanes, tiling.slabs);
        attribute.val.clusterDim = {1, of_tile, 1};
    }
    config.dynamicSmemBytes = tiling.shared_bytes(Operation::kInputs);
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = is_cluster ? 1 : 0;
    error = cudaLaunchKernelEx(&config, kernel, operation, sizes, tiling);
    if (error != cudaSuccess)
        cudaGetLastError();  // already returned: must not be found again later
    return error;
}

// Launches the kernels that the tiling requires. If tiling.parts > 0, tiling.sums is the workspace.
template <class Operation>
cudaError_t launch_tiling(const Tiling& tiling, const Operation& operation, Sizes sizes,
                          cudaStream_t stream) {
    constexpr int kInputs = Operation::kInputs;
    if (tiling.parts > 0) {
        Tiling of_sums = tiling;
        of_sums.blocks = tiling.parts;
        const cudaError_t error = launch_kernel(kernel_for<Operation, Reads::first>(tiling),
                                                operation, of_sums, sizes, stream);
        if (error != cudaSuccess) return error;
    }
    const bool cluster = tiling.packs > 0 && tiling.blocks > 1;
    const auto kernel =
        cluster             ? any_axis_registers_kernel<Operation, 8 / kInputs, true>
        : tiling.packs == 2 ? any_axis_registers_kernel<Operation, 2 / kInputs, false>
        : tiling.packs == 4 ? any_axis_registers_kernel<Operation, 4 / kInputs, false>
        : tiling.packs == 8 ? any_axis_registers_kernel<Operation, 8 / kInputs, false>
        : tiling.held       ? kernel_for<Operation, Reads::once>(tiling)
        : tiling.parts > 0  ? kernel_for<Operation, Reads::second>(tiling)
                            : kernel_for<Operation, Reads::twice>(tiling);
    return launch_kernel(kernel, operation, tiling, sizes, stream);
}

// Returns the bytes for the sums of two launches.
template <class Operation>
size_t sums_bytes(const Tiling& tiling, Sizes sizes) {
    return tiling.sums_bytes(sizes, sizeof(typename Operation::Set));
}

// Returns how many bytes of scratch make this shape faster on the current device at any address, or 0 if scratch
// does not help.
template <class Operation>
size_t workspace_bytes(Sizes sizes) {
    if (sizes.outer <= 0 || sizes.dim <= 0 || sizes.inner <= 0) return 0;
    const Device device = device_of(softmax_stages::this_chip());
    size_t most = 0;
    for (const int phase : {-1, 0, 1}) {
        const Tiling tiling =
            tiling_for<typename Operation::Element>(sizes, Operation::kInputs, phase, device, true);
        most = std::max(most, sums_bytes<Operation>(tiling, sizes));
    }
    return most;
}

// Chooses a tiling for the operation's tensors and launches it.
template <class Operation>
cudaError_t launch(const Operation& operation, Sizes sizes, void* workspace, size_t bytes,
                   cudaStream_t stream) {
    using T = typename Operation::Element;
    if (sizes.outer < 0 || sizes.dim < 0 || sizes.inner < 0) return cudaErrorInvalidValue;
    if (sizes.outer == 0 || sizes.dim == 0 || sizes.inner == 0) return cudaSuccess;
    const auto is_bad = [](const T* address) {
        return address == nullptr || reinterpret_cast<uintptr_t>(address) % sizeof(T) != 0;
    };
    int phase = phase_of(operation.out);
    bool bad = is_bad(operation.out);
    for (const T* in : operation.in) {
        bad = bad || is_bad(in);
        if (phase_of(in) != phase) phase = -1;
    }
    if (bad) return cudaErrorInvalidValue;
    const Device device = device_of(softmax_stages::this_chip());
    const auto tiling_with = [&](bool scratch) {
        return tiling_for<T>(sizes, Operation::kInputs, phase, device, scratch);
    };
    Tiling tiling = tiling_with(workspace != nullptr);
    if (sums_bytes<Operation>(tiling, sizes) > bytes) tiling = tiling_with(false);
    tiling.sums = workspace;
    return launch_tiling(tiling, operation, sizes, stream);
}

}  // namespace any_axis
}  // namespace smem_softmax
