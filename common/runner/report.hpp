// SPDX-License-Identifier: MIT
// What holding a result against what is wanted has shown.
#pragma once
#include <cmath>
#include <cstdint>
#include <string>

namespace runner {

struct Report {
    int64_t checked = 0;    // elements held to a value
    int64_t unchecked = 0;  // elements that are held to none, and why: "a sum may overflow"
    std::string why_unchecked;
    int64_t promised =
        0;  // elements that came out NaN or 0 because the arithmetic overflowed, as the
            // variant says of itself
    int64_t mismatches = 0;
    double worst_share = 0;           // largest error as a share of its bound
    double worst_relative_error = 0;  // largest |got - wanted| / |wanted| over normal results
    std::string first_place;          // of the first mismatch: "row 3, col 7"
    std::string first_output;    // the operand that it is in; empty: the operation's first result
    int64_t first_element = -1;  // which one of it, rows close together; -1: unknown
    std::string first_writer;    // who wrote it, in words; empty: unknown
    double first_got = 0;
    double first_wanted = 0;
    double first_bound = 0;

    bool judged() const { return checked > 0; }
    bool good() const { return mismatches == 0 && judged(); }

    // One element more, that may be off by `bound`. NaN is wrong unless NaN is what was wanted. place: a
    // function that says where it is, asked only of the first that is wrong.
    template <class Place>
    void add(double got, double wanted, double bound, Place place) {
        ++checked;
        const bool same = got == wanted || (got != got && wanted != wanted);
        double share = same ? 0 : std::fabs(got - wanted) / bound;
        if (!(share >= 0)) share = INFINITY;
        if (share > worst_share) worst_share = share;
        const double relative = std::fabs(got - wanted) / std::fabs(wanted);
        if (std::isfinite(relative) && relative > worst_relative_error)
            worst_relative_error = relative;
        if (share <= 1) return;
        if (mismatches++ > 0) return;
        first_place = place();
        first_got = got;
        first_wanted = wanted;
        first_bound = bound;
    }
};

// "12 of 4000 elements wrong; first at row 3, col 7: got nan, wanted 0.25 +- 1e-08".
std::string describe(const Report& report);

// "12 of 4000 elements (0.3 %) are left open: a sum may overflow". Empty where none is.
std::string describe_unchecked(int64_t unchecked, int64_t all, const std::string& why);

// Of two outputs of one launch.
Report joined(const Report& first, const Report& second);

// The report, with the reason why its operation leaves elements open.
Report explained(Report report, const char* why_unchecked);

}  // namespace runner
