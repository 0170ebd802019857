// SPDX-License-Identifier: MIT
// A picture before it is drawn: lines over an axis, or bars. Knows no records and no gnuplot.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace plot {

struct Line {
    enum class Kind {
        measured,
        roof,  // dashed: what nothing measured here can beat
        thin   // what every line stands on: the time of an empty kernel
    };
    std::string label;
    Kind kind = Kind::measured;
    int style = 0;        // which colour and point type, from 0
    bool dashed = false;  // the second folder's lines, in the first's colours
    std::map<double, double> points;
};

// One group of bars stands over one name; each bar is two numbers, one on the other.
struct Bars {
    struct Group {
        std::string label;
        std::vector<std::optional<std::pair<double, double>>> bars;  // one for each series
    };
    std::vector<std::string> series;
    std::vector<Group> groups;
    bool stacked = false;       // lower and upper part mean different things
    std::string lower, upper;   // what they mean
    std::optional<double> roof; // a dashed line across
    std::string roof_label;
};

struct Figure {
    std::string name;  // of its files, without ending
    std::string title, subtitle;
    std::vector<std::string> footer;  // small: units, GPU, commit, date
    std::string x_label, y_label;
    bool log_y = false;
    std::optional<std::pair<double, double>> y_range;  // otherwise from 0
    std::optional<std::pair<double, double>> band;     // shaded between two heights
    std::vector<Line> lines;
    std::optional<Bars> bars;  // instead of lines
};

}  // namespace plot
