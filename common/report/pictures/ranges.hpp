// SPDX-License-Identifier: MIT
// What of x and y a figure spans.
#pragma once
#include <cstddef>
#include <set>
#include <string>
#include <utility>

#include "common/report/pictures/figure.hpp"

namespace report {

// Every x that any line has a point at.
std::set<double> all_x(const Figure& figure);

// The panel's own, or one for all panels that have none: from 0, or whole decades. Nothing measured
// is at the upper end: there is room for the number over a bar.
std::pair<double, double> y_range(const Figure& figure, size_t panel = 0);

// Where y stands in the range of the figure's only panel: 0 at its lower end, 1 at its upper one.
double height_of(const Figure& figure, double y);

// The commands for the y axis: decades, of times as 10 µs; the panel's range.
std::string y_tics(const Figure& figure);
std::string y_axis(const Figure& figure, size_t panel);

}  // namespace report
