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
//   source     Floyd & Rivest 1975, "Expected time bounds for selection": a sample gives two elements with the wanted
//              one between them; Alabi et al. 2012, "Fast k-selection algorithms for graphics processing units", which
//              chooses digits by the number of elements, here also by probability
#pragma once
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

// A digit has two bits. A pass tries all digits except the last: for each, it sums up the mass of the keys that are
// larger than every key with this digit.
constexpr int kDigit = 2;
constexpr int kTried = (1 << kDigit) - 1;

// A key, the mass of all larger keys, and the mass of these and the key itself.
struct Found {
    uint32_t key;
    Mass above;
    Mass with;
};

// Returns the smallest key of `bits` bits for which all larger keys have less mass than `limit` (above 0): the last
// key that stays if the first keys must make up this mass. for_each(visit) calls visit(key, mass) for each of the
// thread's elements; every pass calls it again.
template <int kThreads, class ForEach>
__device__ Found find(int bits, Mass limit, ForEach for_each) {
    Found found{0, 0, ~Mass{0}};
    for (int left = bits; left > 0;) {
        const int digit = left < kDigit ? left : kDigit;
        left -= digit;
        const uint32_t smaller = (1u << left) - 1;  // the bits after this digit
        Mass above[kTried] = {};
        for_each([&](uint32_t key, Mass mass) {
#pragma unroll
            for (uint32_t i = 0; i < kTried; ++i) {
                if (key > (found.key | i << left | smaller)) above[i] += mass;
            }
        });
        sums_in_block<kThreads>(above);
        int chosen = 0;  // the first digit with little enough mass above it
#pragma unroll
        for (int i = 0; i < kTried; ++i) {
            const bool is_digit = i < (1 << digit) - 1;
            if (is_digit && above[i] >= limit) {
                chosen = i + 1;
                found.with = above[i];
            }
        }
#pragma unroll
        for (int i = 0; i < kTried; ++i) {
            if (i == chosen && i < (1 << digit) - 1) found.above = above[i];
        }
        found.key |= static_cast<uint32_t>(chosen) << left;
    }
    return found;
}

// Returns the number of bits that can number `count` items.
__host__ __device__ inline int bits_for(int64_t count) {
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

// The elements that stay: those with larger keys, and those with this key up to column `last`.
struct Cut {
    uint32_t key = 0;
    int32_t last = INT32_MAX;

    __device__ bool keeps(uint32_t of, int32_t col) const {
        return of > key || (of == key && col <= last);
    }
    // Keeps what both cuts keep.
    __device__ void join(const Cut& other) {
        last = key == other.key ? min(last, other.last) : key > other.key ? last : other.last;
        key = max(key, other.key);
    }
};

// Calls visit(element, column) for the elements of a range that kThreads threads share. Only eight loads are in
// flight, because the visitor needs many registers.
template <int kThreads, class T, class Visit>
__device__ void for_each_element(const Range<T>& range, int thread, Visit visit) {
    constexpr uint32_t kLoads = 8;
    const auto end = static_cast<uint32_t>(range.end);
    const uint32_t begin = static_cast<uint32_t>(range.begin) + static_cast<uint32_t>(thread);
    for (uint32_t first = begin; first < end; first += kLoads * kThreads) {
        float x[kLoads];
#pragma unroll
        for (uint32_t i = 0; i < kLoads; ++i) {
            const uint32_t col = first + i * kThreads;
            x[i] = col < end ? static_cast<float>(range.row[col]) : 0.f;
        }
#pragma unroll
        for (uint32_t i = 0; i < kLoads; ++i) {
            const uint32_t col = first + i * kThreads;
            if (col < end) visit(x[i], static_cast<int32_t>(col));
        }
    }
}

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
    const auto element = [&](int64_t col) { return static_cast<float>(part.row[col]); };

    Mass mine = 0, before = 0, total = 0;
    for (int64_t col = begin; col < end; ++col) mine += mass_of(element(col), col);
    BlockScan(scratch).ExclusiveSum(mine, before, total);
    if (total != of) {
        const double place = static_cast<double>(target) / static_cast<double>(of);
        target = min(static_cast<Mass>(place * static_cast<double>(total)), total - 1);
    }
    if (target < before || target - before >= mine) return;
    target -= before;
    for (int64_t col = begin;; ++col) {
        const Mass mass = mass_of(element(col), col);
        if (target < mass) return found(col, element(col));
        target -= mass;
    }
}

// Computes a measure of each warp's part of a row. A barrier must follow.
template <int kThreads, class T, class Measure>
__device__ void measure_parts(Mass (&of_part)[kThreads / 32], const Range<T>& row,
                              Measure measure) {
    const int warp = static_cast<int>(threadIdx.x) / 32;
    Mass mine = 0;
    for_each_element<32>(part_of(row, warp, kThreads / 32), threadIdx.x % 32,
                         [&](float u, int32_t col) { mine += measure(u, col); });
    mine = sum_in_warp(mine);
    if (threadIdx.x % 32 == 0) of_part[warp] = mine;
}

// Returns the part that contains the target, and makes the target relative to this part.
template <int kParts>
__device__ int part_with(const Mass (&of_part)[kParts], Mass& target) {
    int part = 0;
    while (target >= of_part[part]) target -= of_part[part++];
    return part;
}

// ---------------------------------------------------------------- a window

// The keys that a block keeps in shared memory, at most: 64 KB.
constexpr int kLargestRoom = 8192;

// Shared memory of a search. The list has the keys of a window of the row, or of a sample of the row.
template <int kThreads>
struct Search {
    Key* list;
    int room;                     // places in the list
    int listed;                   // keys that there are, also if the list has no room for them
    Mass of_part[kThreads / 32];  // each warp has a part of the row: the mass above the window
    float low, high;              // the window
    int first, last;              // ranks in the sample that limit the window,
    int first_bin, last_bin;      // and their bins
    int32_t column;               // the last of equal elements that stays
    Mass mass[kThreads];          // of a bin of the sample
    int count[kThreads];

    __device__ int stored() const { return min(listed, room); }
    __device__ void clear() {
        __syncthreads();  // all threads have read what it had
        if (threadIdx.x == 0) listed = 0;
        __syncthreads();
    }
    // Adds the keys key_at(i) for all bits i of `which`. All lanes of a warp must call it.
    template <int kCount, class KeyAt>
    __device__ void add(unsigned which, KeyAt key_at) {
        if (!__any_sync(~0u, which != 0)) return;
        int at = reserve_places(which, &listed);
#pragma unroll
        for (int i = 0; i < kCount; ++i) {
            if ((which >> i & 1) == 0) continue;
            if (at < room) list[at] = key_at(i);
            ++at;
        }
    }
    template <class Visit>
    __device__ void for_each(Visit visit) const {
        for (int i = threadIdx.x; i < stored(); i += kThreads)
            visit(element_of(list[i]), column_of(list[i]));
    }
};

// Returns column i of a sample of about `count` columns: of a row's sectors of 32 bytes, every so many-th.
template <class T>
__device__ int64_t sampled_column(const Range<T>& row, int i, int count) {
    constexpr int kSector = 32 / sizeof(T);
    return i / kSector * max(int64_t{1}, row.end / count) * kSector + i % kSector;
}

// Lists a sample of the elements from `low` to `high`.
template <int kThreads, class T>
__device__ void sample_row(Search<kThreads>& search, const Range<T>& row, float low, float high) {
    search.clear();
    for (int begin = 0; begin < search.room; begin += kThreads) {
        const int at = begin + static_cast<int>(threadIdx.x);
        const int64_t col = sampled_column(row, at, search.room);
        const bool is_there = at < search.room && col < row.end;
        const float u = is_there ? static_cast<float>(row.row[col]) : NAN;
        search.template add<1>(low <= u && u <= high ? 1 : 0,
                               [&](int) { return key_of(u, static_cast<int32_t>(col)); });
    }
    __syncthreads();
}

// Guesses from the listed sample where the row, from `low` to `high`, reaches `share` of its mass, and sets the
// window. Sorts the sample into kThreads bins of equal width. The window consists of the bin that contains this
// place, and of the bins with the `margin` elements of the sample before and after it; its limits are the largest and
// the smallest element in these bins. If the sample has fewer elements before or after, the window extends to `high`
// or `low`. A bin with more than `most` elements has no margin.
template <int kThreads, class Measure>
__device__ void guess_window(Search<kThreads>& search, float low, float high, double share,
                             int margin, int most, Measure measure) {
    const int thread = threadIdx.x;
    float lowest = high;
    search.for_each([&](float u, int32_t) {
        if (u > -INFINITY) lowest = fminf(lowest, u);
    });
    lowest = -max_in_block<kThreads>(-lowest);
    const double width = (double{high} - double{lowest}) / kThreads;
    const auto bin_of = [&](float u) {
        if (u == -INFINITY) return kThreads - 1;
        const double bin = width > 0 ? (double{high} - double{u}) / width : 0;
        return min(static_cast<int>(bin), kThreads - 1);
    };
    search.mass[thread] = 0;
    search.count[thread] = 0;
    __syncthreads();
    search.for_each([&](float u, int32_t col) {
        const int bin = bin_of(u);
        atomicAdd(&search.mass[bin], measure(u, col));
        atomicAdd(&search.count[bin], 1);
    });
    __syncthreads();
    using ScanMass = cub::BlockScan<Mass, kThreads, cub::BLOCK_SCAN_WARP_SCANS>;
    using ScanCount = cub::BlockScan<int, kThreads, cub::BLOCK_SCAN_WARP_SCANS>;
    __shared__ typename ScanMass::TempStorage mass_scratch;
    __shared__ typename ScanCount::TempStorage count_scratch;
    Mass mass = search.mass[thread], mass_before = 0, all_mass = 0;
    const int count = search.count[thread];
    int before = 0, all = 0;
    ScanMass(mass_scratch).ExclusiveSum(mass, mass_before, all_mass);
    ScanCount(count_scratch).ExclusiveSum(count, before, all);
    if (all == 0) {  // nothing is known
        if (thread == 0) search.low = low, search.high = high;
        __syncthreads();
        return;
    }
    if (all_mass == 0) mass = count, mass_before = before, all_mass = all;
    const Mass target = min(static_cast<Mass>(share * static_cast<double>(all_mass)), all_mass - 1);
    if (mass_before <= target && target - mass_before < mass) {
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
// part.
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
            const bool is_there = part.has(i);
            const Mass of = is_there ? measure(v[i], part.column(i)) : Mass{0};
            const bool is_inside = is_there && low <= v[i] && v[i] <= high;
            sums[0] += v[i] > high ? of : Mass{0};
            sums[1] += is_inside ? of : Mass{0};
            sums[2] += of;
            inside |= is_inside ? 1u << i : 0u;
        }
        search.template add<kBatchElements>(inside,
                                            [&](int i) { return key_of(v[i], part.column(i)); });
    }
    const Mass above = sum_in_warp(sums[0]);
    if (lane == 0) search.of_part[warp] = above;
    sums_in_block<kThreads>(sums);
    return {sums[0], sums[1], sums[2]};
}

// Returns the cut in the listed window whose elements make up `limit` (above 0).
template <int kThreads, class T, class Measure>
__device__ Cut cut_in_list(const Search<kThreads>& search, float low, float high, Mass limit,
                           int64_t cols, Measure measure) {
    const uint32_t least = order_of<T>(low);
    const int bits = bits_for(int64_t{order_of<T>(high)} - int64_t{least} + 1);
    Found by_element = find<kThreads>(bits, limit, [&](auto visit) {
        search.for_each(
            [&](float u, int32_t col) { visit(order_of<T>(u) - least, measure(u, col)); });
    });
    by_element.key += least;
    if (by_element.with <= limit) return {by_element.key, INT32_MAX};
    // Only some of the elements equal to the last element stay: those with the lowest columns, whose keys by column
    // are largest.
    const int column_bits = bits_for(cols);
    const uint32_t largest = (1u << column_bits) - 1;
    const Found by_column = find<kThreads>(column_bits, limit - by_element.above, [&](auto visit) {
        search.for_each([&](float u, int32_t col) {
            if (order_of<T>(u) == by_element.key)
                visit(largest - static_cast<uint32_t>(col), measure(u, col));
        });
    });
    return {by_element.key, static_cast<int32_t>(largest - by_column.key)};
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
    return {order_of<T>(value), search.column};
}

// A cut. is_listed: true if the search still has the elements of the window, and what is above them in each part.
struct Searched {
    Cut cut;
    bool is_listed;
};

// Returns the cut after the first elements in sorted order that make up limit_of(total). total: the measure of the
// row; limit_of(total) must be above 0, and `share` is its approximate share of the total. measure(element, column)
// returns the amount that an element adds; equal elements add the same amount or 0. low, high: the cut lies between
// them; high is the row's maximum, and elements below low add 0. Guesses a window from a sample and reads the row. If
// the cut is not in the window, or the window has more elements than the list has places, guesses again with what it
// then knows.
template <int kThreads, class T, class LimitOf, class Measure>
__device__ Searched cut_at(Search<kThreads>& search, const Range<T>& row, double share, float low,
                           float high, LimitOf limit_of, Measure measure) {
    Mass before = 0;          // what is above high
    bool is_sampled = false;  // the list has elements from low to high
    // This many elements of the sample stand for as many elements of the row as the list has places. The margins of a
    // window take less than two thirds of the list; its own bin takes the rest.
    const auto most = static_cast<int>(int64_t{search.room} * search.room / row.end);
    for (;;) {
        float from = low, to = high;
        if (row.end > search.room) {
            if (!is_sampled) sample_row(search, row, low, high);
            // After a window with more elements than the list has places, the next window is a single bin.
            guess_window(search, low, high, share, is_sampled ? 0 : 1 + 3 * most / 10, most,
                         measure);
            from = search.low, to = search.high;
        }
        const Measured is = read_window(search, row, from, to, measure);
        const Mass limit = limit_of(is.total);
        const auto share_of = [&](Mass of_whole, Mass whole) {
            return static_cast<double>(of_whole) / static_cast<double>(whole);
        };
        is_sampled = false;
        if (is.above >= limit) {
            low = number_of(ordered(to) + 1);
            share = share_of(limit - before, is.above - before);
        } else if (is.above + is.within < limit) {
            high = number_of(ordered(from) - 1);
            before = is.above + is.within;
            share = share_of(limit - before, is.total - before);
        } else if (search.listed <= search.room) {
            return {cut_in_list<kThreads, T>(search, from, to, limit - is.above, row.end, measure),
                    true};
        } else if (from == to) {
            if (is.above + is.within == limit) return {{order_of<T>(to), INT32_MAX}, false};
            return {cut_among_equal(search, row, to, limit - is.above, measure), false};
        } else {
            low = from, high = to;
            before = is.above;
            share = share_of(limit - before, is.within);
            is_sampled = true;
        }
    }
}

}  // namespace softmax_topk::sampling
