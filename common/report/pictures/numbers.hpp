// SPDX-License-Identifier: MIT
// The numbers of a figure as a table.
#pragma once
#include <string>
#include <vector>

#include "common/report/pictures/figure.hpp"

namespace report {

// A row for each x, or for each group of bars; a cell is empty where nothing was measured.
struct Numbers {
    std::vector<std::string> titles;
    std::vector<std::vector<std::string>> rows;
};
Numbers numbers_of(const Figure& figure);

// The same as the text of a file.
std::string csv_of(const Figure& figure);

}  // namespace report
