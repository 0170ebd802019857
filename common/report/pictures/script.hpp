// SPDX-License-Identifier: MIT
// The gnuplot script that draws a figure from the table of its numbers. Nothing here needs gnuplot, so
// both can be written, compared and tested where there is none.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "common/report/pictures/figure.hpp"
#include "common/report/pictures/numbers.hpp"

namespace report {

// Reads NAME.csv and writes NAME.FORMAT for each format (png, svg, pdf), all in the folder that
// gnuplot is started in.
std::string script_of(const Figure& figure, const std::vector<std::string>& formats);

// One panel of lines, with its numbers and without titles, drawn with letters for a terminal of that
// many columns and lines.
std::string terminal_script_of(const Figure& figure, size_t panel, int width, int height);

}  // namespace report
