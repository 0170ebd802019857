// SPDX-License-Identifier: MIT
// Hands scripts to gnuplot, if that is here: the only file that knows gnuplot-iostream and Boost.
#pragma once
#include <string>

namespace plot {

// Why nothing can be drawn here and what helps; empty where gnuplot and gnuplot-iostream are.
std::string drawing_obstacle();

// Runs the script in that folder, to its end. Whether a picture came of it the caller must look.
void run_gnuplot(const std::string& folder, const std::string& script);

}  // namespace plot
