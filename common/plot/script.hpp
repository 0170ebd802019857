// SPDX-License-Identifier: MIT
// A figure as text: the table of its numbers, and the gnuplot script that draws them. Nothing here
// needs gnuplot, so both can be written, compared and tested where there is none.
#pragma once
#include <string>
#include <vector>

#include "common/plot/figure.hpp"

namespace plot {

// A row for each x, or for each group of bars; a cell is empty where nothing was measured.
struct Numbers {
    std::vector<std::string> titles;
    std::vector<std::vector<std::string>> rows;
};
Numbers numbers_of(const Figure& figure);

// The same as the text of a file.
std::string csv_of(const Figure& figure);

// Reads NAME.csv and writes NAME.FORMAT for each format (png, svg, pdf), all in the folder that
// gnuplot is started in.
std::string script_of(const Figure& figure, const std::vector<std::string>& formats);

// One panel of lines, with its numbers and without titles, drawn with letters for a terminal of that
// many columns and lines.
std::string terminal_script_of(const Figure& figure, size_t panel, int width, int height);

}  // namespace plot
