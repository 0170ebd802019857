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
//              (row_teams.cuh)
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

// Returns the value to subtract from elements with maximum m: m, but 0 for -inf, because -inf - -inf would be
// NaN.
template <class Compute>
__device__ Compute base_of(Compute m) {
    return m == -static_cast<Compute>(INFINITY) ? 0 : m;
}

// A set of elements: its maximum m, and d, the sum of lifted_exp(x - m), as in 03.
template <class Compute>
struct __align__(2 * sizeof(Compute)) Normalizer {
    using Number = Compute;
    Compute m;
    Compute d;
    static __device__ Normalizer of_none() {
        return {-static_cast<Compute>(INFINITY), 0};
    }
    __device__ Compute base() const {
        return base_of(m);
    }
};

// Makes d relative to a larger maximum.
template <class Compute>
__device__ void raise(Normalizer<Compute>& set, Compute larger) {
    set.d *= std::exp(set.m - base_of(larger));
    set.m = larger;
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

// Returns a pack that starts at any element.
template <class T>
__device__ uint4 load_elements(const uint4* from) {
    const T* const elements = reinterpret_cast<const T*>(from);
    WidePack<T> pack;
#pragma unroll
    for (int i = 0; i < kWidest<T>; ++i) pack.element[i] = elements[i];
    return words_of<T>(pack);
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

// ---------------------------------------------------------------- the operation

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

    __device__ T of(const T (&x)[1]) const {
        const Compute result = raised(static_cast<Compute>(x[0]));
        return static_cast<T>(kRaised ? result * Compute(0x1p-16) : result);
    }
    __device__ WidePack<T> of_packs(const uint4 (&words)[1]) const {
        const Numbers<T> numbers = numbers_of<T>(words[0]);
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

// Returns 1 / d up to a factor of 1 + 2^-22, without branches for denormals, because d is at least 1.
__device__ inline float inverse_of(float d) {
    return __fdividef(1.f, d);
}
__device__ inline double inverse_of(double d) {
    return 1 / d;
}

struct NothingNoted {};

// An operation says what a kernel computes of rows or columns: here softmax or log-softmax, in softmax_backward.cuh their
// gradients, in cross_entropy.cuh a loss.
//   in, out      the tensors that it reads, and the tensor that it writes
//   at           the operation from a row on
//   Set          to what it reduces a row: the sum d of its elements' terms, and perhaps a maximum
//   note         what a thread loads of a row beside its elements, before these
//   finish       the row's Finish, which computes results from elements
//   term         an element's term of d
//   last_of      what result() needs of a column's d
//   nothing      an element whose term is 0
//   kFirstOfTerm the first input that term() needs
//   kUnroll      packs in shared memory per step of a loop
template <Algorithm kAlgorithm, class T>
struct SoftmaxOf {
    using Element = T;
    using Compute = ComputeOf<T>;
    using Set = Normalizer<Compute>;
    using Finish = Results<kAlgorithm, T>;
    static constexpr int kInputs = 1;
    static constexpr int kFirstOfTerm = 0;
    static constexpr bool kHasMaximum = true;
    static constexpr int kUnroll = 2;
    const T* in[kInputs];
    T* out;

    __host__ __device__ SoftmaxOf at(int64_t row, int64_t cols) const {
        return {{in[0] + row * cols}, out + row * cols};
    }
    __device__ NothingNoted note() const { return {}; }
    __device__ Finish finish(Set row, NothingNoted) const { return Finish(row); }
    static __device__ T nothing() { return static_cast<T>(-static_cast<Compute>(INFINITY)); }
    static __device__ Compute term(const Compute (&x)[kInputs], Compute base) {
        return summand<T>(x[0] - base);
    }
    static __device__ Compute last_of(Compute d) {
        return kAlgorithm == Algorithm::softmax ? inverse_of(d) : std::log(d / kLift<T>);
    }
    static __device__ T result(const Compute (&x)[kInputs], Compute base, Compute last) {
        const Compute below = x[0] - base;
        return static_cast<T>(kAlgorithm == Algorithm::softmax ? lifted_exp<T>(below) * last
                                                               : below - last);
    }
};

// Calls use(i, x) for each element i of a pack, where x are the numbers of all inputs.
template <class T, int kInputs, class Use>
__device__ void for_each_element(const uint4 (&words)[kInputs], Use use) {
    Numbers<T> numbers[kInputs];
#pragma unroll
    for (int t = 0; t < kInputs; ++t) numbers[t] = numbers_of<T>(words[t]);
#pragma unroll
    for (int i = 0; i < kWidest<T>; ++i) {
        ComputeOf<T> x[kInputs];
#pragma unroll
        for (int t = 0; t < kInputs; ++t) x[t] = numbers[t].of[i];
        use(i, x);
    }
}

// Adds the terms of a pack to a set whose maximum is known.
template <class Operation>
__device__ void add_terms(typename Operation::Set& set, const uint4 (&words)[Operation::kInputs]) {
    typename Operation::Compute sum = 0;
    for_each_element<typename Operation::Element>(
        words, [&](int, const auto& x) { sum += Operation::term(x, set.base()); });
    set.d += sum;
}

// Returns the set of some packs and one more element of each input.
template <class Operation, int kPacks>
__device__ auto set_of(const uint4 (&packs)[Operation::kInputs][kPacks],
                       const typename Operation::Element (&end)[Operation::kInputs]) {
    constexpr int kInputs = Operation::kInputs;
    typename Operation::Compute x[kInputs];
#pragma unroll
    for (int t = 0; t < kInputs; ++t) x[t] = static_cast<typename Operation::Compute>(end[t]);
    auto set = Operation::Set::of_none();
    if constexpr (Operation::kHasMaximum) {
        set.m = x[0];
#pragma unroll
        for (const uint4 words : packs[0]) {
            set.m = max_with<typename Operation::Element>(set.m, words);
        }
    }
    set.d = Operation::term(x, set.base());
#pragma unroll
    for (int p = 0; p < kPacks; ++p) {
        uint4 words[kInputs];
#pragma unroll
        for (int t = 0; t < kInputs; ++t) words[t] = packs[t][p];
        add_terms<Operation>(set, words);
    }
    return set;
}

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
// team. exchange() takes the block's set from the first warp and returns the row's set in every thread; a team that
// exchanges nothing calls leave().
struct Block {
    template <class Set>
    struct Scratch {
        Set row;
    };
    __device__ int64_t row() const { return blockIdx.x; }
    __device__ int rank() const { return 0; }
    template <class Set>
    __device__ void open(Scratch<Set>&) const {}
    __device__ void leave() const {}
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
    __device__ bool is_first() const { return first == 0; }
    // True if the element is one of this thread's.
    __device__ bool has(int64_t column) const {
        if (static_cast<int>(threadIdx.x) < ends && column == end) return true;
        const int64_t p = (column - head) / kWidest<T> - first;
        return column >= head && p >= 0 && p < left && static_cast<unsigned>(p) % blockDim.x == 0;
    }
    __device__ const uint4* packs_of(const T* row) const {
        return reinterpret_cast<const uint4*>(row + head) + first;
    }
    __device__ uint4* packs_of(T* row) const {
        return reinterpret_cast<uint4*>(row + head) + first;
    }
};

// True if an operation has rows to skip, because all their results are one number (is_skipped, skip, constant), and one
// element per row whose result it changes after all are written (find_target, amend).
template <class Operation, class = void>
constexpr bool kHasExceptions = false;
template <class Operation>
constexpr bool kHasExceptions<Operation, std::enable_if_t<Operation::kHasExceptions>> = true;
// False if an operation only reduces rows.
template <class Operation, class = void>
constexpr bool kHasResults = true;
template <class Operation>
constexpr bool kHasResults<Operation, std::enable_if_t<!Operation::kHasResults>> = false;

// Sets a thread's part of a skipped row.
template <bool kWhole, class Operation, class Noted, class T>
__device__ void fill_row(const Operation& of_row, const Noted& noted, const RowPart<T>& part) {
    if (part.is_first()) of_row.skip(noted);
    if constexpr (kHasResults<Operation>) {
        const T constant = of_row.constant(noted);
        WidePack<T> pack;
        for (T& element : pack.element) element = constant;
        for (int p = 0; p < part.left; p += static_cast<int>(blockDim.x))
            store_pack<kWhole, T>(part.packs_of(of_row.out) + p, pack);
        if (static_cast<int>(threadIdx.x) < part.ends) of_row.out[part.end] = constant;
    }
}

// Thread t of a block has packs t, t + threads, ... of each input: the first kPacks in registers, the next `kept` in
// shared memory; the thread reads the others twice. kMore: true if a thread has more than kPacks. kWhole: true if packs
// start at multiples of 16 bytes in all tensors; otherwise only those of the first input do. slice: packs of a row per
// block.
template <class Operation, int kPacks, bool kMore, bool kWhole, class Team>
__global__ void __launch_bounds__(1024, 1)
    row_on_chip_kernel(Operation operation, Team team, int64_t cols, int64_t slice, int kept) {
    using T = typename Operation::Element;
    using Set = typename Operation::Set;
    constexpr int kInputs = Operation::kInputs;
    [[maybe_unused]] constexpr int kUnroll = Operation::kUnroll;
    __shared__ typename Team::template Scratch<Set> scratch;
    __shared__ Set warps[32];
    const int threads = blockDim.x;
    const int thread = threadIdx.x;
    const Operation of_row = operation.at(team.row(), cols);
    const RowPart<T> part(of_row.in[0], cols, team.rank(), slice);
    const int left = part.left;
    team.open(scratch);
    auto noted = of_row.note();
    const uint4* from[kInputs];
#pragma unroll
    for (int i = 0; i < kInputs; ++i) from[i] = part.packs_of(of_row.in[i]);
    uint4* const to = part.packs_of(of_row.out);
    uint4* const keep = reinterpret_cast<uint4*>(shared_bytes) + thread;
    const auto fetch = [&](int i, int64_t offset) {
        return kWhole || i == 0 ? from[i][offset] : load_elements<T>(from[i] + offset);
    };
    const auto kept_at = [&](int i, int p) { return keep + (i * kept + p - kPacks) * threads; };

    uint4 held[kInputs][kPacks];
    const uint4 nothing = filled_pack(Operation::nothing());
#pragma unroll
    for (int p = 0; p < kPacks; ++p) {
#pragma unroll
        for (int i = 0; i < kInputs; ++i) held[i][p] = nothing;
        if (p * threads >= left) continue;
#pragma unroll
        for (int i = 0; i < kInputs; ++i) held[i][p] = fetch(i, p * threads);
    }
    T end[kInputs];
#pragma unroll
    for (T& element : end) element = Operation::nothing();
    if (thread < part.ends) {
#pragma unroll
        for (int i = 0; i < kInputs; ++i) end[i] = of_row.in[i][part.end];
    }
    // Only now, when the loads of the row have started, does a thread wait for what it has noted.
    if constexpr (kHasExceptions<Operation>) {
        if (of_row.is_skipped(noted)) {
            fill_row<kWhole>(of_row, noted, part);
            return team.leave();
        }
        of_row.find_target(noted, part);
    }
    const int all = kMore ? (left + threads - 1) / threads : 0;
    const int known = min(all, kPacks + kept);
    if constexpr (kMore) {
#pragma unroll 4
        for (int p = kPacks; p < known; ++p) {
#pragma unroll
            for (int i = 0; i < kInputs; ++i) {
                if (kWhole || i == 0) {
                    __pipeline_memcpy_async(kept_at(i, p), from[i] + int64_t{p} * threads, 16);
                } else {
                    *kept_at(i, p) = fetch(i, int64_t{p} * threads);
                }
            }
        }
        __pipeline_commit();
    }
    // Set words to pack p of each input, from shared memory or from global memory.
    const auto kept_words = [&](int p, uint4(&words)[kInputs]) {
#pragma unroll
        for (int i = 0; i < kInputs; ++i) words[i] = *kept_at(i, p);
    };
    const auto read_words = [&](int p, uint4(&words)[kInputs]) {
#pragma unroll
        for (int i = 0; i < kInputs; ++i) words[i] = fetch(i, int64_t{p} * threads);
    };

    // Computes the thread's set from its registers, its shared memory, and the packs that it reads twice.
    Set mine = set_of<Operation>(held, end);
    uint4 words[kInputs];
    if constexpr (kMore) {
        __pipeline_wait_prior(0);
        if constexpr (Operation::kHasMaximum) {
            auto larger = mine.m;
#pragma unroll 4
            for (int p = kPacks; p < known; ++p) larger = max_with<T>(larger, *kept_at(0, p));
            raise(mine, larger);
        }
#pragma unroll kUnroll
        for (int p = kPacks; p < known; ++p) {
            kept_words(p, words);
            add_terms<Operation>(mine, words);
        }
#pragma unroll 2
        for (int p = known; p < all; ++p) {
            read_words(p, words);
            if constexpr (Operation::kHasMaximum) raise(mine, max_with<T>(mine.m, words[0]));
            add_terms<Operation>(mine, words);
        }
    }

    mine = merge_in_warp(mine);
    if (thread % 32 == 0) warps[thread / 32] = mine;
    __syncthreads();
    if (thread < 32) mine = merge_in_warp(warps, (threads + 31) / 32);
    const typename Operation::Finish finish = of_row.finish(team.exchange(scratch, mine), noted);
    if constexpr (kHasResults<Operation>) {
        const auto give = [&](int64_t offset) {
            store_pack<kWhole, T>(to + offset, finish.of_packs(words));
        };
#pragma unroll
        for (int p = 0; p < kPacks; ++p) {
            if (p * threads >= left) continue;
#pragma unroll
            for (int i = 0; i < kInputs; ++i) words[i] = as_new<T>(held[i][p]);
            give(p * threads);
        }
        if (thread < part.ends) of_row.out[part.end] = finish.of(end);
        if constexpr (kMore) {
#pragma unroll kUnroll
            for (int p = kPacks; p < known; ++p) {
                kept_words(p, words);
                give(int64_t{p} * threads);
            }
#pragma unroll 2
            for (int p = known; p < all; ++p) {
                read_words(p, words);
                give(int64_t{p} * threads);
            }
        }
        if constexpr (kHasExceptions<Operation>) of_row.amend(finish, noted);
    }
}

}  // namespace smem_softmax
