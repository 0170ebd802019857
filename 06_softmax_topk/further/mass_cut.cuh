// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 06_softmax_topk/further/mass_cut, version 1.0
//
// Finds the place at which to cut a sorted row so that a given number of elements, or a given share of the
// probability, comes before the cut. Does not sort the row.
//   new here   masses are integers, so sums do not depend on their order; a sample says where the cut may be, one
//              read keeps the elements near this place in shared memory, and the block finds the cut among them
//   traffic    mostly one read and a sample; more if the guess was wrong, or if the cut goes through many equal
//              elements
//   order      as in the lesson: of equal elements the lower columns stay
//   source     Floyd & Rivest 1975, "Expected time bounds for selection": a sample yields two elements that enclose the
//              required one; Alabi et al. 2012, "Fast k-selection algorithms for graphics processing units", which
//              chooses digits by the number of elements, here also by probability
#pragma once
#include <cfloat>
#include <cmath>
#include <type_traits>

#include <cub/block/block_scan.cuh>

#include "reductions.cuh"

namespace softmax_topk::sampling {

// Probabilities as integers; 62 bits hold the sum of a row. The best column has 2^40 units, or fewer in rows of
// more than four million columns. A column with less than one unit is never chosen.
using Mass = unsigned long long;

inline float units_of_best(int64_t cols) {
    int bits = 40;
    while (bits > 31 && cols >> (62 - bits) != 0) --bits;
    return std::ldexp(1.f, bits);
}

// Computes exp(x / temperature) relative to that of the best element.
struct Weights {
    float best;
    float scale;  // log2(e) / temperature
    float units;  // of the best element

    __device__ float weight(float x) const { return fast_exp2((x - best) * scale); }
    __device__ Mass mass(float x) const { return static_cast<Mass>(weight(x) * units); }
};

// Returns the number of bits that can number `count` items.
__host__ __device__ constexpr int bits_for(int64_t count) {
    int bits = 0;
    while (int64_t{1} << bits < count) ++bits;
    return bits;
}

// The number of leading bits in which a type's ordered numbers differ; for 16-bit types, the further bits carry no
// information.
template <class T>
constexpr int kKeyBits = sizeof(T) == 4              ? 32
                         : std::is_same_v<T, __half> ? 19
                                                     : 16;
template <class T>
__device__ uint32_t order_of(float u) {
    return ordered(u) >> (32 - kKeyBits<T>);
}
template <class T>
__device__ float with_order(uint32_t order) {
    constexpr int kFurther = 32 - kKeyBits<T>;
    // The further bits of negative numbers are inverted as well.
    const bool is_negative = order >> (kKeyBits<T> - 1) == 0;
    return number_of((order << kFurther) | (is_negative ? (1u << kFurther) - 1 : 0));
}

// The elements that stay: the larger ones, and those with this value up to column `last`.
struct Cut {
    float value = -INFINITY;
    int32_t last = INT32_MAX;

    __device__ bool keeps(float u, int32_t col) const {
        return (u > value) | ((u == value) & (col <= last));  // no branches
    }
    // Keeps what both cuts keep.
    __device__ void join(const Cut& other) {
        last = value == other.value  ? min(last, other.last)
               : value > other.value ? last
                                     : other.last;
        value = fmaxf(value, other.value);
    }
};

// Finds the column of a part at which the sum of masses passes the target; the thread with this column calls
// found(column, element). of: the part's mass as the target assumes it; if the sum of masses differs by rounding,
// the target is scaled.
template <int kThreads, class T, class MassOf, class WhenFound>
__device__ void choose_in(const Range<T>& part, Mass target, Mass of, MassOf mass_of,
                          WhenFound found) {
    using BlockScan = cub::BlockScan<Mass, kThreads, cub::BLOCK_SCAN_WARP_SCANS>;
    __shared__ typename BlockScan::TempStorage scratch;
    const int64_t share = (part.end - part.begin + kThreads - 1) / kThreads;
    const int64_t begin = min(part.end, part.begin + threadIdx.x * share);
    const int64_t end = min(part.end, begin + share);
    // Visits the thread's columns until visit(element, column) returns false, with eight loads in flight.
    const auto visit_until = [&](auto visit) {
        constexpr int kLoads = 8;
#pragma unroll 1
        for (int64_t first = begin; first < end; first += kLoads) {
            float u[kLoads];
#pragma unroll
            for (int i = 0; i < kLoads; ++i)
                u[i] = first + i < end ? static_cast<float>(part.row[first + i]) : 0.f;
#pragma unroll
            for (int i = 0; i < kLoads; ++i) {
                if (first + i < end && !visit(u[i], first + i)) return;
            }
        }
    };

    Mass mine = 0, before = 0, total = 0;
    visit_until([&](float u, int64_t col) {
        mine += mass_of(u, col);
        return true;
    });
    BlockScan(scratch).ExclusiveSum(mine, before, total);
    if (total != of) {
        const double place = static_cast<double>(target) / static_cast<double>(of);
        target = min(static_cast<Mass>(place * static_cast<double>(total)), total - 1);
    }
    if (target < before || target - before >= mine) return;
    target -= before;
    visit_until([&](float u, int64_t col) {
        const Mass mass = mass_of(u, col);
        if (target < mass) {
            found(col, u);
            return false;
        }
        target -= mass;
        return true;
    });
}

// Returns the measure of a thread's elements of a range that kThreads threads share. measure(element, column) must be 0
// for an element of -inf.
template <int kThreads, class T, class Measure>
__device__ Mass measured(const Range<T>& range, int thread, Measure measure) {
    using Part = Batch<kThreads, T>;
    Mass sum = 0;
    for (int64_t first = range.first_pack(); first < range.end; first += Part::kCols) {
        const Part part(range, first, thread);
        float v[kBatchElements];
        part.load(v);
#pragma unroll
        for (int i = 0; i < kBatchElements; ++i) sum += measure(v[i], part.column(i));
    }
    return sum;
}

// Computes a measure of each warp's part of a row. A barrier must follow.
template <int kThreads, class T, class Measure>
__device__ void measure_parts(Mass (&of_part)[kThreads / 32], const Range<T>& row,
                              Measure measure) {
    const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
    const Mass sum = sum_in_warp(measured<32>(part_of(row, warp, kThreads / 32), lane, measure));
    if (lane == 0) of_part[warp] = sum;
}

// Returns the part that contains the target, and makes the target relative to this part.
template <int kParts>
__device__ int part_with(const Mass (&of_part)[kParts], Mass& target) {
    int part = 0;
    while (target >= of_part[part]) target -= of_part[part++];
    return part;
}

// ---------------------------------------------------------------- bins

// One bin per thread: the number of its elements, and a sum of 32 bits for each of the three 14-bit digits of their
// masses. (Shared memory adds 32-bit numbers atomically in one instruction; an addition of 64 bits is a loop of
// compare-and-swap.)
template <int kThreads>
struct Bins {
    static constexpr int kParts = 3, kBits = 14;  // the sums of 2^18 elements do not overflow
    unsigned mass[kParts][kThreads];
    int count[kThreads];

    __device__ void clear() {
        __syncthreads();  // all threads have finished with the old contents
        for (unsigned(&bits)[kThreads] : mass) bits[threadIdx.x] = 0;
        count[threadIdx.x] = 0;
        __syncthreads();
    }
    __device__ void add(int bin, Mass of) {
#pragma unroll
        for (int i = 0; i < kParts; ++i) {
            const auto bits = static_cast<unsigned>(of >> i * kBits) & ((1u << kBits) - 1);
            atomicAdd(&mass[i][bin], bits);
        }
        atomicAdd(&count[bin], 1);
    }
    __device__ Mass mass_of(int bin) const {
        Mass sum = 0;
#pragma unroll
        for (int i = 0; i < kParts; ++i) sum += Mass{mass[i][bin]} << i * kBits;
        return sum;
    }
};

// Returns the last key that stays if the largest keys are kept until their mass reaches `limit` (above 0). Number: an
// unsigned type. for_each(visit) calls visit(key, mass) for each of the thread's elements, up to 2^18 in all; no two
// have the same key, and no key is above `high`. Every pass sorts the keys that are still possible into one bin per
// thread, and finds the bin with the last key.
template <int kThreads, class Number, class ForEach>
__device__ Number select(Bins<kThreads>& bins, Number high, Mass limit, ForEach for_each) {
    using ScanMass = cub::BlockScan<Mass, kThreads, cub::BLOCK_SCAN_WARP_SCANS>;
    __shared__ typename ScanMass::TempStorage scratch;
    __shared__ Mass above;
    __shared__ Number found;
    __shared__ int chosen;
    constexpr int kBinBits = bits_for(kThreads);
    Number low = 0;
    for (;;) {
        const int shift = max(0, 64 - __clzll(static_cast<int64_t>(high - low)) - kBinBits);
        bins.clear();
        for_each([&](Number key, Mass mass) {
            if (low <= key && key <= high) bins.add(static_cast<int>((key - low) >> shift), mass);
        });
        __syncthreads();
        const int mine = kThreads - 1 - static_cast<int>(threadIdx.x);  // from the top down
        const Mass mass = bins.mass_of(mine);
        Mass before = 0;
        ScanMass(scratch).ExclusiveSum(mass, before);
        if (before < limit && limit <= before + mass) {
            chosen = mine;
            above = before;
        }
        __syncthreads();
        low += static_cast<Number>(chosen) << shift;
        high = min(high, low + ((Number{1} << shift) - 1));
        if (shift == 0) return low;
        limit -= above;
        if (bins.count[chosen] == 1) {
            for_each([&](Number key, Mass) {
                if (low <= key && key <= high) found = key;
            });
            __syncthreads();
            return found;
        }
    }
}

// ---------------------------------------------------------------- a window

// The keys that a block keeps in shared memory, at most: 64 KB.
constexpr int kLargestRoom = 8192;

// Shared memory of a search. The list has the keys of a window of the row, or of a sample of the row.
template <int kThreads>
struct Search {
    Key* list;
    int room;                     // places in the list
    int listed;                   // keys found, including those for which the list has no place
    Mass of_part[kThreads / 32];  // each warp has a part of the row: the mass above the window
    float low, high;              // the window
    int first, last;              // ranks in the sample of the window's first and last element,
    int first_bin, last_bin;      // and their bins
    int32_t column;               // the last of equal elements that stays
    Bins<kThreads> bins;

    __device__ int stored() const { return min(listed, room); }
    __device__ void clear() {
        __syncthreads();  // all threads have finished with the old contents
        if (threadIdx.x == 0) listed = 0;
        __syncthreads();
    }
    // Adds a key for each bit. key_of_lowest(bits) returns the key of the lowest bit. All lanes of a warp must call it.
    template <class KeyOfLowest>
    __device__ void add(unsigned bits, KeyOfLowest key_of_lowest) {
        if (!__any_sync(~0u, bits != 0)) return;
        int at = reserve_places(bits, &listed);
        for (; bits != 0; bits &= bits - 1, ++at) {
            if (at < room) list[at] = key_of_lowest(bits);
        }
    }
    // Adds the measures of the listed elements to those of their warps' parts of the row. A warp adds up the measures
    // of its elements that are in one part, because 32 atomic additions to one place take turns.
    template <class T, class Measure>
    __device__ void add_to_parts(const Range<T>& row, Measure measure) {
        const auto cols_of_part = static_cast<uint32_t>(part_of(row, 0, kThreads / 32).end);
        for (int begin = 0; begin < stored(); begin += kThreads) {
            const int i = begin + static_cast<int>(threadIdx.x);
            const Key key = i < stored() ? list[i] : 0;
            const Mass mine = key == 0 ? 0 : measure(element_of(key), column_of(key));
            const auto part = static_cast<uint32_t>(column_of(key)) / cols_of_part;
            unsigned left = __ballot_sync(~0u, mine > 0);
            while (left != 0) {
                const auto first = __shfl_sync(~0u, part, __ffs(static_cast<int>(left)) - 1);
                const bool is_there = mine > 0 && part == first;
                const Mass sum = sum_in_warp(is_there ? mine : 0);
                if (threadIdx.x % 32 == 0) atomicAdd(&of_part[first], sum);
                left &= ~__ballot_sync(~0u, is_there);
            }
        }
    }
    template <class Visit>
    __device__ void for_each(Visit visit) const {
        for (int i = threadIdx.x; i < stored(); i += kThreads)
            visit(element_of(list[i]), column_of(list[i]));
    }
};

// A sample of `count` columns of a row: segments of 32 bytes at equal distances, from the row's beginning to its end.
template <class T>
struct Sample {
    static constexpr int kSegment = 32 / sizeof(T), kFraction = 16;
    int64_t apart;  // segments of the row from one of the sample to the next, in units of 2^-16

    __device__ Sample(const Range<T>& row, int count)
        : apart((row.end / kSegment << kFraction) / max(1, count / kSegment)) {}
    __device__ int32_t column(int i) const {
        return static_cast<int32_t>(i / kSegment * apart >> kFraction) * kSegment + i % kSegment;
    }
};

// Lists a sample of the elements from `low` to `high`.
template <int kThreads, class T>
__device__ void sample_row(Search<kThreads>& search, const Range<T>& row, float low, float high) {
    constexpr int kLoads = 8;
    const Sample<T> sample(row, search.room);
    search.clear();
    for (int begin = 0; begin < search.room; begin += kLoads * kThreads) {
        const auto place = [&](int i) {
            return begin + i * kThreads + static_cast<int>(threadIdx.x);
        };
        const auto column = [&](int i) { return sample.column(place(i)); };
        T u[kLoads];
        unsigned inside = 0;
        // Loads without a branch, so that all are in flight together.
#pragma unroll
        for (int i = 0; i < kLoads; ++i) u[i] = row.row[min(int64_t{column(i)}, row.end - 1)];
#pragma unroll
        for (int i = 0; i < kLoads; ++i) {
            const auto each = static_cast<float>(u[i]);
            const bool is_there = (place(i) < search.room) & (column(i) < row.end);
            inside |= is_there & (low <= each) & (each <= high) ? 1u << i : 0;
        }
        int at = reserve_places(inside, &search.listed);
#pragma unroll
        for (int i = 0; i < kLoads; ++i) {
            if ((inside >> i & 1) != 0)
                search.list[at++] = key_of(static_cast<float>(u[i]), column(i));
        }
    }
    __syncthreads();
}

// The cut that a search looks for, between `low` and `high`. measured: the measure of the elements from `low` on.
// limit: the measure of the elements that are to stay. (Before the first read, both are estimates.)
struct Sought {
    float low, high;
    double measured, limit;
};

// Guesses the window of a cut from the listed sample, of which each element stands for `scale` elements of the row.
// Sorts the sample into kThreads bins of equal width. The cut is where the elements from `low` up to the cut have the
// measure that is not to stay. (The elements below a cut are many and light, so a sample estimates their measure well.
// A few elements above it may have almost all of the measure, and a sample may miss them.) The window consists of the
// bin that contains this place, and of the bins with the `margin` elements of the sample before and after it; its
// limits are the largest and the smallest element in these bins. If the sample has fewer elements before or after, the
// window extends to `high` or `low`. A bin with more than `most` elements has no margin.
template <int kThreads, class Measure>
__device__ void guess_window(Search<kThreads>& search, const Sought& sought, double scale,
                             int margin, int most, Measure measure) {
    const int thread = threadIdx.x;
    const float low = sought.low, high = sought.high;
    float lowest = high;
    search.for_each([&](float u, int32_t) { lowest = fminf(lowest, u); });
    lowest = -max_in_block<kThreads>(-lowest);
    // In double, because a difference of floats may overflow, and so may the reciprocal of a denormal difference.
    const double range = double{high} - double{lowest};
    const double bins_of = range > 0 ? kThreads / range : 0;
    const auto bin_of = [&](float u) {
        return min(static_cast<int>((double{high} - double{u}) * bins_of), kThreads - 1);
    };
    search.bins.clear();
    search.for_each([&](float u, int32_t col) { search.bins.add(bin_of(u), measure(u, col)); });
    __syncthreads();
    using ScanMass = cub::BlockScan<Mass, kThreads, cub::BLOCK_SCAN_WARP_SCANS>;
    using ScanCount = cub::BlockScan<int, kThreads, cub::BLOCK_SCAN_WARP_SCANS>;
    __shared__ typename ScanMass::TempStorage mass_scratch;
    __shared__ typename ScanCount::TempStorage count_scratch;
    const Mass mass = search.bins.mass_of(thread);
    const int count = search.bins.count[thread];
    Mass mass_before = 0, all_mass = 0;
    int before = 0, all = 0;
    ScanMass(mass_scratch).ExclusiveSum(mass, mass_before, all_mass);
    ScanCount(count_scratch).ExclusiveSum(count, before, all);
    if (all == 0) {  // nothing is known
        if (thread == 0) search.low = low, search.high = high;
        __syncthreads();
        return;
    }
    // The measure below the cut, and that of the sample below this bin and up to it.
    const double below_cut = fmax(0., sought.measured - sought.limit);
    const double below = scale * static_cast<double>(all_mass - mass_before - mass);
    const double up_to = scale * static_cast<double>(all_mass - mass_before);
    if (thread == 0) {  // above all bins, unless a bin contains the place
        search.first = -margin;
        search.last = max(0, margin - 1);
    }
    __syncthreads();
    if (below <= below_cut && below_cut < up_to) {
        const int around = count > most ? 0 : margin;
        search.first = before - around;
        search.last = before + count - 1 + around;
    }
    __syncthreads();
    const int first = search.first, last = search.last;
    const auto has = [&](int rank) { return before <= rank && rank < before + count; };
    if (has(max(first, 0))) search.first_bin = thread;
    if (has(min(last, all - 1))) search.last_bin = thread;
    __syncthreads();
    float smallest = high, largest = low;
    search.for_each([&](float u, int32_t) {
        const int bin = bin_of(u);
        if (bin < search.first_bin || search.last_bin < bin) return;
        smallest = fminf(smallest, u);
        largest = fmaxf(largest, u);
    });
    smallest = -max_in_block<kThreads>(-smallest);
    largest = max_in_block<kThreads>(largest);
    if (thread == 0) {
        search.low = last < all ? smallest : low;
        search.high = first >= 0 ? largest : high;
    }
    __syncthreads();
}

// The measures of the elements above the window, of those in the window, and of the whole row.
struct Measured {
    Mass above, within, total;
};

// Reads the row, lists the elements of the window, and stores the measure of what is above the window in each warp's
// part. (No element of -inf is in a window.)
template <int kThreads, class T, class Measure>
__device__ Measured read_window(Search<kThreads>& search, const Range<T>& row, float low,
                                float high, Measure measure) {
    const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
    const Range<T> mine = part_of(row, warp, kThreads / 32);
    using Part = Batch<32, T>;
    Mass sums[3] = {};
    search.clear();
    for (int64_t first = mine.first_pack(); first < mine.end; first += Part::kCols) {
        const Part part(mine, first, lane);
        float v[kBatchElements];
        part.load(v);
        unsigned inside = 0;
#pragma unroll
        for (int i = 0; i < kBatchElements; ++i) {
            const Mass of = measure(v[i], part.column(i));
            const bool is_above = v[i] > high, is_inside = !is_above & (v[i] >= low);
            sums[0] += is_above ? of : 0;
            sums[1] += is_inside ? of : 0;
            sums[2] += of;
            inside |= is_inside ? 1u << i : 0u;
        }
        search.add(inside, [&](unsigned bits) { return part.lowest(bits, v); });
    }
    const Mass above = sum_in_warp(sums[0]);
    if (lane == 0) search.of_part[warp] = above;
    sums_in_block<kThreads>(sums);
    return {sums[0], sums[1], sums[2]};
}

// Returns the cut in the listed window whose elements make up `limit` (above 0).
template <int kThreads, class T, class Measure>
__device__ Cut cut_in_list(Search<kThreads>& search, float low, float high, Mass limit,
                           int64_t cols, Measure measure) {
    // A key has the element's order in the window, and after that its column: lower columns have larger keys.
    const int column_bits = bits_for(cols);
    const uint32_t least = order_of<T>(low), first = (1u << column_bits) - 1;
    const auto key_of = [&](float u, uint32_t column) {
        return uint64_t{order_of<T>(u) - least} << column_bits | (first - column);
    };
    const uint64_t last = select<kThreads>(search.bins, key_of(high, 0), limit, [&](auto visit) {
        search.for_each([&](float u, int32_t col) {
            visit(key_of(u, static_cast<uint32_t>(col)), measure(u, col));
        });
    });
    const auto order = least + static_cast<uint32_t>(last >> column_bits);
    return {with_order<T>(order),
            static_cast<int32_t>(first - (static_cast<uint32_t>(last) & first))};
}

// Returns the cut among equal elements, of which those with the lowest columns make up `limit` (above 0).
template <int kThreads, class T, class Measure>
__device__ Cut cut_among_equal(Search<kThreads>& search, const Range<T>& row, float value,
                               Mass limit, Measure measure) {
    const auto of = [&](float u, int64_t col) {
        return u == value ? measure(u, static_cast<int32_t>(col)) : Mass{0};
    };
    measure_parts<kThreads>(search.of_part, row, of);
    __syncthreads();
    Mass target = limit - 1;
    const int part = part_with(search.of_part, target);
    choose_in<kThreads>(part_of(row, part, kThreads / 32), target, search.of_part[part], of,
                        [&](int64_t col, float) { search.column = static_cast<int32_t>(col); });
    __syncthreads();
    return {value, search.column};
}

// A cut. is_listed: true if the search still has the elements of the window, and what is above them in each part.
struct Searched {
    Cut cut;
    bool is_listed;
};

// Returns the cut after the first elements in sorted order that make up limit_of(total). total: the measure of the
// row; limit_of(total) must be above 0. measure(element, column) returns the amount that an element adds; equal
// elements add the same amount or 0, and -inf adds 0. low, high: the cut lies between them, and elements below low,
// which is finite, add 0. about: an estimate of the total. Guesses a window from a sample and reads the row. If the cut
// is not in the window, or the window has more elements than the list has places, guesses again with what it then
// knows.
template <int kThreads, class T, class LimitOf, class Measure>
__device__ Searched cut_at(Search<kThreads>& search, const Range<T>& row, double about, float low,
                           float high, LimitOf limit_of, Measure measure) {
    Sought sought{low, high, about, static_cast<double>(limit_of(static_cast<Mass>(about)))};
    const double share = static_cast<double>(row.end) / search.room;
    bool is_read = false;     // the row's total is known
    bool is_sampled = false;  // the list has elements from low to high
    // The number of elements of the sample that represent `room` elements of the row. The margins of a window take less
    // than two thirds of the list; its own bin takes the rest.
    const auto most = static_cast<int>(int64_t{search.room} * search.room / row.end);
    for (;;) {
        float from = sought.low, to = sought.high;
        if (row.end > search.room) {
            const double scale =
                is_sampled ? static_cast<double>(search.listed) / search.room : share;
            if (!is_sampled) sample_row(search, row, from, to);
            // After a window with more elements than the list has places, the next window is a single bin.
            guess_window(search, sought, scale, is_sampled ? 0 : 1 + 3 * most / 10, most, measure);
            from = search.low, to = search.high;
        }
        const Measured is = read_window(search, row, from, to, measure);
        const Mass limit = limit_of(is.total), with = is.above + is.within;
        sought.limit = static_cast<double>(limit);
        if (!is_read) sought.measured = static_cast<double>(is.total);
        is_read = true;
        is_sampled = false;
        if (is.above >= limit) {
            sought.low = nextafterf(to, INFINITY);
            sought.measured = static_cast<double>(is.above);
        } else if (with < limit) {
            sought.high = nextafterf(from, -INFINITY);
        } else if (search.listed <= search.room) {
            return {cut_in_list<kThreads, T>(search, from, to, limit - is.above, row.end, measure),
                    true};
        } else if (from == to) {
            if (with == limit) return {{to, INT32_MAX}, false};
            return {cut_among_equal(search, row, to, limit - is.above, measure), false};
        } else {
            sought = {from, to, static_cast<double>(with), sought.limit};
            is_sampled = true;
        }
    }
}

}  // namespace softmax_topk::sampling
