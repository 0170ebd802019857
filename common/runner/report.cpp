// SPDX-License-Identifier: MIT
#include "common/runner/report.hpp"

#include <algorithm>
#include <cstdio>

namespace runner {

std::string describe(const Report& report) {
    const int64_t all = report.checked + report.unchecked;
    if (all == 0) return "nothing was compared";
    const std::string open = describe_unchecked(report.unchecked, all, report.why_unchecked);
    if (!report.judged()) return "nothing was judged: " + open;
    char text[160];
    if (report.good()) {
        std::snprintf(text, sizeof(text), "%lld elements good, worst error %.2f of its bound",
                      static_cast<long long>(report.checked), report.worst_share);
        return text + (open.empty() ? "" : "; " + open);
    }
    // A NaN has a sign, of which a result says nothing.
    const double got =
        std::isnan(report.first_got) ? std::fabs(report.first_got) : report.first_got;
    std::snprintf(text, sizeof(text), ": got %.9g, wanted %.9g +- %.2g", got, report.first_wanted,
                  report.first_bound);
    return std::to_string(report.mismatches) + " of " + std::to_string(report.checked) +
           " elements wrong; first at " + report.first_place + text +
           (report.first_writer.empty() ? "" : "; " + report.first_writer);
}

std::string describe_unchecked(int64_t unchecked, int64_t all, const std::string& why) {
    if (unchecked == 0) return "";
    char text[96];
    std::snprintf(
        text, sizeof(text), "%lld of %lld element%s (%.3g %%) %s left open",
        static_cast<long long>(unchecked), static_cast<long long>(all), all == 1 ? "" : "s",
        100. * static_cast<double>(unchecked) / static_cast<double>(all), all == 1 ? "is" : "are");
    return text + (why.empty() ? "" : ": " + why);
}

Report explained(Report report, const char* why_unchecked) {
    if (report.unchecked > 0) report.why_unchecked = why_unchecked;
    return report;
}

Report joined(const Report& first, const Report& second) {
    const bool first_is_wrong = first.mismatches > 0;
    Report both = first_is_wrong || second.mismatches == 0 ? first : second;
    both.checked = first.checked + second.checked;
    both.unchecked = first.unchecked + second.unchecked;
    both.why_unchecked = first.unchecked > 0 ? first.why_unchecked : second.why_unchecked;
    both.promised = first.promised + second.promised;
    both.mismatches = first.mismatches + second.mismatches;
    both.worst_share = std::max(first.worst_share, second.worst_share);
    both.worst_relative_error = std::max(first.worst_relative_error, second.worst_relative_error);
    return both;
}

}  // namespace runner
