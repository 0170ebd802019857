// SPDX-License-Identifier: MIT
// From records to the points of a line.
#pragma once
#include <optional>
#include <set>
#include <string>

#include "common/report/pictures/axes.hpp"
#include "common/report/pictures/figure.hpp"
#include "common/report/pictures/selection.hpp"

namespace report {

// At each x the fastest of the records: of one variant that is its own figure.
Points fastest(const Selection& records, const Axes& axes);

// At each x the largest (of times: the least) that `value` gives of any record.
template <class Value>
Points extreme(const Selection& records, const Axis& x, bool least, Value value) {
    Points points;
    for (const Chosen& each : records) {
        const std::optional<double> one = value(*each.record);
        if (!one) continue;
        const auto [at, fresh] = points.try_emplace(*x_of(*each.record, x), *one);
        if (!fresh && (*one < at->second) == least) at->second = *one;
    }
    return points;
}

// Of the variants the fastest in the geometric mean over what all of them did.
std::string fastest_variant(const Selection& records);

// The sweep of the paper is 63, 126, 252, ... columns. Where records hold it, lines go through its
// widths (and what lies outside of it), and the round widths between them are points beside:
// joined, two kinds of widths of which a kernel likes one better make a zigzag.
std::set<double> beside_the_sweep(const std::set<double>& all, const Axis& axis);

}  // namespace report
