// SPDX-License-Identifier: MIT
#include "common/report/pictures/gnuplot_text.hpp"

#include <cmath>
#include <cstdio>

#include "common/io/text.hpp"

namespace report {
namespace {

constexpr size_t kLongestLabel = 400;

std::string in_octal(char letter) {
    char text[8];
    std::snprintf(text, sizeof(text), "\\%03o", static_cast<unsigned char>(letter));
    return text;
}

}  // namespace

std::string text_of(double value) {
    char text[40];
    const bool whole = std::abs(value) < 1e15 && value == std::floor(value);
    std::snprintf(text, sizeof(text), whole ? "%.0f" : "%.6g", value);
    return text;
}

std::string in_quotes(const std::string& words) {
    const std::string shown = io::printable(words, kLongestLabel);
    std::string text;
    // gnuplot loses count of more than two quotes in a row, the first one included.
    if (!shown.empty() && (shown.front() == '\'' || shown.find("''") != std::string::npos)) {
        for (const char each : shown)
            text +=
                each == '\\' || each == '"' || each == '`' ? in_octal(each) : std::string(1, each);
        return '"' + text + '"';
    }
    for (const char each : shown) text += each == '\'' ? "''" : std::string(1, each);
    return "'" + text + "'";
}

std::string at_screen(double x, double y) {
    return " at screen " + text_of(x) + "," + text_of(y) + " ";
}

std::string plot_of(const std::vector<std::string>& parts) {
    std::string command = "plot ";
    for (size_t i = 0; i < parts.size(); ++i) command += (i > 0 ? ", \\\n     " : "") + parts[i];
    return command + "\n";
}

}  // namespace report
