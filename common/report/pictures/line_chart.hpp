// SPDX-License-Identifier: MIT
// The parts of a script that draw panels of lines.
#pragma once
#include <string>

#include "common/report/pictures/figure.hpp"
#include "common/report/pictures/page.hpp"

namespace report {

// One panel: every line has its name at its end. Two: names common to both stand above them.
Page page_of_lines(const Figure& figure);

std::string axes_of_lines(const Figure& figure);

// `column` is that of the panel's first line, and moves on to the next panel's.
std::string plot_lines(const Panel& panel, const std::string& data, int& column);

}  // namespace report
