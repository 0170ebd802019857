// SPDX-License-Identifier: MIT
// What validating one variant in one type has shown so far, and how it is said.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "common/runner/report.hpp"

namespace runner {

// What a run comes to; of two the worse.
enum class Verdict { good, incomplete, wrong };

struct Validation {
    int cases = 0;       // that were judged
    int left_open = 0;   // those of them in which elements are held to no value
    int overflowed = 0;  // cases in which rows overflowed, as promised
    double worst_share = 0;
    double worst_previous = 0;
    bool compared = false;
    bool stopped = false;    // a launch failed
    bool timed_out = false;  // by going on for ever

    // Against the reference.
    void add(const std::string& where, const Report& report);
    // The same for an input on which the variant declares that it leaves all open, and why: nothing judged is what
    // was to be expected.
    void add_declared_open(const std::string& where, const Report& report, const std::string& why);
    // Whether the next report that is bad will be shown, not only counted.
    bool shows_more_reports() const;
    // Against an earlier variant.
    void add_comparison(const std::string& where, const std::string& previous,
                        const Report& report);
    // Not against it, since it is wrong itself.
    void leave_uncompared(const std::string& previous) { ++uncompared_[previous]; }
    // What went wrong otherwise. Those of one cause are shown once. harmless: no result depends on it, so all other
    // failures are shown before it.
    void add_failure(const std::string& where, const std::string& what, const std::string& cause,
                     bool harmless = false);
    bool has_failure(const std::string& cause) const;
    // Not checked, and why.
    void add_not_run(const std::string& where, const std::string& why);

    // Elements that are held to no value, by the reason for it.
    struct Open {
        int64_t unchecked = 0;
        int64_t all = 0;  // of the cases with such elements
    };
    const std::map<std::string, Open>& open() const { return open_; }

    // What went wrong: of each cause the first few cases, in words, and how many there are beyond those.
    struct Failure {
        std::string cause;
        std::vector<std::string> shown;
        int more = 0;
    };
    std::vector<Failure> failures() const;

    Verdict verdict() const;

    // "36 of 36", "WRONG", or how many of them were run.
    std::string count() const;

    // Sentences below the table, the first words of each the variant's name.
    std::vector<std::string> remarks(const std::string& variant) const;

private:
    struct Group {
        std::vector<std::string> shown;  // where and what, of the first few
        int more = 0;
        bool harmless = false;
    };
    void add_to(std::vector<std::pair<std::string, Group>>& groups, const std::string& cause,
                const std::string& text, size_t most_shown, bool harmless = false);

    int not_run_ = 0;
    int unjudged_ = 0;
    std::vector<std::pair<std::string, Group>> unjudged_cases_;  // by the reason
    std::map<std::string, Open> open_;
    std::vector<std::pair<std::string, Group>>
        failures_;  // by cause, in the order of the first, harmless ones last
    std::vector<std::pair<std::string, Group>> left_out_;  // the same of what was not run
    std::map<std::string, int> declared_open_;             // cases by the variant's reason
    std::map<std::string, int> uncompared_;                // cases by the earlier variant's name
};

// A share of a bound, in few characters however absurd: "0.17", "1.0e+300", "inf".
std::string share_text(double share);

}  // namespace runner
