// SPDX-License-Identifier: MIT
#include "common/runner/guess.hpp"

#include <charconv>
#include <cmath>
#include <cstdio>
#include <optional>

#include "common/io/text.hpp"
#include "common/runner/quoted.hpp"

namespace runner {
namespace {

std::string without_blanks(const std::string& text) {
    const size_t first = text.find_first_not_of(" \t\r");
    if (first == std::string::npos) return "";
    return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

std::optional<double> number_in(const std::string& text) {
    double value = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    const bool whole = error == std::errc() && stop == end && std::isfinite(value);
    return whole ? std::optional(value) : std::nullopt;
}

std::string formatted(const char* format, double value) {
    char text[64];
    std::snprintf(text, sizeof(text), format, value);
    return text;
}

std::string how_far(double guess, double truth) {
    if (guess == truth) return "exactly";
    const std::string which = guess > truth ? "too much" : "too little";
    const bool ratio_means_something = guess > 0 && truth > 0;
    if (!ratio_means_something) return formatted("%.3g ", std::fabs(guess - truth)) + which;
    const double times = guess > truth ? guess / truth : truth / guess;
    if (times >= 2) return formatted("%.3g times ", times) + which;
    return formatted("%.2g %% ", 100 * std::fabs(guess - truth) / truth) + which;
}

}  // namespace

std::string guess_and_truth(const std::string& guess, double truth, const std::string& shown) {
    const std::string said = without_blanks(guess);
    if (said.empty()) return "it is " + shown;
    const std::optional<double> number = number_in(said);
    const std::string quoted = io::printable(said, kQuoted);
    if (!number) return "'" + quoted + "' is no number; it is " + shown;
    return "you said " + quoted + ", it is " + shown + ": " + how_far(*number, truth);
}

}  // namespace runner
