// SPDX-License-Identifier: MIT
// A figure as text: the table of its numbers, and the gnuplot script that draws them. Nothing here
// needs gnuplot, so both can be written, compared and tested where there is none.
#pragma once
#include <string>
#include <vector>

#include "common/plot/figure.hpp"

namespace plot {

// A line of titles, then a line for each x (or each group of bars); a cell is empty where nothing
// was measured.
std::string csv_of(const Figure& figure);

// Reads NAME.csv and writes NAME.FORMAT for each format (png, svg, pdf), all in the folder that
// gnuplot is started in.
std::string script_of(const Figure& figure, const std::vector<std::string>& formats);

// Brings its numbers along and draws with letters, for a terminal of that many columns and lines.
std::string terminal_script_of(const Figure& figure, int width, int height);

}  // namespace plot
