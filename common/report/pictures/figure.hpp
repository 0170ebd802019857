// SPDX-License-Identifier: MIT
// A picture before it is drawn: panels of lines, or bars. Knows no records and no gnuplot.
#pragma once
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace report {

using Points = std::map<double, double>;

struct Line {
    enum class Kind {
        measured,
        main,     // what the picture is about: thicker
        further,  // what tuning adds to a line of the same colour: thin
        before,   // the stage before: grey
        part,     // does a part of the work alone: dotted
        roof,     // dashed: what nothing measured here is expected to beat
        memory,   // thin: what memory's bandwidth allows
        floor     // thin: the time of a kernel that does nothing
    };
    std::string label;
    Kind kind = Kind::measured;
    int style = 0;   // which colour and point type
    int folder = 0;  // which of several record folders: its pattern of dashes
    int hidden =
        0;  // how many lines drawn later cover it: it is drawn wider, so that it shows on both sides
    Points points;
};

// Panels stand side by side. Those without a range of their own have a common one.
struct Panel {
    std::string heading;
    std::vector<Line> lines;
    std::set<double> beside;  // x of points that no line goes through: another kind of width
    std::optional<std::pair<double, double>> y_range;
};

// Over each group's name stands a bar for each series, made of two parts, or of one that is both. Where there are
// neither parts nor several series the bars lie, each beside its name. In a waterfall they lie as well, have two parts, and
// begin where their groups say.
struct Bars {
    struct Series {
        std::string label;
        bool undivided = false;                   // the first of a bar's two numbers is the whole
        std::optional<int> style = std::nullopt;  // as Line::style; otherwise by its place
        bool is_roof = false;                     // grey
    };
    struct Group {
        std::string label;
        std::vector<std::optional<std::pair<double, double>>> bars;  // one for each series
        double begin = 0;
    };
    std::vector<Series> series;
    std::vector<Group> groups;
    bool in_turn = false;  // lying: each begins where the one above ends
    bool waterfall = false;
    std::string lower, upper, both;  // what the parts mean; empty: there is one part
    std::optional<double> roof;
    std::string roof_label = "roof";
};

enum class Scale { linear, logarithmic, microseconds };  // from 0; decades; decades of time

struct Figure {
    std::string stage;               // empty: of several
    std::string kind;                // variants, peers, traffic, staircase, ...
    std::string name;                // of its files, without ending: letters, digits, - and _
    std::string title, origin;       // origin: where it was measured, right below the title
    std::vector<std::string> notes;  // small: what is drawn, GPU, commit, date
    std::string points_note;         // what points beside the lines are; empty: there are none
    std::string x_label, y_label;
    Scale scale = Scale::linear;
    std::optional<std::pair<double, double>> band;  // shaded, between two heights
    std::map<double, std::string> parts;  // of the x axis: where each begins, and its name
    std::vector<Panel> panels;
    std::optional<Bars> bars;  // instead of panels
};

}  // namespace report
