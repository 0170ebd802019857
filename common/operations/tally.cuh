// SPDX-License-Identifier: MIT
// What the checkers of all families keep of their comparisons, in a kernel or on the host.
#pragma once
#include <cmath>
#include <cstdint>
#include <initializer_list>

#include <cuda_runtime.h>

#include "common/runner/device.hpp"
#include "common/runner/report.hpp"

namespace operations {

// What one element of the result must be.
struct Expected {
    double value;     // NaN: only NaN will do
    double bound;     // greatest absolute error; NaN: anything goes; infinite: any finite number
    double rest = 0;  // value + rest is what is meant
};

// Whether it is held to no value: what is right is counted as unchecked.
__host__ __device__ inline bool is_open(const Expected& wanted) {
    return !(wanted.bound < INFINITY);
}

// One element against its yardstick, as a share of the bound: good if at most 1. NaN counts as
// infinitely wrong unless NaN is what was wanted.
__host__ __device__ inline double share_of_bound(double got, const Expected& wanted) {
    if (wanted.bound != wanted.bound) return 0;
    if (wanted.value != wanted.value) return got != got ? 0 : INFINITY;
    if (got == wanted.value && wanted.rest == 0) return 0;
    const double share = fabs((got - wanted.value) - wanted.rest) / wanted.bound;
    return share >= 0 ? share : INFINITY;
}

// A problem of so many products that fp64 would take seconds is looked at here and there: at every 67th place, say,
// which comes by each place in a tile of a power of two.
inline int64_t step_of_check(double products) {
    constexpr double kProductsAtMost = 1e10;
    for (const int64_t step : {1, 3, 7, 13, 31, 67, 131, 257}) {  // no factor of a power of two
        if (products / static_cast<double>(step) <= kProductsAtMost) return step;
    }
    return 509;
}

// One comparison: what came, what was wanted, and what became of it.
struct Verdict {
    bool skipped = false;
    bool unchecked = false;
    bool promised = false;
    double got = 0;
    Expected wanted = {0, 0};
    double share = 0;
    double smallest_normal = 0;  // of the result's type
};

__host__ __device__ inline Verdict verdict_of(double got, const Expected& wanted,
                                              double smallest_normal) {
    Verdict verdict;
    verdict.unchecked = is_open(wanted);
    verdict.got = got;
    verdict.wanted = wanted;
    verdict.share = share_of_bound(got, wanted);
    verdict.smallest_normal = smallest_normal;
    return verdict;
}

// A Report as a kernel can keep it.
struct Tally {
    int64_t checked = 0;
    int64_t unchecked = 0;
    int64_t promised = 0;
    int64_t mismatches = 0;
    double worst_share = 0;
    double worst_relative_error = 0;
    int64_t first_index = INT64_MAX;  // of a mismatch
    double first_got = 0;
    double first_wanted = 0;
    double first_bound = 0;

    __host__ __device__ void add(const Verdict& verdict, int64_t index) {
        if (verdict.skipped) return;
        if (verdict.unchecked && verdict.share <= 1) {
            ++unchecked;
            return;
        }
        ++checked;
        promised += verdict.promised;
        if (verdict.share > worst_share) worst_share = verdict.share;
        const double magnitude = fabs(verdict.wanted.value);
        if (verdict.share < INFINITY && magnitude >= verdict.smallest_normal &&
            magnitude < INFINITY) {
            const double relative =
                fabs((verdict.got - verdict.wanted.value) - verdict.wanted.rest) / magnitude;
            if (relative > worst_relative_error) worst_relative_error = relative;
        }
        if (verdict.share <= 1) return;
        ++mismatches;
        if (index < first_index) {
            first_index = index;
            first_got = verdict.got;
            first_wanted = verdict.wanted.value;
            first_bound = verdict.wanted.bound;
        }
    }
    __host__ __device__ void add(const Tally& other) {
        checked += other.checked;
        unchecked += other.unchecked;
        promised += other.promised;
        mismatches += other.mismatches;
        if (other.worst_share > worst_share) worst_share = other.worst_share;
        if (other.worst_relative_error > worst_relative_error)
            worst_relative_error = other.worst_relative_error;
        if (other.first_index < first_index) {
            first_index = other.first_index;
            first_got = other.first_got;
            first_wanted = other.first_wanted;
            first_bound = other.first_bound;
        }
    }
};

// What the threads of a checking kernel found, as one. launch(tallies): starts it; of `count` tallies each is one
// thread's, or one block's.
template <class Launch>
Tally tally_of_kernel(size_t count, Launch launch) {
    runner::DeviceBuffer<Tally> tallies(count);
    launch(tallies.data());
    runner::check_cuda(cudaGetLastError(), "launching the checker");
    Tally total;
    for (const Tally& tally : tallies.download()) total.add(tally);
    return total;
}

// The same with words. place(index): where the first mismatch is. Where indices do not count elements of the
// operation's first result, the caller says which one it is.
template <class Place>
runner::Report report_of(const Tally& tally, Place place) {
    runner::Report report;
    report.checked = tally.checked;
    report.unchecked = tally.unchecked;
    report.promised = tally.promised;
    report.mismatches = tally.mismatches;
    report.worst_share = tally.worst_share;
    report.worst_relative_error = tally.worst_relative_error;
    if (tally.mismatches == 0) return report;
    report.first_place = place(tally.first_index);
    report.first_element = tally.first_index;
    report.first_got = tally.first_got;
    report.first_wanted = tally.first_wanted;
    report.first_bound = tally.first_bound;
    return report;
}

}  // namespace operations
