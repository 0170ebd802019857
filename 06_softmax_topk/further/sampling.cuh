// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 06_softmax_topk/further/sampling, version 1.0
//
// The kernels of sample(): a random column of each row, by its probability.
//   new here   one random number per row selects a column: each column that stays has an interval as wide as its
//              probability
//   order      temperature, top-k, top-p of the columns left by top-k, min-p, as in Hugging Face's transformers; of
//              equal elements the lower columns stay, as in a stable sort
//   traffic    one read, plus a second read of one warp's part of the row; with cuts mostly one or two reads, and more
//              for each cut if a list is too short
//   accepts    float, __half, __nv_bfloat16; int32_t and int64_t columns; up to 2^31 - 1 columns; any address
//   rows       with NaN or +inf, or with -inf alone, have no distribution: column -1, probability NaN
//   source     Holtzman et al. 2020 (top-p), Nguyen et al. 2024, "Turning up the heat" (min-p)
#pragma once
#include <algorithm>
#include <cfloat>

#include "../../04_warp_softmax/ask_once.cuh"
#include "../../04_warp_softmax/front_call.cuh"
#include "block_topk.cuh"
#include "draws.cuh"

namespace softmax_topk::sampling {

// An element this many bits below the best has no mass.
constexpr float kMassless = 41.f;

// ---------------------------------------------------------------- from the whole row

// The part that contains the target, the target within this part, and the total mass.
struct Place {
    int part;
    Mass target;
    Mass total;
};
template <int kThreads>
__device__ Place place_of(const Mass (&parts)[kThreads / 32], const Draws& draws, int64_t row) {
    Mass total = 0;
    for (const Mass part : parts) total += part;
    Mass target = draws.target(row, total);
    const int part = part_with(parts, target);
    return {part, target, total};
}

// Reads a row, and computes the pair of each warp's part. Returns the row's maximum, or -inf if the row has no
// distribution.
template <int kThreads, class T>
__device__ float read_parts(Normalizer (&parts)[kThreads / 32], const Range<T>& row, float scale) {
    const int warp = static_cast<int>(threadIdx.x / 32), lane = static_cast<int>(threadIdx.x % 32);
    const Range<T> mine = part_of(row, warp, kThreads / 32);
    using Part = Batch<32, T>;
    Normalizer normalizer{-INFINITY, 0.f};
    for (int64_t first = mine.first_pack(); first < mine.end; first += Part::kCols) {
        float v[kBatchElements];
        Part(mine, first, lane).load(v);
        add_batch(normalizer, v, INFINITY, scale);
    }
    normalizer = merge_in_warp(normalizer, scale);
    if (lane == 0) parts[warp] = normalizer;
    const bool is_odd = __syncthreads_or(!(normalizer.d < INFINITY));  // NaN or +inf
    float best = -INFINITY;
    for (const Normalizer& part : parts) best = fmaxf(best, part.m);
    return is_odd ? -INFINITY : best;
}

// Draws without cuts: reads the row once for the pairs of all parts, and the chosen part a second time.
template <int kThreads, class T>
__global__ void __launch_bounds__(kThreads)
    whole_row_kernel(const T* x, int64_t cols, Draws draws, Chosen chosen) {
    __shared__ Normalizer parts[kThreads / 32];
    __shared__ Mass masses[kThreads / 32];
    const int64_t row = blockIdx.x;
    const Draw draw = draws.of(row, cols);
    const Range<T> all{x + row * cols, 0, cols};
    const float best = read_parts<kThreads>(parts, all, draw.scale);
    if (best == -INFINITY) {
        if (threadIdx.x == 0) chosen.put_nothing(row);
        return;
    }
    if (threadIdx.x < kThreads / 32) {
        const Normalizer part = parts[threadIdx.x];
        const float share = fast_exp2((part.m - best) * draw.scale);
        masses[threadIdx.x] = static_cast<Mass>(part.d * share * draw.units);
    }
    __syncthreads();
    const Place place = place_of<kThreads>(masses, draws, row);
    // Masses are relative to the part's own best: relative to the row's best, they might all be 0.
    const Weights in_part{parts[place.part].m, draw.scale, draw.units};
    choose_in<kThreads>(
        part_of(all, place.part, kThreads / 32), place.target, masses[place.part],
        [&](float u, int64_t) { return in_part.mass(u); },
        [&](int64_t col, float u) {
            const float weight = fast_exp2((u - best) * draw.scale);
            chosen.put(row, col, weight * draw.units / static_cast<float>(place.total));
        });
}

template <int kThreads, class T, class MassOf>
__device__ Mass mass_of_row(const Range<T>& row, MassOf mass_of) {
    return sum_in_block<kThreads>(measured<kThreads>(row, threadIdx.x, mass_of));
}

extern __shared__ __align__(16) unsigned char listed_bytes[];

// Returns the number of keys for which a block has shared memory.
inline int largest_room() {
    constexpr int64_t kStatic = 12 << 10;  // bytes of a kernel's other shared memory
    const int64_t there = (softmax_stages::this_chip().room - kStatic) / int64_t{sizeof(Key)};
    return static_cast<int>(std::min(there, int64_t{kLargestRoom}));
}
// Returns the number of keys that a block is to keep: none if nothing is cut, all of a short row.
inline int room_for(int64_t cols, const Draws& draws) {
    return draws.all.top_k > 0 || draws.top_ks != nullptr || draws.all.top_p < 1.f ||
                   draws.top_ps != nullptr
               ? static_cast<int>(std::min<int64_t>(cols, largest_room()))
               : 0;
}

// Returns a row's mass, guessed from a sample.
template <int kThreads, class T, class MassOf>
__device__ Mass guessed_mass(const Range<T>& row, MassOf mass_of) {
    constexpr int kSampled = 4 * kThreads;
    const Sample<T> sample(row, kSampled);
    Mass sums[2] = {};
    for (int i = threadIdx.x; i < kSampled; i += kThreads) {
        const int64_t col = sample.column(i);
        if (col >= row.end) continue;
        sums[0] += mass_of(static_cast<float>(row.row[col]), static_cast<int32_t>(col));
        ++sums[1];
    }
    sums_in_block<kThreads>(sums);
    return static_cast<Mass>(static_cast<double>(sums[0]) * static_cast<double>(row.end) /
                             static_cast<double>(sums[1]));
}

template <int kThreads, class T>
__device__ Mass guessed_mass_below(const Range<T>& row, float limit, const Weights& weights) {
    return guessed_mass<kThreads>(
        row, [&](float u, int64_t) { return u < limit ? weights.mass(u) : Mass{0}; });
}

// Draws with any cuts. Finds each cut with a sample and at least one read of the row. best: the row's maximum, which is
// finite. highest: the cut of top_p is not above this element. about: an estimate of the row's mass.
template <int kThreads, class T>
__device__ void choose_by_cuts(const T* x, int64_t row, int64_t cols, const Draws& draws,
                               const Draw& draw, int room, float best, float highest, double about,
                               const Chosen& chosen) {
    __shared__ Search<kThreads> search;
    if (threadIdx.x == 0) {
        search.list = reinterpret_cast<Key*>(listed_bytes);
        search.room = room;
    }
    __syncthreads();
    const Range<T> all{x + row * cols, 0, cols};
    const Weights weights{best, draw.scale, draw.units};
    Cut cut;
    if (draw.top_k > 0) {
        cut = cut_at(
                  search, all, static_cast<double>(cols), -FLT_MAX, best,
                  [&](Mass total) { return min(total, Mass{draw.top_k}); },
                  [](float u, int32_t) { return Mass{u > -INFINITY}; })
                  .cut;
    }
    const auto mass_left = [&](float u, int64_t col) {
        return weights.mass(cut.keeps(u, static_cast<int32_t>(col)) ? u : -INFINITY);
    };
    Cut stays = cut;
    bool is_listed = false;
    if (draw.top_p < 1.f) {
        const float least = fmaxf(best - kMassless / draw.scale, -FLT_MAX);
        if (draw.top_k > 0) about = static_cast<double>(guessed_mass<kThreads>(all, mass_left));
        const Searched by_mass = cut_at(
            search, all, about, least, highest,
            [&](Mass total) { return limit_of(draw.top_p, total); }, mass_left);
        stays.join(by_mass.cut);
        is_listed = by_mass.is_listed;
    }
    const auto mass_that_stays = [&](float u, int64_t col) {
        const bool stays_here =
            (weights.weight(u) >= draw.min_p) & stays.keeps(u, static_cast<int32_t>(col));
        return weights.mass(stays_here ? u : -INFINITY);
    };

    // The mass of each warp's part. After a search for top_p, it is the mass above the window and that of the listed
    // elements that stay; otherwise the block reads the row again.
    if (is_listed && draw.min_p == 0.f) {
        search.template add_to_parts<T>(all, mass_that_stays);
    } else {
        measure_parts<kThreads>(search.of_part, all, mass_that_stays);
    }
    __syncthreads();
    const Place place = place_of<kThreads>(search.of_part, draws, row);
    choose_in<kThreads>(
        part_of(all, place.part, kThreads / 32), place.target, search.of_part[place.part],
        mass_that_stays, [&](int64_t col, float u) {
            chosen.put(row, col, weights.weight(u) * draw.units / static_cast<float>(place.total));
        });
}

// The results of topk(): the best elements of each row, in order, and the logarithm of each row's sum.
template <class T>
struct Lists {
    T* elements;
    int32_t* columns;
    float* log_sum_exp;
    int64_t length;
};

// Draws all rows, or, if there are lists, the rows that from_list_kernel has put off. A list's first element is the
// row's maximum. At temperature 1, the list of a row without top_k has ended before the cut of top_p; at any other
// temperature, this is a guess.
template <int kThreads, class T>
__global__ void __launch_bounds__(kThreads)
    cut_row_kernel(const T* x, int64_t cols, Draws draws, int room, Lists<T> lists, Chosen chosen) {
    __shared__ Normalizer parts[kThreads / 32];
    const int64_t row = blockIdx.x;
    const Range<T> all{x + row * cols, 0, cols};
    const Draw draw = draws.of(row, cols);
    float best, highest;
    double about = 0;
    if (lists.elements != nullptr) {
        if (!chosen.is_put_off(row)) return;
        const T* const elements = lists.elements + row * lists.length;
        best = static_cast<float>(elements[0]);
        const auto last = static_cast<float>(elements[lists.length - 1]);
        highest = draw.top_k == 0 && draw.scale == kLog2e ? last : best;
        const Weights weights{best, draw.scale, draw.units};
        Mass listed = 0;
        for (int64_t i = threadIdx.x; i < lists.length; i += kThreads)
            listed += weights.mass(static_cast<float>(elements[i]));
        const Mass rest = guessed_mass_below<kThreads>(all, last, weights);
        about = static_cast<double>(sum_in_block<kThreads>(listed) + rest);
    } else {
        const bool is_best = draw.scale == INFINITY;
        best = highest = read_parts<kThreads>(parts, all, is_best ? kLog2e : draw.scale);
        if (best == -INFINITY || !draw.is_valid()) {
            if (threadIdx.x == 0) chosen.put_nothing(row);
            return;
        }
        if (is_best) {
            choose_in<kThreads>(
                all, 0, 1, [&](float u, int64_t) { return Mass{u == best}; },
                [&](int64_t col, float) { chosen.put(row, col, 1.f); });
            return;
        }
        for (const Normalizer& part : parts)
            about += double{part.d} * fast_exp2((part.m - best) * draw.scale) * draw.units;
    }
    choose_by_cuts<kThreads>(x, row, cols, draws, draw, room, best, highest, about, chosen);
}

// ---------------------------------------------------------------- from a list of the best

// A row's mass, computed from the logarithm of its sum, and a bound of its error. The bound assumes half a unit in
// the last place for each sequential sum of a thread of topk(), for each merge and exponential, and for the two
// numbers of the difference, and doubles the total to be safe. In addition, each column loses less than one unit of
// mass.
struct Rough {
    Mass mass, off;
};
__device__ inline Rough rough_mass(float log_sum_exp, int64_t cols, const Weights& weights) {
    const float mass = expf(log_sum_exp - weights.best) * weights.units;
    const float places =
        static_cast<float>(cols / kBlock) + 64.f + fabsf(log_sum_exp) + fabsf(weights.best);
    return {static_cast<Mass>(mass),
            static_cast<Mass>(mass * places * 0x1p-23f) + static_cast<Mass>(cols)};
}

// Draws with any cuts, found in the list with one thread per place. If the list ends before a cut, the block puts off
// the row, and cut_row_kernel draws it. kIsAll: the list has all columns that can stay. The block adds up the row's
// exact mass only if the rough mass cannot decide whether a place is before the limit.
template <int kThreads, bool kIsAll, class T>
__global__ void __launch_bounds__(kThreads)
    from_list_kernel(const T* x, int64_t cols, Lists<T> lists, Draws draws, Chosen chosen) {
    using BlockScan = cub::BlockScan<Mass, kThreads, cub::BLOCK_SCAN_WARP_SCANS>;
    __shared__ typename BlockScan::TempStorage scratch;
    const int64_t row = blockIdx.x;
    const Draw draw = draws.of(row, cols);
    const T* elements = lists.elements + row * lists.length;
    const float best = static_cast<float>(elements[0]);
    if (!(fabsf(best) < INFINITY) || !draw.is_valid()) {
        if (threadIdx.x == 0) chosen.put_nothing(row);
        return;
    }
    if (draw.scale == INFINITY) {
        if (threadIdx.x == 0) chosen.put(row, lists.columns[row * lists.length], 1.f);
        return;
    }
    if (!kIsAll && draw.top_k > lists.length) {
        if (threadIdx.x == 0) chosen.put_off(row);
        return;
    }
    const Weights weights{best, draw.scale, draw.units};
    const auto places = static_cast<unsigned>(lists.length);
    const unsigned length = draw.top_k == 0 ? places : min(places, draw.top_k);
    const bool is_all = kIsAll || draw.top_k > 0;  // the list has all columns that can stay
    const bool is_listed = threadIdx.x < length;
    const float u = is_listed ? static_cast<float>(elements[threadIdx.x]) : -INFINITY;
    const int32_t col = is_listed ? lists.columns[row * lists.length + threadIdx.x] : 0;
    const Mass mass = weights.mass(u);
    Mass before = 0, listed = 0;
    BlockScan(scratch).ExclusiveSum(mass, before, listed);

    bool stays = is_listed && weights.weight(u) >= draw.min_p;
    bool is_settled = is_all;
    if (draw.top_p < 1.f) {
        Mass total = listed;
        if (!is_all) {
            const auto in = [&](Mass low, Mass high) {
                const auto is_near = [&](Mass end) { return low <= end && end < high; };
                return (is_listed && is_near(before)) || is_near(listed);
            };
            const Range<T> all{x + row * cols, 0, cols};
            const bool mass_is_known = draw.scale == kLog2e;  // at temperature 1, topk() knows it
            // A sample says whether the list may reach the limit, unless min_p ends within the list.
            if (!mass_is_known && !__syncthreads_or(is_listed && !stays)) {
                const auto last = static_cast<float>(elements[lists.length - 1]);
                const Mass rest = guessed_mass_below<kThreads>(all, last, weights);
                if (limit_of(draw.top_p, listed + rest) > listed) {
                    if (threadIdx.x == 0) chosen.put_off(row);
                    return;
                }
            }
            const Rough rough = rough_mass(lists.log_sum_exp[row], cols, weights);
            total = max(listed, rough.mass);
            const Mass off = min(total, rough.off);
            const bool is_near =
                in(limit_of(draw.top_p, total - off), limit_of(draw.top_p, total + off));
            if (__syncthreads_or(!mass_is_known || is_near))
                total = mass_of_row<kThreads>(
                    all, [&](float each, int32_t) { return weights.mass(each); });
        }
        const Mass limit = limit_of(draw.top_p, total);
        stays = stays && before < limit;
        is_settled = is_settled || listed >= limit;
    }
    if (!is_all) {
        if (!__syncthreads_or(is_settled || (is_listed && !stays))) {
            if (threadIdx.x == 0) chosen.put_off(row);
            return;
        }
    }
    const Mass left = sum_in_block<kThreads>(stays ? mass : 0);
    // Lower columns have larger keys, so the columns before the chosen column have larger keys.
    __shared__ Bins<kThreads> bins;
    const auto largest = static_cast<uint32_t>(cols - 1);
    const uint32_t mine = largest - static_cast<uint32_t>(col);
    const uint32_t found =
        select<kThreads>(bins, largest, draws.target(row, left) + 1, [&](auto visit) {
            if (stays) visit(mine, mass);
        });
    if (stays && mine == found)
        chosen.put(row, col, weights.weight(u) * draw.units / static_cast<float>(left));
}

// ---------------------------------------------------------------- the best alone

// Finds the best column, for temperature 0.
template <int kThreads, class T>
__global__ void __launch_bounds__(kThreads) best_kernel(const T* x, int64_t cols, Chosen chosen) {
    const int64_t row = blockIdx.x;
    const Range<T> all{x + row * cols, 0, cols};
    using Part = Batch<kThreads, T>;
    Key mine = 0;
    for (int64_t first = all.first_pack(); first < all.end; first += Part::kCols) {
        const Part part(all, first, threadIdx.x);
        float v[kBatchElements];
        part.load(v);
#pragma unroll
        for (int i = 0; i < kBatchElements; ++i) {
            if (part.has(i)) mine = max(mine, key_of(v[i], part.column(i)));
        }
    }
    const Key best = max_in_block<kThreads>(mine);
    if (threadIdx.x != 0) return;
    if (fabsf(element_of(best)) < INFINITY) {
        chosen.put(row, column_of(best), 1.f);
    } else {
        chosen.put_nothing(row);
    }
}

// ---------------------------------------------------------------- the launch

enum class Way { best, whole_row, list, cuts };

// Threads per row: a warp for a short row, a full block for any other row, a few warps for a short list.
constexpr int64_t kShortRow = 1024;
constexpr int kWarp = 32, kBlockOfShortList = 128, kLargestBlock = 1024;
constexpr int kBlockOfCuts = 512;  // with more threads, each would have too few registers

inline int threads_for(int64_t cols) {
    return cols <= kShortRow ? kWarp : kLargestBlock;
}

// Launches cuts for all rows, or, with lists, for the rows that from_list_kernel has put off.
template <int kThreads, class T>
cudaError_t launch_cuts(const T* x, int64_t rows, int64_t cols, const Draws& draws,
                        const Lists<T>& lists, const Chosen& chosen, cudaStream_t stream) {
    const auto kernel = cut_row_kernel<kThreads, T>;
    const int room = room_for(cols, draws);
    if (room > 0) {
        const cudaError_t error =
            warp_softmax::set_once(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   largest_room() * static_cast<int>(sizeof(Key)));
        if (error != cudaSuccess) return error;
    }
    kernel<<<static_cast<unsigned>(rows), kThreads, static_cast<size_t>(room) * sizeof(Key),
             stream>>>(x, cols, draws, room, lists, chosen);
    return cudaGetLastError();
}

template <class T>
cudaError_t launch_from_list(const T* x, int64_t rows, int64_t cols, const Draws& draws,
                             const Lists<T>& lists, const Chosen& chosen, cudaStream_t stream) {
    const auto blocks = static_cast<unsigned>(rows);
    if (lists.length <= kBlockOfShortList) {  // only top-k, or a whole row, is so short
        from_list_kernel<kBlockOfShortList, true>
            <<<blocks, kBlockOfShortList, 0, stream>>>(x, cols, lists, draws, chosen);
    } else if (draws.all.top_k > 0 || lists.length == cols) {
        from_list_kernel<kLargestBlock, true>
            <<<blocks, kLargestBlock, 0, stream>>>(x, cols, lists, draws, chosen);
    } else {
        from_list_kernel<kLargestBlock, false>
            <<<blocks, kLargestBlock, 0, stream>>>(x, cols, lists, draws, chosen);
        const cudaError_t error = cudaGetLastError();
        if (error != cudaSuccess) return error;
        return launch_cuts<kBlockOfCuts>(x, rows, cols, draws, lists, chosen, stream);
    }
    return cudaGetLastError();
}

template <int kThreads, class T>
cudaError_t launch_rows(Way way, const T* x, int64_t rows, int64_t cols, const Draws& draws,
                        const Chosen& chosen, cudaStream_t stream) {
    const auto blocks = static_cast<unsigned>(rows);
    if (way == Way::best) {
        best_kernel<kThreads><<<blocks, kThreads, 0, stream>>>(x, cols, chosen);
    } else if (way == Way::whole_row) {
        whole_row_kernel<kThreads><<<blocks, kThreads, 0, stream>>>(x, cols, draws, chosen);
    } else {
        constexpr int kOfCuts = kThreads == kWarp ? kWarp : kBlockOfCuts;
        return launch_cuts<kOfCuts>(x, rows, cols, draws, Lists<T>{}, chosen, stream);
    }
    return cudaGetLastError();
}
// Launches any way except Way::list.
template <class T>
cudaError_t launch_rows(Way way, const T* x, int64_t rows, int64_t cols, const Draws& draws,
                        const Chosen& chosen, cudaStream_t stream) {
    return threads_for(cols) == kWarp
               ? launch_rows<kWarp>(way, x, rows, cols, draws, chosen, stream)
               : launch_rows<kLargestBlock>(way, x, rows, cols, draws, chosen, stream);
}

}  // namespace softmax_topk::sampling
