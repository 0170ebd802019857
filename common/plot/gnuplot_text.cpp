// SPDX-License-Identifier: MIT
#include "common/plot/gnuplot_text.hpp"

#include <cmath>
#include <cstdio>

#include "common/io/text.hpp"

namespace plot {
namespace {

constexpr size_t kLongestLabel = 400;

}  // namespace

std::string text_of(double value) {
    char text[40];
    const bool whole = std::abs(value) < 1e15 && value == std::floor(value);
    std::snprintf(text, sizeof(text), whole ? "%.0f" : "%.6g", value);
    return text;
}

std::string in_quotes(const std::string& words) {
    std::string text = "'";
    for (const char each : io::printable(words, kLongestLabel))
        text += each == '\'' ? "''" : std::string(1, each);
    return text + "'";
}

std::string at_screen(double x, double y) {
    return " at screen " + text_of(x) + "," + text_of(y) + " ";
}

std::string plot_of(const std::vector<std::string>& parts) {
    std::string command = "plot ";
    for (size_t i = 0; i < parts.size(); ++i) command += (i > 0 ? ", \\\n     " : "") + parts[i];
    return command + "\n";
}

}  // namespace plot
