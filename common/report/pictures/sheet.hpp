// SPDX-License-Identifier: MIT
// From lines that a kind of picture asks for to figures with their panels, or bars.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "common/report/pictures/figure.hpp"
#include "common/report/pictures/selection.hpp"

namespace report {

// Which records make a line. Those of several folders make one for each.
struct LineOf {
    Line like;
    std::function<bool(const Record&)> wanted;
};

// A kind of picture: its lines, the roof over them and, for times, the empty kernel below.
struct Sheet {
    Figure figure;  // without panels
    Axes axes;
    std::vector<LineOf> lines;
    bool apart = false;    // a picture for each set of sizes, not a panel
    bool by_flags = true;  // lines with and without each of the axis' flags
};

// What the roof is called: "copy", "read", where that is the same for everything it is set beside, else "roof".
std::string roof_word_of(const Selection& records, const std::string& y);

// All of the records in one panel; without lines where none has a point.
Panel panel_of(const Sheet& sheet, const Selection& records);

// Adds a figure of shapes that make no line: a group of bars for each, in which each line has a bar. None where
// there is no bar.
void draw_shapes(std::vector<Figure>& figures, Sheet sheet, const Selection& records,
                 const Choice& choice);

// Adds the figures. Two sets of sizes fit a page: those with most points, the larger first.
void draw(std::vector<Figure>& figures, Sheet sheet, const Selection& records,
          const Choice& choice);

}  // namespace report
