// SPDX-License-Identifier: MIT
#include "common/runner/report.hpp"

#include <algorithm>
#include <cstdio>

namespace runner {

std::string describe(const Report& report) {
    if (report.checked + report.unchecked == 0) return "nothing was compared";
    char text[160];
    if (report.good()) {
        std::snprintf(text, sizeof(text), "%lld elements good, worst error %.2f of its bound",
                      static_cast<long long>(report.checked), report.worst_share);
        return text;
    }
    std::snprintf(text, sizeof(text), ": got %.9g, wanted %.9g +- %.2g", report.first_got,
                  report.first_wanted, report.first_bound);
    return std::to_string(report.mismatches) + " of " + std::to_string(report.checked) +
           " elements wrong; first at " + report.first_place + text +
           (report.first_writer.empty() ? "" : "; " + report.first_writer);
}

Report joined(const Report& first, const Report& second) {
    const bool first_is_wrong = first.mismatches > 0;
    Report both = first_is_wrong || second.mismatches == 0 ? first : second;
    both.checked = first.checked + second.checked;
    both.unchecked = first.unchecked + second.unchecked;
    both.promised = first.promised + second.promised;
    both.mismatches = first.mismatches + second.mismatches;
    both.worst_share = std::max(first.worst_share, second.worst_share);
    both.worst_relative_error = std::max(first.worst_relative_error, second.worst_relative_error);
    return both;
}

}  // namespace runner
