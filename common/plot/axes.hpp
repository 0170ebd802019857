// SPDX-License-Identifier: MIT
// What one record is worth on a picture's axes, and how those are labelled. Along x goes a size, or "size"
// for all of them together; along y "gbps", "us", "speedup" or "tflops".
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "common/plot/records.hpp"

namespace plot {

std::optional<double> x_of(const Record& record, const std::string& axis);
std::optional<double> y_of(const Record& record, const std::string& y);

// What a copy of the same bytes reaches, on the same axis.
std::optional<double> roof_of(const Record& record, const std::string& y);

// The sizes that stay the same along a line.
using Sizes = std::map<std::string, int64_t>;
Sizes fixed_sizes(const Record& record, const std::string& axis);
std::string text_of(const Sizes& sizes);  // "4000 x 1000", "8 rows"
double product(const Sizes& sizes);

std::string y_label(const std::string& y);
std::string explained(const std::string& y);  // how it was taken, for the small print

}  // namespace plot
