// SPDX-License-Identifier: MIT
// The parts of a script that draw bars. Those of two parts stand, their names below them. Those of one
// part lie: their names, which may be long, are at the left, and the roof is an upright line.
#pragma once
#include <string>

#include "common/report/pictures/figure.hpp"
#include "common/report/pictures/page.hpp"

namespace report {

Page page_of_bars(const Figure& figure);

std::string axes_of_bars(const Figure& figure);

// The roof, and for standing bars what their colours mean, in a column at the right.
std::string decoration_of_bars(const Figure& figure, const Frame& frame);

std::string plot_bars(const Figure& figure, const std::string& data);

// Over standing bars, where they do not touch each other. `letters`: the size of the page's.
std::string numbers_over_bars(const Figure& figure, const Frame& frame, double letters);

}  // namespace report
