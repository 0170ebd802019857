// SPDX-License-Identifier: MIT
#include "common/runner/validation.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "common/io/table.hpp"

namespace runner {
namespace {

// Of wrong elements: at several shapes, more is to be seen.
constexpr size_t kReportsShown = 3;

constexpr const char* kTheResult = "the result";

}  // namespace

void Validation::add(const std::string& where, const Report& report) {
    // Nothing judged is neither good nor wrong.
    if (!report.judged() && report.unchecked > 0) {
        ++unjudged_;
        return add_to(unjudged_cases_, report.why_unchecked, where + ": " + describe(report), 1);
    }
    ++cases;
    overflowed += report.promised > 0;
    if (report.unchecked > 0) {
        ++left_open;
        Open& open = open_[report.why_unchecked];
        open.unchecked += report.unchecked;
        open.all += report.checked + report.unchecked;
    }
    worst_share = std::max(worst_share, report.worst_share);
    if (!report.good())
        add_to(failures_, kTheResult, where + ": " + describe(report), kReportsShown);
}

void Validation::add_declared_open(const std::string& where, const Report& report,
                                   const std::string& why) {
    if (report.judged() || report.mismatches > 0) return add(where, report);
    ++declared_open_[why];
}

bool Validation::shows_more_reports() const {
    const auto shown = std::find_if(failures_.begin(), failures_.end(),
                                    [](const auto& group) { return group.first == kTheResult; });
    return shown == failures_.end() || shown->second.shown.size() < kReportsShown;
}

void Validation::add_comparison(const std::string& where, const std::string& previous,
                                const Report& report) {
    if (report.checked == 0) return;  // every row overflows in one of the two
    compared = true;
    worst_previous = std::max(worst_previous, report.worst_share);
    if (!report.good()) {
        add_to(failures_, "the comparison",
               where + ", against " + previous + ": " + describe(report), kReportsShown);
    }
}

void Validation::add_failure(const std::string& where, const std::string& what,
                             const std::string& cause, bool harmless) {
    add_to(failures_, cause, where + ": " + what, 1, harmless);
}

bool Validation::has_failure(const std::string& cause) const {
    return std::any_of(failures_.begin(), failures_.end(),
                       [&](const auto& group) { return group.first == cause; });
}

void Validation::add_not_run(const std::string& where, const std::string& why) {
    ++not_run_;
    add_to(left_out_, "not run", where + ": " + why, 1);
}

void Validation::add_to(std::vector<std::pair<std::string, Group>>& groups,
                        const std::string& cause, const std::string& text, size_t most_shown,
                        bool harmless) {
    auto known = std::find_if(groups.begin(), groups.end(),
                              [&](const auto& group) { return group.first == cause; });
    if (known == groups.end()) {
        const auto before =
            harmless ? groups.end()
                     : std::find_if(groups.begin(), groups.end(),
                                    [](const auto& group) { return group.second.harmless; });
        known = groups.insert(before, {cause, {{}, 0, harmless}});
    }
    Group& group = known->second;
    if (group.shown.size() < most_shown) {
        group.shown.push_back(text);
    } else {
        ++group.more;
    }
}

std::vector<Validation::Failure> Validation::failures() const {
    std::vector<Failure> failures;
    for (const auto& [cause, group] : failures_)
        failures.push_back({cause, group.shown, group.more});
    return failures;
}

Verdict Validation::verdict() const {
    if (!failures_.empty()) return Verdict::wrong;
    return not_run_ + unjudged_ > 0 || !uncompared_.empty() ? Verdict::incomplete : Verdict::good;
}

std::string Validation::count() const {
    if (!failures_.empty()) return "WRONG";
    return std::to_string(cases) + " of " + std::to_string(cases + not_run_ + unjudged_);
}

std::vector<std::string> Validation::remarks(const std::string& variant) const {
    std::vector<std::string> lines;
    const auto say = [&](const auto& groups, const std::string& what) {
        for (const auto& [cause, group] : groups) {
            for (const std::string& text : group.shown)
                lines.push_back(what + " " + variant + ": " + text);
            if (group.more > 0)
                lines.push_back("and " + std::to_string(group.more) + " more like it");
        }
    };
    say(failures_, "WRONG");
    say(unjudged_cases_, "NOT JUDGED");
    say(left_out_, "not run:");
    for (const auto& [why, count] : declared_open_) {
        lines.push_back(variant + " is open, as declared, in " + std::to_string(count) +
                        (count == 1 ? " case: " : " cases: ") + why);
    }
    for (const auto& [previous, count] : uncompared_) {
        lines.push_back(variant + " not compared in " + std::to_string(count) +
                        (count == 1 ? " case: " : " cases: ") + previous + " is wrong");
    }
    return lines;
}

std::string share_text(double share) {
    constexpr double kMostInFull = 1e5;
    if (!std::isfinite(share) || share < kMostInFull) return io::number(share, 2);
    char text[32];
    std::snprintf(text, sizeof(text), "%.1e", share);
    return text;
}

}  // namespace runner
