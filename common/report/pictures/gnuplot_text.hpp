// SPDX-License-Identifier: MIT
// Numbers, words and commands as gnuplot reads them.
#pragma once
#include <string>
#include <vector>

namespace report {

std::string text_of(double value);

// The words as a string of gnuplot's: in single quotes, where nothing but the quote itself has a meaning. Words that
// begin with one, or have two in a row, stand in double quotes; there backslashes and backticks have a meaning, and are
// written as numbers. Labels are set noenhanced, so an underscore is an underscore.
std::string in_quotes(const std::string& words);

// A place in shares of the page.
std::string at_screen(double x, double y);

// One command that draws all of the parts.
std::string plot_of(const std::vector<std::string>& parts);

}  // namespace report
