// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 05_smem_softmax/further/online_cached, version 1.0
//
// Keeps as much of a row as fits on the chip, first in registers, then in shared memory. Reads the rest of the
// row twice.
//   new here   a thread starts all its loads before it uses the first, and sums exponentials relative to its
//              own maximum. So a row needs only one exchange of pairs (m, d)
//   traffic    1 read + 1 write per element that stays on the chip, 2 reads + 1 write per other element
//   accepts    float, __half, __nv_bfloat16, double; any width and any address; y may be x
//   rows       as in 04
//   source     (m, d): Milakov & Gimelshein 2018; a template parameter selects the blocks that share a row
//              (cluster_softmax.cuh)
#pragma once
#include <cstddef>
#include <cstring>

#include <cuda_pipeline.h>

#include "../../04_warp_softmax/further/row_groups.cuh"
#include "../smem_softmax.cuh"

namespace smem_softmax {

using warp_softmax::Algorithm;
using warp_softmax::ask_once;
using warp_softmax::ComputeOf;
using warp_softmax::device_attribute;
using warp_softmax::kLift;
using warp_softmax::lifted_exp;
using warp_softmax::Pack;

// ---------------------------------------------------------------- sets of elements

// A set of elements: its maximum m, and d, the sum of lifted_exp(x - m), as in 03.
template <class Compute>
struct __align__(2 * sizeof(Compute)) Normalizer {
    using Number = Compute;
    Compute m;
    Compute d;
    static __device__ Normalizer of_none() {
        return {-static_cast<Compute>(INFINITY), 0};
    }
};

// Returns the value to subtract from elements with maximum m: m, but 0 for -inf, because -inf - -inf would be
// NaN.
template <class Compute>
__device__ Compute base_of(Compute m) {
    return m == -static_cast<Compute>(INFINITY) ? 0 : m;
}

template <class Compute>
__device__ Normalizer<Compute> merged(Normalizer<Compute> a, Normalizer<Compute> b) {
    const Compute m = fmax(a.m, b.m);
    return {m, a.d * std::exp(a.m - base_of(m)) + b.d * std::exp(b.m - base_of(m))};
}

// ---------------------------------------------------------------- merging sets, by level

// Merges the sets of a warp's lanes; every lane gets the result.
template <class Compute>
__device__ Normalizer<Compute> merge_in_warp(Normalizer<Compute> mine) {
    const Compute m = warp_softmax::group_max<32>(mine.m);
    return {m, warp_softmax::group_sum<32>(mine.d * std::exp(mine.m - base_of(m)))};
}

// Merges up to 32 sets in memory; every lane gets the result.
template <class Set>
__device__ Set merge_in_warp(const Set* sets, int count) {
    const int lane = threadIdx.x % 32;
    return merge_in_warp(lane < count ? sets[lane] : Set::of_none());
}

// Merges the sets of the first `count` threads of a block; every thread gets the result. of_warp: shared memory
// for one set per warp, in use until the caller's next barrier.
template <class Set>
__device__ Set merge_in_block(Set mine, int count, Set* of_warp) {
    const int warps = (count + 31) / 32;
    const int warp = static_cast<int>(threadIdx.x) / 32;
    if (warp < warps) {
        mine = merge_in_warp(mine);
        if (threadIdx.x % 32 == 0) of_warp[warp] = mine;
    }
    __syncthreads();
    return warps == 1 ? of_warp[0] : merge_in_warp(of_warp, warps);
}

// The exchange() of Block, Cluster and Grid merges sets between blocks.

// ---------------------------------------------------------------- 16 bytes

// Reinterprets bits as another type.
template <class To, class From>
__host__ __device__ To bits_as(const From& from) {
    static_assert(sizeof(To) == sizeof(From), "no bit more or less");
    To to;
    memcpy(&to, &from, sizeof(To));
    return to;
}

template <class T>
constexpr int kWidest = 16 / sizeof(T);  // elements

// A pack is passed as four 32-bit words, because separate 16-bit elements would take a register each.
template <class T>
using WidePack = Pack<T, kWidest<T>>;

// Returns the words of a pack. Builds them word by word: with a copy of the whole pack, nvcc (13.0) makes two
// accesses of 8 bytes.
template <class T>
__device__ uint4 words_of(const WidePack<T>& pack) {
    if constexpr (sizeof(T) == 8) {
        const auto low = bits_as<uint2>(pack.element[0]);
        const auto high = bits_as<uint2>(pack.element[1]);
        return make_uint4(low.x, low.y, high.x, high.y);
    } else {
        using Word = Pack<T, 4 / sizeof(T)>;
        unsigned word[4];
#pragma unroll
        for (int w = 0; w < 4; ++w) {
            Word of;
            for (int i = 0; i < int(4 / sizeof(T)); ++i) {
                of.element[i] = pack.element[w * (4 / sizeof(T)) + i];
            }
            word[w] = bits_as<unsigned>(of);
        }
        return make_uint4(word[0], word[1], word[2], word[3]);
    }
}

// Stores a pack with one access if kWhole, for packs that start at multiples of 16 bytes; otherwise element by
// element.
template <bool kWhole, class T>
__device__ void store_pack(uint4* to, const WidePack<T>& pack) {
    if constexpr (kWhole) {
        *to = words_of<T>(pack);
    } else {
        T* const elements = reinterpret_cast<T*>(to);
        for (int i = 0; i < kWidest<T>; ++i) elements[i] = pack.element[i];
    }
}

// Returns a pack of one repeated element.
template <class T>
__device__ uint4 filled_pack(T element) {
    WidePack<T> pack;
    for (T& each : pack.element) each = element;
    return words_of<T>(pack);
}

// The elements of a pack, converted for arithmetic.
template <class T>
struct Numbers {
    ComputeOf<T> of[kWidest<T>];
};

// Converts a pack's elements. A __nv_bfloat16 is the upper half of a float. Without the mask, nvcc (13.0) would
// shift a word's second element down and up again.
template <class T>
__device__ Numbers<T> numbers_of(uint4 words) {
    Numbers<T> numbers;
    if constexpr (std::is_same_v<T, __nv_bfloat16>) {
        const unsigned word[] = {words.x, words.y, words.z, words.w};
#pragma unroll
        for (int w = 0; w < 4; ++w) {
            numbers.of[2 * w] = bits_as<float>(word[w] << 16);
            numbers.of[2 * w + 1] = bits_as<float>(word[w] & 0xffff0000u);
        }
    } else {
        const auto pack = bits_as<WidePack<T>>(words);
#pragma unroll
        for (int i = 0; i < kWidest<T>; ++i) {
            numbers.of[i] = static_cast<ComputeOf<T>>(pack.element[i]);
        }
    }
    return numbers;
}

// Returns the same pack, but the compiler cannot know that. Otherwise it would keep all 16-bit elements as
// floats across a barrier, which takes twice as many registers, instead of converting the elements again.
template <class T>
__device__ uint4 as_new(uint4 words) {
    if constexpr (sizeof(T) > 2) return words;
    const unsigned zero = gridDim.z - 1;
    return make_uint4(words.x ^ zero, words.y ^ zero, words.z ^ zero, words.w ^ zero);
}

// A pair of 16-bit elements, for instructions that compare two pairs at once.
template <class T>
using TwoOf = std::conditional_t<std::is_same_v<T, __half>, __half2, __nv_bfloat162>;

// Returns the maximum of `max` and a pack's elements. Compares 16-bit elements two at a time, without
// conversion.
template <class T, class Compute>
__device__ Compute max_with(Compute max, uint4 words) {
    if constexpr (sizeof(T) == 2) {
        using Two = TwoOf<T>;
        const Two of_four[] = {__hmax2(bits_as<Two>(words.x), bits_as<Two>(words.y)),
                               __hmax2(bits_as<Two>(words.z), bits_as<Two>(words.w))};
        const Two two = __hmax2(of_four[0], of_four[1]);
        return fmax(max, fmax(static_cast<Compute>(two.x), static_cast<Compute>(two.y)));
    } else {
        const auto pack = bits_as<WidePack<T>>(words);
        for (const T element : pack.element) max = fmax(max, static_cast<Compute>(element));
        return max;
    }
}

// Returns lifted_exp(x), exact enough for a sum: where x * log2(e) has lost digits, the exponential is too
// small to matter. Results compute a second, exact exponential, while memory is busy with stores: 0.89 of a
// copy's speed at 524288 floats on an H200, against 0.83 with stored exponentials.
template <class T, class Compute>
__device__ Compute summand(Compute x) {
    if constexpr (sizeof(T) == 4) {
        return warp_softmax::fast_exp2(x * 1.4426950408889634f);
    } else {
        return warp_softmax::lifted_exp<T>(x);
    }
}

// ---------------------------------------------------------------- what a thread does with its packs

// Sums up a pack's summands.
template <class T>
__device__ ComputeOf<T> sum_of(uint4 words, ComputeOf<T> max) {
    const Numbers<T> numbers = numbers_of<T>(words);
    ComputeOf<T> sum = 0;
#pragma unroll
    for (const ComputeOf<T> number : numbers.of) sum += summand<T>(number - max);
    return sum;
}

// Returns the set of some packs and one more element.
template <class T, int kPacks>
__device__ Normalizer<ComputeOf<T>> set_of(const uint4 (&packs)[kPacks], T element) {
    auto m = static_cast<ComputeOf<T>>(element);
#pragma unroll
    for (const uint4 words : packs) m = max_with<T>(m, words);
    const ComputeOf<T> base = base_of(m);
    Normalizer<ComputeOf<T>> set{m, summand<T>(static_cast<ComputeOf<T>>(element) - base)};
#pragma unroll
    for (const uint4 words : packs) set.d += sum_of<T>(words, base);
    return set;
}

// Computes a row's results once its set is known. For 16-bit types, the division moves into the exponent: 2^(x
// log2(e) - log2(sum)). This saves an instruction per element: 0.99 of a copy's speed instead of 0.975 at 2546
// x 50257 __nv_bfloat16 on an H200. A __nv_bfloat16 can be smaller than any result of fast_exp2, so this struct
// computes 2^16 times the result and scales it down after rounding, two elements at a time.
template <Algorithm kAlgorithm, class T>
struct Results {
    using Compute = ComputeOf<T>;
    static constexpr bool kInExponent = kAlgorithm == Algorithm::softmax && sizeof(T) == 2;
    static constexpr bool kRaised = kInExponent && std::is_same_v<T, __nv_bfloat16>;
    Compute max;
    Compute share;    // 1 / sum, or its log2 in the exponent
    Compute log_sum;  // for log_softmax

    explicit __device__ Results(Normalizer<Compute> row)
        : max(base_of(row.m)), log_sum(std::log(row.d / kLift<T>)) {
        if constexpr (kInExponent) {
            share = (kRaised ? 16.f : 0.f) - __log2f(row.d / kLift<T>);
        } else {
            share = 1 / row.d;
        }
    }

    __device__ T of(T x) const {
        const Compute result = raised(static_cast<Compute>(x));
        return static_cast<T>(kRaised ? result * Compute(0x1p-16) : result);
    }
    __device__ WidePack<T> of_pack(uint4 words) const {
        const Numbers<T> numbers = numbers_of<T>(words);
        WidePack<T> pack;
#pragma unroll
        for (int i = 0; i < kWidest<T>; ++i)
            pack.element[i] = static_cast<T>(raised(numbers.of[i]));
        if constexpr (kRaised) {
            const __nv_bfloat162 down(__float2bfloat16(0x1p-16f), __float2bfloat16(0x1p-16f));
#pragma unroll
            for (int i = 0; i < kWidest<T>; i += 2) {
                const __nv_bfloat162 two(pack.element[i], pack.element[i + 1]);
                const __nv_bfloat162 lower = __hmul2(two, down);
                pack.element[i] = lower.x;
                pack.element[i + 1] = lower.y;
            }
        }
        return pack;
    }

private:
    __device__ Compute raised(Compute x) const {
        const Compute below = x - max;
        if constexpr (kAlgorithm == Algorithm::log_softmax) {
            return below - log_sum;
        } else if constexpr (kInExponent) {
            return warp_softmax::fast_exp2(below * 1.4426950408889634f + share);
        } else {
            return warp_softmax::lifted_exp<T>(below) * share;
        }
    }
};

// ---------------------------------------------------------------- the kernel

// The most packs per thread in registers. 8 packs of floats take 32 of the 64 registers that a thread may use
// if a multiprocessor holds 1024 threads: half of the register file holds data. Every thread executes the
// instructions for all packs, even for packs that its row does not have, so there are kernels for fewer packs.
// On an H200, 6 packs reach 0.95 instead of 0.86 of a copy's speed at 55531 x 2305 __nv_bfloat16, 7 packs reach
// 0.96 instead of 0.935 at 4096 x 50257, and 4 packs save 0.3 of 5.6 us at 10 x 16128 floats.
inline constexpr int kHeld = 8;
inline constexpr int kMostHeld = 7;
inline constexpr int kSomeHeld = 6;
inline constexpr int kFewHeld = 4;

// A team is the group of blocks that share a row, here a single block. rank() is this block's number in the
// team. exchange() takes the block's set from the first warp and returns the row's set in every thread.
struct Block {
    template <class Set>
    struct Scratch {
        Set row;
    };
    __device__ int64_t row() const { return blockIdx.x; }
    __device__ int rank() const { return 0; }
    template <class Set>
    __device__ void open(Scratch<Set>&) const {}
    template <class Set>
    __device__ Set exchange(Scratch<Set>& scratch, Set block) {
        if (threadIdx.x == 0) scratch.row = block;
        __syncthreads();
        return scratch.row;
    }
};

// A thread's part of a row of `cols` elements; each block has a slice of `slice` packs. Packs start at the
// row's first multiple of 16 bytes, or of 128 bytes (a cache line) in blocks of 128 threads or more. The
// threads of block 0 take the elements before the first pack and after the last pack, at most one element each.
template <class T>
struct RowPart {
    int64_t head;   // elements before the first pack
    int64_t end;    // the single element that this thread takes, if thread < ends
    int ends;       // threads that take a single element
    int64_t first;  // the thread's first pack
    int left;       // packs from `first` to the end of the slice

    __device__ RowPart(const T* row, int64_t cols, int rank, int64_t slice) {
        const int threads = blockDim.x;
        const int thread = threadIdx.x;
        const unsigned lead = threads < 128 ? kWidest<T> : 128 / sizeof(T);
        const auto address = reinterpret_cast<uintptr_t>(row) / sizeof(T);
        head = min(static_cast<int64_t>((0 - address) & (lead - 1)), cols);
        const int64_t packs = min((cols - head) / kWidest<T>, gridDim.y * slice);
        ends = rank == 0 ? static_cast<int>(cols - packs * kWidest<T>) : 0;
        end = thread < head ? thread : cols - ends + thread;
        first = rank * slice + thread;
        left = static_cast<int>(min(packs, (rank + 1) * slice) - first);
    }
    __device__ const uint4* packs_of(const T* row) const {
        return reinterpret_cast<const uint4*>(row + head) + first;
    }
    __device__ uint4* packs_of(T* row) const {
        return reinterpret_cast<uint4*>(row + head) + first;
    }
};

// Thread t of a block has packs t, t + threads, ...: the first kPacks in registers, the next `kept` in shared
// memory; the thread reads the others twice. kMore: true if a thread has more than kPacks. kWholeStores: true
// if packs of y start at multiples of 16 bytes as those of x do. slice: packs of a row per block.
template <Algorithm kAlgorithm, int kPacks, bool kMore, bool kWholeStores, class Team, class T>
__global__ void __launch_bounds__(1024, 1)
    row_on_chip_kernel(const T* x, T* y, Team team, int64_t cols, int64_t slice, int kept) {
    using Compute = ComputeOf<T>;
    constexpr Compute kNothing = -static_cast<Compute>(INFINITY);
    __shared__ typename Team::template Scratch<Normalizer<Compute>> scratch;
    __shared__ Normalizer<Compute> warps[32];
    team.open(scratch);
    const int threads = blockDim.x;
    const int thread = threadIdx.x;
    const T* const x_row = x + team.row() * cols;
    T* const y_row = y + team.row() * cols;
    const RowPart<T> part(x_row, cols, team.rank(), slice);
    const int left = part.left;
    const uint4* const from = part.packs_of(x_row);
    uint4* const to = part.packs_of(y_row);
    uint4* const keep = reinterpret_cast<uint4*>(shared_bytes) + thread;

    uint4 held[kPacks];
    const uint4 nothing = filled_pack(static_cast<T>(kNothing));
#pragma unroll
    for (int p = 0; p < kPacks; ++p) {
        held[p] = nothing;
        if (p * threads < left) held[p] = from[p * threads];
    }
    const T at_end = thread < part.ends ? x_row[part.end] : static_cast<T>(kNothing);
    const int all = kMore ? (left + threads - 1) / threads : 0;
    const int known = min(all, kPacks + kept);
    if constexpr (kMore) {
        for (int p = kPacks; p < known; ++p) {
            __pipeline_memcpy_async(keep + (p - kPacks) * threads, from + int64_t{p} * threads, 16);
        }
        __pipeline_commit();
    }

    // Computes the thread's set from its registers, its shared memory, and the packs that it reads twice.
    auto mine = set_of<T>(held, at_end);
    if constexpr (kMore) {
        __pipeline_wait_prior(0);
        auto more = Normalizer<Compute>::of_none();
#pragma unroll 4
        for (int p = kPacks; p < known; ++p) {
            more.m = max_with<T>(more.m, keep[(p - kPacks) * threads]);
        }
#pragma unroll 2
        for (int p = kPacks; p < known; ++p) {
            more.d += sum_of<T>(keep[(p - kPacks) * threads], base_of(more.m));
        }
#pragma unroll 2
        for (int p = known; p < all; ++p) {
            const uint4 words = from[int64_t{p} * threads];
            const Compute larger = max_with<T>(more.m, words);
            more.d =
                more.d * std::exp(more.m - base_of(larger)) + sum_of<T>(words, base_of(larger));
            more.m = larger;
        }
        mine = merged(mine, more);
    }

    mine = merge_in_warp(mine);
    if (thread % 32 == 0) warps[thread / 32] = mine;
    __syncthreads();
    if (thread < 32) mine = merge_in_warp(warps, (threads + 31) / 32);
    const Results<kAlgorithm, T> results(team.exchange(scratch, mine));

    const auto give = [&](int64_t offset, const uint4& words) {
        store_pack<kWholeStores, T>(to + offset, results.of_pack(words));
    };
#pragma unroll
    for (int p = 0; p < kPacks; ++p) {
        if (p * threads < left) give(p * threads, as_new<T>(held[p]));
    }
    if (thread < part.ends) y_row[part.end] = results.of(at_end);
    if constexpr (kMore) {
#pragma unroll 2
        for (int p = kPacks; p < known; ++p) {
            give(int64_t{p} * threads, keep[(p - kPacks) * threads]);
        }
#pragma unroll 2
        for (int p = known; p < all; ++p) {
            give(int64_t{p} * threads, from[int64_t{p} * threads]);
        }
    }
}

// ---------------------------------------------------------------- the launch

// Sets an attribute of a kernel once per device, always to the same value, because another host thread may be
// about to launch the kernel. (A cudaDeviceReset undoes the setting, which this function does not notice.)
template <class... Parameters>
cudaError_t set_once(void (*kernel)(Parameters...), cudaFuncAttribute attribute, int value) {
    const auto set = [&](int*, int) { return cudaFuncSetAttribute(kernel, attribute, value); };
    return ask_once(&value, set, std::pair(reinterpret_cast<const void*>(kernel), attribute));
}

// A slice is a block's part of a row: `packs` packs for `threads` threads. If a kernel reads several tensors, a
// thread has packs of each tensor.
struct Slice {
    int64_t packs;
    int threads;
    int tensors;
    int held;  // packs per thread and tensor in registers; 0 for rows in turn
    int kept;  // packs per thread and tensor in shared memory
    bool more() const { return packs > int64_t{held} * threads; }
    int64_t on_chip() const { return int64_t{held + kept} * threads; }  // packs
    size_t shared() const { return static_cast<size_t>(kept) * tensors * threads * 16; }
};

inline int64_t divided_up(int64_t a, int64_t b) {
    return (a + b - 1) / b;
}

// Returns the slice of a block that may use `room` bytes of shared memory.
inline Slice slice_of(int64_t packs, int threads, int tensors, int64_t room) {
    const int held = kHeld / tensors;
    const int64_t kept =
        std::min(divided_up(packs, threads) - held, room / (int64_t{16} * tensors * threads));
    return {packs, threads, tensors, held, static_cast<int>(std::max<int64_t>(0, kept))};
}

// Returns the number of threads, whole warps up to 1024, that hold `packs` packs in registers, `held` each.
inline int threads_for(int64_t packs, int held = kHeld) {
    return static_cast<int>(
        std::min<int64_t>(1024, std::max<int64_t>(1, divided_up(packs, 32 * held)) * 32));
}

// Returns the maximum number of packs in a row.
template <class T>
int64_t packs_of(int64_t cols) {
    return cols / kWidest<T>;
}

// True if packs of 16 bytes start at the same elements of x and y.
template <class T>
bool have_one_alignment(const T* x, const T* y) {
    return (reinterpret_cast<uintptr_t>(x) - reinterpret_cast<uintptr_t>(y)) % 16 == 0;
}

// Checks pointers and sizes; returns cudaErrorInvalidValue if any is invalid. Sets *empty to true if there is
// nothing to do.
template <class T>
cudaError_t check_rows(const T* x, const T* y, int64_t rows, int64_t cols, bool* empty) {
    constexpr int64_t kMaxCols = INT32_MAX;  // the kernels count packs in 32 bits
    *empty = rows == 0 || cols == 0;
    if (rows < 0 || cols < 0 || cols > kMaxCols) return cudaErrorInvalidValue;
    if (*empty) return cudaSuccess;
    const auto is_no_address = [](const T* p) {
        return p == nullptr || reinterpret_cast<uintptr_t>(p) % sizeof(T) != 0;
    };
    return is_no_address(x) || is_no_address(y) ? cudaErrorInvalidValue : cudaSuccess;
}

// Launches a block per row, of any width. Asynchronous on stream.
template <Algorithm kAlgorithm, class T>
cudaError_t launch_online_cached(const T* x, T* y, int64_t rows, int64_t cols,
                                 cudaStream_t stream) {
    constexpr int64_t kMaxBlocks = INT32_MAX;  // of one launch
    bool empty = false;
    cudaError_t error = check_rows(x, y, rows, cols, &empty);
    if (error != cudaSuccess || empty) return error;
    const int64_t room = room_for_rows();
    const int64_t packs = packs_of<T>(cols);
    const Slice slice = slice_of(packs, threads_for(packs), 1, room);
    const auto kernel =
        !have_one_alignment(x, y) ? row_on_chip_kernel<kAlgorithm, kHeld, true, false, Block, T>
        : slice.more()            ? row_on_chip_kernel<kAlgorithm, kHeld, true, true, Block, T>
                                  : row_on_chip_kernel<kAlgorithm, kHeld, false, true, Block, T>;
    if (slice.shared() > 0) {
        error =
            set_once(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(room));
        if (error != cudaSuccess) return error;
    }
    for (int64_t row = 0; row < rows; row += kMaxBlocks) {
        const auto blocks = static_cast<unsigned>(std::min(rows - row, kMaxBlocks));
        kernel<<<blocks, slice.threads, slice.shared(), stream>>>(
            x + row * cols, y + row * cols, Block{}, cols, slice.packs, slice.kept);
    }
    return cudaGetLastError();
}

// Computes the softmax of each row of x into y (rows x cols, device memory, y may be x), of any width.
// Asynchronous on stream. Returns cudaErrorInvalidValue for a null or misaligned pointer or a negative size.
template <class T>
cudaError_t online_cached_softmax(const T* x, T* y, int64_t rows, int64_t cols,
                                  cudaStream_t stream) {
    return launch_online_cached<Algorithm::softmax>(x, y, rows, cols, stream);
}

// Computes log(softmax(x)) in the same way.
template <class T>
cudaError_t online_cached_log_softmax(const T* x, T* y, int64_t rows, int64_t cols,
                                      cudaStream_t stream) {
    return launch_online_cached<Algorithm::log_softmax>(x, y, rows, cols, stream);
}

}  // namespace smem_softmax
