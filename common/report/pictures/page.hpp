// SPDX-License-Identifier: MIT
// Where things stand on a page: all in shares of it, so that every format looks the same.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "common/report/pictures/figure.hpp"

namespace report {

inline constexpr double kTop = 0.81;       // of the plots
inline constexpr double kLetter = 0.0102;  // the width of an average letter
inline constexpr double kSample = 0.034;   // a piece of line in front of its name
inline constexpr double kGap = 0.052;      // between names below each other
inline constexpr double kNote = 0.68;      // a note's letters, in those of the rest

// The margins of one panel, or of the bars.
struct Frame {
    double left, right, top;
};

// The name of a line, where it stands beside the panels.
struct Name {
    Line line;    // its sample is drawn before the words
    double x, y;  // where the sample begins
};

struct Page {
    std::vector<Frame> frames;  // one for each panel
    std::vector<Name> names;
};

double width_of(const std::string& words);
std::string shortened(const std::string& words);  // the name of a line or a bar

// The notes, broken into lines; and how high one stands that has so many below it.
std::vector<std::string> lines_of_notes(const Figure& figure);
double height_of_note(size_t lines_below);

// Of the plots: above the notes, with room for the axis, its numbers and its name.
double bottom_of(const Figure& figure);

}  // namespace report
