// SPDX-License-Identifier: MIT
#include "common/report/pictures/bar_chart.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <sstream>

#include "common/report/pictures/gnuplot_text.hpp"
#include "common/report/pictures/ranges.hpp"
#include "common/report/pictures/style.hpp"

namespace report {
namespace {

constexpr const char* kPale[] = {"#EEBF99", "#EBC9DC", "#99C7E0", "#99D8C7", "#F5D999"};
constexpr const char* kBoth = "pattern 4";  // how a bar that is not divided is filled

bool lying(const Figure& figure) {
    return figure.bars && (figure.bars->waterfall ||
                           (figure.bars->upper.empty() && figure.bars->series.size() == 1));
}

// The number goes with the name: at the end of its bar the roof would run through it. A waterfall's names have theirs.
std::string name_of(const Figure& figure, const Bars::Group& group) {
    if (figure.bars->waterfall) return group.label;
    const std::string name = shortened(group.label);
    if (!lying(figure) || !group.bars.front()) return name;
    const double value = group.bars.front()->first;
    char number[40];
    std::snprintf(number, sizeof(number), value < 100 ? "%.3g" : "%.0f", value);
    return name + "  " + number;
}

// Below narrow bars a name stands in several lines, broken at its underscores and spaces: quoted, and joined.
std::string in_lines(const std::string& name, size_t letters) {
    std::string text, line;
    for (size_t begin = 0; begin <= name.size();) {
        const size_t end = std::min(name.find_first_of("_ ", begin), name.size());
        const std::string part = name.substr(begin, end - begin);
        if (!line.empty() && line.size() + 1 + part.size() > letters) {
            text += in_quotes(line) + ".\"\\n\".";
            line.clear();
        }
        line += (line.empty() ? "" : name.substr(begin - 1, 1)) + part;
        begin = end + 1;
    }
    return text + in_quotes(line);
}

// The number over a bar.
std::string over_bar(double value) {
    char text[40];
    const bool many = value >= 1e4;
    std::snprintf(text, sizeof(text),
                  value < 100 ? "%.2g"
                  : many      ? "%.0fk"
                              : "%.0f",
                  many ? value / 1e3 : value);
    return text;
}

// Too many groups for names that lie.
bool crowded(const Figure& figure) {
    constexpr size_t kMost = 10;
    return !lying(figure) && figure.bars->groups.size() > kMost;
}

// The width that a group of standing bars has.
double room_of_group(const Figure& figure) {
    const Frame frame = page_of_bars(figure).frames.front();
    return (frame.right - frame.left) / static_cast<double>(figure.bars->groups.size());
}

// Whether the names below standing bars are wider than these.
bool names_touch(const Figure& figure) {
    const double room = room_of_group(figure);
    const std::vector<Bars::Group>& groups = figure.bars->groups;
    return std::any_of(groups.begin(), groups.end(), [&](const Bars::Group& group) {
        return width_of(name_of(figure, group) + " ") > room;
    });
}

// How many letters, smaller than the usual ones, a line below a group may have.
size_t letters_below(const Figure& figure) {
    constexpr double kSmall = 0.7, kFewest = 10;
    return static_cast<size_t>(std::max(kFewest, room_of_group(figure) / (kLetter * kSmall) - 1));
}

// The share of the usual letters with which the numbers over standing bars do not touch each other; 0
// where they would be too small to read.
double letters_over_bars(const Figure& figure, const Frame& frame) {
    constexpr double kLargest = 0.9, kSmallest = 0.5;
    const Bars& bars = *figure.bars;
    size_t longest = 1;
    for (const Bars::Group& group : bars.groups) {
        for (const auto& bar : group.bars) {
            if (bar) longest = std::max(longest, over_bar(bar->first + bar->second).size());
        }
    }
    const size_t slots = bars.groups.size() * (bars.series.size() + 1);
    const double pitch = (frame.right - frame.left) / static_cast<double>(slots);
    const double fitting = pitch / (kLetter * (static_cast<double>(longest) + 0.7));
    return fitting < kSmallest ? 0 : std::min(fitting, kLargest);
}

// Where a lying chart's axis begins.
double left_end(const Bars& bars) {
    double least = 0;
    for (const Bars::Group& group : bars.groups) least = std::min(least, group.begin);
    return least * 1.05;
}

// Whether any group has a bar of this series.
bool has_bars(const Bars& bars, size_t series) {
    return std::any_of(bars.groups.begin(), bars.groups.end(), [&](const Bars::Group& group) {
        return series < group.bars.size() && group.bars[series].has_value();
    });
}

}  // namespace

Page page_of_bars(const Figure& figure) {
    double widest = 0;
    if (lying(figure)) {
        for (const Bars::Group& group : figure.bars->groups)
            widest = std::max(widest, width_of(name_of(figure, group)));
        return {{{0.03 + widest, 0.96, kTop}}, {}};
    }
    for (const Bars::Series& series : figure.bars->series)
        widest = std::max(widest, width_of(series.label));
    return {{{0.095, 0.955 - widest, kTop}}, {}};
}

std::string axes_of_bars(const Figure& figure) {
    const Bars& bars = *figure.bars;
    const bool narrow = !lying(figure) && !crowded(figure) && names_touch(figure);
    const size_t pitch = lying(figure) ? 1 : bars.series.size() + 1;
    std::string names;
    for (size_t i = 0; i < bars.groups.size(); ++i) {
        const double middle = static_cast<double>(i * pitch) + static_cast<double>(pitch - 1) / 2;
        const std::string name = name_of(figure, bars.groups[i]);
        names += (i > 0 ? ", " : "") +
                 (narrow ? in_lines(name, letters_below(figure)) : in_quotes(name)) + " " +
                 text_of(pitch == 1 ? middle : middle - 0.5);
    }
    const std::string last = text_of(static_cast<double>(bars.groups.size() * pitch));
    if (!lying(figure)) {
        return "set xrange [-1:" + last + " - 1]\nset xtics (" + names + ") noenhanced scale 0" +
               (narrow ? " font ',14'" : "") +
               (crowded(figure) ? " rotate by 28 right font ',12'" : "") +
               "\nset boxwidth 0.86\nset style fill solid noborder\n" + y_tics(figure) +
               y_axis(figure, 0);
    }
    return "set xrange [" + text_of(left_end(bars)) + ":" + text_of(y_range(figure).second * 1.05) +
           "]\nset yrange [" + last + " - 0.4:-0.6]\nset ytics (" + names +
           ") noenhanced scale 0\nset style fill solid noborder\nunset grid\n"
           "set grid xtics lc rgb '#dddddd' lw 1 lt 1\n";
}

std::string decoration_of_bars(const Figure& figure, const Frame& frame) {
    std::ostringstream text;
    const Bars& bars = *figure.bars;
    if (bars.roof) {
        const std::string at = " first " + text_of(*bars.roof) + ", graph ";
        text << "set arrow from" << at << "0 to" << at << "1 nohead front lw 2 dt (9,6) lc rgb '"
             << kInk << "'\nset label " << in_quotes(bars.roof_label) << " at" << at
             << "1.04 center tc rgb '" << kInk << "'\n";
    }
    if (lying(figure)) return text.str();
    // What the colours mean, in a column at the right.
    const double x = frame.right + 0.012;
    double y = kTop - 0.02;
    const auto entry = [&](const std::string& words, const std::string& color,
                           const std::string& fill = "solid") {
        text << "set object rectangle from screen " << text_of(x) << "," << text_of(y - 0.012)
             << " to screen " << text_of(x + 0.016) << "," << text_of(y + 0.016) << " fc rgb '"
             << color << "' fs " << fill << " noborder\n"
             << "set label " << in_quotes(words) << at_screen(x + 0.024, y)
             << "left noenhanced tc rgb '" << kInk << "'\n";
        y -= kGap;
    };
    for (size_t i = 0; i < bars.series.size(); ++i)
        entry(bars.series[i].label, color_of(bars.series[i], i),
              bars.series[i].undivided ? kBoth : "solid");
    if (bars.upper.empty()) return text.str();
    y -= 0.02;
    entry(bars.upper, "#CCCCCC");
    entry(bars.lower, kGrey);
    const bool any_undivided = std::any_of(bars.series.begin(), bars.series.end(),
                                           [](const auto& series) { return series.undivided; });
    if (any_undivided) entry(bars.both, kGrey, kBoth);
    return text.str();
}

std::string plot_bars(const Figure& figure, const std::string& data) {
    const Bars& bars = *figure.bars;
    std::vector<std::string> parts;
    if (bars.waterfall) {
        const auto part = [&](const std::string& from, const std::string& to, const char* color) {
            return data + " using (" + from + "):0:(" + from + "):(" + to +
                   "):($0 - 0.36):($0 + 0.36) with boxxyerror fc rgb '" + color + "' notitle";
        };
        const std::string begin = "column(2)", runs = begin + " + column(3)";
        return plot_of(
            {part(begin, runs, kPale[0]), part(runs, runs + " + column(4)", kStyles[0].color)});
    }
    if (lying(figure) && bars.in_turn) {
        return "begun = 0\n" +
               plot_of({data +
                        " using (begun):0:(begun):(begun = begun + column(2)):($0 - 0.36):($0 + "
                        "0.36) with boxxyerror fc rgb '" +
                        kStyles[0].color + "' notitle"});
    }
    if (lying(figure)) {
        return plot_of({data +
                        " using (0):0:(0):2:($0 - 0.36):($0 + 0.36) with boxxyerror fc rgb '" +
                        kStyles[0].color + "' notitle"});
    }
    const std::string pitch = std::to_string(bars.series.size() + 1);
    int column = 2;
    for (size_t i = 0; i < bars.series.size(); ++i) {
        const std::string at = data + " using ($0 * " + pitch + " + " + std::to_string(i) + "):";
        const std::string first = "(column(" + std::to_string(column++) + "))";
        const std::string color = "fc rgb '" + color_of(bars.series[i], i) + "' ";
        if (!has_bars(bars, i)) {  // of which gnuplot would complain
            column += bars.upper.empty() || bars.series[i].undivided ? 0 : 1;
            continue;
        }
        if (bars.upper.empty()) {
            parts.push_back(at + first + " with boxes " + color + "notitle");
            continue;
        }
        if (bars.series[i].undivided) {
            parts.push_back(at + first + " with boxes fs " + kBoth + " " + color + "notitle");
            continue;
        }
        const std::string second = "column(" + std::to_string(column++) + ")";
        const std::string pale = std::string("fc rgb '") + kPale[i % std::size(kPale)] + "' ";
        parts.push_back(at + "(" + first + " + " + second + ") with boxes " + pale + "notitle");
        parts.push_back(at + first + " with boxes " + color + "notitle");
    }
    return plot_of(parts);
}

std::string numbers_over_bars(const Figure& figure, const Frame& frame, double letters) {
    const double size = letters_over_bars(figure, frame);
    if (lying(figure) || size == 0) return "";
    std::ostringstream text;
    const Bars& bars = *figure.bars;
    for (size_t group = 0; group < bars.groups.size(); ++group) {
        for (size_t i = 0; i < bars.groups[group].bars.size(); ++i) {
            const auto& bar = bars.groups[group].bars[i];
            if (!bar) continue;
            const double whole = bar->first + bar->second;
            text << "set label '" << over_bar(whole) << "' at first "
                 << group * (bars.series.size() + 1) + i << ", first " << text_of(whole)
                 << " center offset 0,0.5 front font '," << text_of(std::floor(letters * size))
                 << "' tc rgb '" << kInk << "'\n";
        }
    }
    return text.str();
}

}  // namespace report
