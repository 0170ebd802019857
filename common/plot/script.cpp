// SPDX-License-Identifier: MIT
#include "common/plot/script.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <limits>
#include <sstream>

#include "common/io/text.hpp"

namespace plot {
namespace {

// Okabe and Ito's colours, which colour-blind people tell apart too, with a point type for each
// (filled; one less is the same shape, empty).
struct Style {
    const char* color;
    int point;
};
constexpr Style kStyles[] = {{"#D55E00", 5},  {"#CC79A7", 9},  {"#0072B2", 7}, {"#009E73", 13},
                             {"#E69F00", 11}, {"#56B4E9", 15}, {"#7F3C8D", 5}, {"#8C510A", 9},
                             {"#6B8E23", 13}, {"#B2182B", 15}};
constexpr const char* kPale[] = {"#EEBF99", "#EBC9DC", "#99C7E0", "#99D8C7", "#F5D999"};
constexpr const char* kBoth = "pattern 4";  // how a bar that is not divided is filled
constexpr const char* kInk = "#222222";
constexpr const char* kGrey = "#777777";

// All of a page is placed in shares of it, so that every format looks the same.
constexpr double kTop = 0.81;       // of the plots
constexpr double kLetter = 0.0102;  // the width of an average letter
constexpr double kSample = 0.034;   // a piece of line in front of its name
constexpr double kGap = 0.052;      // between names below each other
constexpr double kNote = 0.68;      // a note's letters, in those of the rest
constexpr size_t kLongestLabel = 400;
constexpr size_t kLongestName = 40;  // of a line or a bar: the picture itself needs room, too

std::string text_of(double value) {
    char text[40];
    const bool whole = std::abs(value) < 1e15 && value == std::floor(value);
    std::snprintf(text, sizeof(text), whole ? "%.0f" : "%.6g", value);
    return text;
}

// In gnuplot's single quotes, where nothing but the quote itself has a meaning: in double ones it runs
// what stands between backticks. Labels are set noenhanced, so an underscore is an underscore.
std::string quoted(const std::string& words) {
    std::string text = "'";
    for (const char each : io::printable(words, kLongestLabel))
        text += each == '\'' ? "''" : std::string(1, each);
    return text + "'";
}

// A spreadsheet takes what begins like a formula for one.
std::string csv_cell(const std::string& words) {
    const bool like_a_formula = words.find_first_of("=+-@") == 0;
    const std::string cell = (like_a_formula ? "'" : "") + words;
    if (cell.find_first_of(",\"\n") == std::string::npos) return cell;
    std::string text = "\"";
    for (const char each : cell) text += each == '"' ? std::string("\"\"") : std::string(1, each);
    return text + "\"";
}

std::set<double> all_x(const Figure& figure) {
    std::set<double> all;
    for (const Panel& panel : figure.panels) {
        for (const Line& line : panel.lines) {
            for (const auto& [x, y] : line.points) all.insert(x);
        }
    }
    return all;
}

std::set<double> all_y(const Figure& figure) {
    std::set<double> all;
    for (const Panel& panel : figure.panels) {
        for (const Line& line : panel.lines) {
            if (panel.y_range) continue;
            for (const auto& [x, y] : line.points) all.insert(y);
        }
    }
    if (!figure.bars) return all;
    for (const Bars::Group& group : figure.bars->groups) {
        for (const auto& bar : group.bars) {
            if (bar) all.insert(bar->first + bar->second);
        }
    }
    if (figure.bars->roof) all.insert(*figure.bars->roof);
    return all;
}

// The panel's own, or one for all panels that have none: from 0, or whole decades. Nothing measured
// is at the upper end: there is room for the number over a bar.
std::pair<double, double> y_range(const Figure& figure, size_t panel = 0) {
    if (panel < figure.panels.size() && figure.panels[panel].y_range)
        return *figure.panels[panel].y_range;
    const std::set<double> all = all_y(figure);
    const double most = all.empty() ? 1 : std::max(*all.rbegin(), 1e-9);
    if (figure.scale == Scale::linear) return {0, 1.08 * most};
    return {std::pow(10, std::floor(std::log10(*all.begin()))),
            std::pow(10, std::ceil(std::log10(most * 1.01)))};
}

double height_of(const Figure& figure, double y) {
    const auto [low, high] = y_range(figure);
    if (figure.scale == Scale::microseconds) return std::log(y / low) / std::log(high / low);
    return (y - low) / (high - low);
}

// ------------------------------------------------------------------- lines and their names

bool has_points(const Line& line) {
    return line.kind != Line::Kind::roof && line.kind != Line::Kind::floor;
}

std::string color_of(const Line& line) {
    if (line.kind == Line::Kind::roof) return kInk;
    if (line.kind == Line::Kind::floor || line.kind == Line::Kind::before) return kGrey;
    return kStyles[static_cast<size_t>(line.style) % std::size(kStyles)].color;
}

std::string point_of(const Line& line) {
    if (line.kind == Line::Kind::before) return "pt 6";
    const int point = kStyles[static_cast<size_t>(line.style) % std::size(kStyles)].point;
    return "pt " + std::to_string(point - (line.folder > 0 ? 1 : 0));
}

std::string line_style(const Line& line) {
    static const char* const kDashes[] = {"", " dt (6,4)", " dt (2,3)", " dt (9,3,2,3)"};
    std::string width = "3";
    std::string dashes = kDashes[static_cast<size_t>(line.folder) % std::size(kDashes)];
    if (line.kind == Line::Kind::main) width = "5.5";
    if (line.kind == Line::Kind::floor) width = "1.2";
    if (line.kind == Line::Kind::roof) {
        width = "2";
        dashes = line.folder > 0 ? " dt (3,3)" : " dt (9,6)";
    }
    return "lw " + width + dashes + " lc rgb '" + color_of(line) + "'";
}

struct Name {
    Line line;    // its sample is drawn before the words
    double x, y;  // where the sample begins: a share of the page
};

// Moves names apart that would lie on each other, each as little as their order allows.
void spread(std::vector<Name>& names, double bottom) {
    std::stable_sort(names.begin(), names.end(),
                     [](const Name& a, const Name& b) { return a.y > b.y; });
    double ceiling = kTop;
    for (Name& name : names) {
        name.y = std::min(name.y, ceiling);
        ceiling = name.y - kGap;
    }
    double floor = bottom;
    for (auto name = names.rbegin(); name != names.rend(); ++name) {
        name->y = std::max(name->y, floor);
        floor = name->y + kGap;
    }
}

// The characters of UTF-8 words: all bytes but those that continue one.
size_t length_of(const std::string& words) {
    return static_cast<size_t>(
        std::count_if(words.begin(), words.end(), [](char each) { return (each & 0xc0) != 0x80; }));
}

double width_of(const std::string& words) {
    return kLetter * static_cast<double>(length_of(words));
}

std::string shortened(const std::string& words) {
    return io::printable(words, kLongestName);
}

std::vector<std::string> lines_of_notes(const Figure& figure) {
    constexpr auto kFitting = static_cast<size_t>(0.96 / (kLetter * kNote));
    std::vector<std::string> lines;
    std::vector<std::string> notes = figure.notes;
    if (!figure.points_note.empty()) notes.insert(notes.begin() + 1, figure.points_note);
    for (const std::string& note : notes) {
        std::istringstream text(io::wrapped(note, kFitting, 0));
        for (std::string line; std::getline(text, line);) lines.push_back(line);
    }
    return lines;
}

double height_of_note(size_t lines_below) {
    constexpr double kLowest = 0.022, kLine = 0.032;
    return kLowest + kLine * static_cast<double>(lines_below);
}

// Of the plots: above the notes, with room for the axis, its numbers and its name.
double bottom_of(const Figure& figure) {
    constexpr double kUsual = 0.225, kAxis = 0.143;
    return std::max(kUsual, height_of_note(lines_of_notes(figure).size() - 1) + kAxis);
}

struct Frame {
    double left, right, top;
};

struct Page {
    std::vector<Frame> frames;  // one for each panel
    std::vector<Name> names;
};

// One panel: every line has its name at its end. Two: names common to both stand above them.
Page page_of(const Figure& figure) {
    Page page;
    if (figure.panels.size() == 1) {
        double widest = 0;
        for (const Line& line : figure.panels.front().lines)
            widest = std::max(widest, width_of(shortened(line.label)));
        const double right = 0.975 - kSample - widest;
        const double bottom = bottom_of(figure);
        page.frames.push_back({0.095, right, kTop});
        for (const Line& line : figure.panels.front().lines) {
            const double height = height_of(figure, line.points.rbegin()->second);
            page.names.push_back({line, right + 0.008, bottom + height * (kTop - bottom)});
        }
        spread(page.names, bottom);
        return page;
    }
    std::vector<Line> lines;
    for (const Panel& panel : figure.panels) {
        for (const Line& line : panel.lines) {
            const bool known = std::any_of(lines.begin(), lines.end(), [&](const Line& other) {
                return other.label == line.label;
            });
            if (!known) lines.push_back(line);
        }
    }
    double x = 0.02;
    double y = kTop + 0.025;
    for (const Line& line : lines) {
        const double width = kSample + width_of(shortened(line.label)) + 0.022;
        if (x > 0.02 && x + width > 1) {
            x = 0.02;
            y -= kGap;
        }
        page.names.push_back({line, x, y});
        x += width;
    }
    const double top = y - 0.09;
    page.frames = {{0.1, 0.48, top}, {0.6, 0.98, top}};
    return page;
}

// ------------------------------------------------------------------- parts of a script

// Decades, as 10 100 1k 10k; for few or close widths those themselves, where there is room.
std::string x_tics(const std::set<double>& all) {
    const double span = std::log10(*all.rbegin() / *all.begin());
    if (all.size() > 6 && span >= 2) return "set xtics format '%.0s%c'\n";
    std::string tics = "set xtics (";
    double last = -1;
    for (const double x : all) {
        if (last > 0 && std::log10(x / last) < 0.13 * span) continue;
        if (last > 0) tics += ", ";
        const bool round = x >= 1000 && std::fmod(x, 1000) == 0;
        const std::string label = !round                   ? text_of(x)
                                  : std::fmod(x, 1e6) == 0 ? text_of(x / 1e6) + "M"
                                                           : text_of(x / 1e3) + "k";
        tics += "'" + label + "' " + text_of(x);
        last = x;
    }
    return tics + ")\n";
}

std::string y_axis(const Figure& figure, size_t panel) {
    const auto [low, high] = y_range(figure, panel);
    return "set yrange [" + text_of(low) + ":" + text_of(high) + "]\n";
}

// Bars of two parts stand, their names below them. Those of one part lie: their names, which may be
// long, are at the left, and the roof is an upright line.
bool lying(const Figure& figure) {
    return figure.bars && figure.bars->upper.empty();
}

// The number goes with the name: at the end of its bar the roof would run through it.
std::string name_of(const Figure& figure, const Bars::Group& group) {
    const std::string name = shortened(group.label);
    if (!lying(figure) || !group.bars.front()) return name;
    const double value = group.bars.front()->first;
    return name + "  " + text_of(value < 100 ? value : std::round(value));
}

// Below narrow bars a name stands in several lines, broken at its underscores: quoted, and joined.
std::string in_lines(const std::string& name) {
    constexpr size_t kLine = 10;
    std::string text, line;
    std::istringstream parts(name);
    for (std::string part; std::getline(parts, part, '_');) {
        if (!line.empty() && line.size() + 1 + part.size() > kLine) {
            text += quoted(line) + ".\"\\n\".";
            line.clear();
        }
        line += (line.empty() ? "" : "_") + part;
    }
    return text + quoted(line);
}

// The number over a bar.
std::string over_bar(double value) {
    char text[40];
    std::snprintf(text, sizeof(text), value < 100 ? "%.2g" : value < 1e4 ? "%.0f" : "%.0e", value);
    return text;
}

// Too many groups for names that lie.
bool crowded(const Figure& figure) {
    constexpr size_t kMost = 10;
    return !lying(figure) && figure.bars->groups.size() > kMost;
}

std::string axes_of_bars(const Figure& figure) {
    constexpr size_t kFew = 5;
    const Bars& bars = *figure.bars;
    const bool narrow = !lying(figure) && !crowded(figure) && bars.groups.size() > kFew;
    const size_t pitch = lying(figure) ? 1 : bars.series.size() + 1;
    std::string names;
    for (size_t i = 0; i < bars.groups.size(); ++i) {
        const double middle = static_cast<double>(i * pitch) + static_cast<double>(pitch - 1) / 2;
        const std::string name = name_of(figure, bars.groups[i]);
        names += (i > 0 ? ", " : "") + (narrow ? in_lines(name) : quoted(name)) + " " +
                 text_of(pitch == 1 ? middle : middle - 0.5);
    }
    const std::string last = text_of(static_cast<double>(bars.groups.size() * pitch));
    if (!lying(figure)) {
        return "set xrange [-1:" + last + " - 1]\nset xtics (" + names + ") noenhanced scale 0" +
               (narrow ? " font ',14'" : "") +
               (crowded(figure) ? " rotate by 28 right font ',12'" : "") +
               "\nset boxwidth 0.86\nset style fill solid noborder\n" + y_axis(figure, 0);
    }
    return "set xrange [0:" + text_of(y_range(figure).second * 1.05) + "]\nset yrange [" + last +
           " - 0.4:-0.6]\nset ytics (" + names +
           ") noenhanced scale 0\nset style fill solid noborder\nunset grid\n"
           "set grid xtics lc rgb '#dddddd' lw 1 lt 1\n";
}

std::string axes(const Figure& figure) {
    if (figure.bars) return axes_of_bars(figure);
    std::ostringstream text;
    if (figure.scale == Scale::microseconds) {
        text << "set logscale y\nset ytics ('1 µs' 1, '10 µs' 10, '100 µs' 100, '1 ms' 1e3, "
                "'10 ms' 1e4, '100 ms' 1e5, '1 s' 1e6, '10 s' 1e7)\n";
    }
    const std::set<double> all = all_x(figure);
    text << "set logscale x\nset xrange [" << text_of(*all.begin() / 1.2) << ":"
         << text_of(*all.rbegin() * 1.2) << "]\n"
         << x_tics(all);
    return text.str();
}

// Points that no line goes through are left out of it, not a gap in it.
std::string beside_of(const Panel& panel) {
    if (panel.beside.empty()) return "";
    std::string widths = " ";
    for (const double x : panel.beside) widths += text_of(x) + " ";
    return "beside = '" + widths +
           "'\nis_beside(x) = strstrt(beside, sprintf(' %.0f ', x)) > 0\n"
           "on_line(x, y) = is_beside(x) ? NaN : y\nbeside_line(x, y) = is_beside(x) ? y : NaN\n";
}

std::string plot_of(const std::vector<std::string>& parts) {
    std::string command = "plot ";
    for (size_t i = 0; i < parts.size(); ++i) command += (i > 0 ? ", \\\n     " : "") + parts[i];
    return command + "\n";
}

// `column` is that of the panel's first line, and moves on to the next panel's.
std::string plot_lines(const Panel& panel, const std::string& data, int& column) {
    std::vector<std::string> parts, on_top;
    for (const Line& line : panel.lines) {
        const auto add = [&](const std::string& what) {
            (line.kind == Line::Kind::main ? on_top : parts).push_back(data + " using 1:" + what);
        };
        const std::string y = "column(" + std::to_string(column++) + ")";
        const std::string through =
            panel.beside.empty() ? "(" + y + ")" : "(on_line($1, " + y + "))";
        if (!has_points(line)) {
            add(through + " with lines " + line_style(line) + " notitle");
            continue;
        }
        // gnuplot warns of what has no points.
        const auto beside =
            std::count_if(line.points.begin(), line.points.end(),
                          [&](const auto& point) { return panel.beside.count(point.first) > 0; });
        if (beside < static_cast<std::ptrdiff_t>(line.points.size())) {
            add(through + " with linespoints " + line_style(line) + " ps large_point " +
                point_of(line) + " notitle");
        }
        if (beside > 0) {
            add("(beside_line($1, " + y + ")) with points ps small_point " + point_of(line) +
                " lc rgb '" + color_of(line) + "' notitle");
        }
    }
    parts.insert(parts.end(), on_top.begin(), on_top.end());
    return beside_of(panel) + plot_of(parts);
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

std::string plot_bars(const Figure& figure, const std::string& data) {
    const Bars& bars = *figure.bars;
    std::vector<std::string> parts;
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
        const std::string color =
            std::string("fc rgb '") + kStyles[i % std::size(kStyles)].color + "' ";
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

// The page is 16:9 like a slide. Letters, lines and points have the same share of it in every format.
std::string terminal_of(const std::string& format) {
    if (format == "svg") {
        return "large_point = 0.75\nsmall_point = 0.42\n"
               "set terminal svg size 1200,675 dynamic background rgb 'white' "
               "font 'DejaVu Sans,Helvetica,Arial,sans-serif,20'\n";
    }
    if (format == "pdf") {
        return "large_point = 2\nsmall_point = 1.2\n"
               "set terminal pdfcairo size 16in,9in background rgb 'white' linewidth 2.2 "
               "font 'DejaVu Sans,20' fontscale 1\n";
    }
    return "large_point = 1.85\nsmall_point = 1.1\n"
           "set terminal pngcairo size 1600,900 background rgb 'white' linewidth 1.4 "
           "font 'DejaVu Sans,23'\n";
}

std::string at_screen(double x, double y) {
    return " at screen " + text_of(x) + "," + text_of(y) + " ";
}

double letters_of(const std::string& format) {
    return format == "png" ? 23 : 20;
}

// Title, origin, notes and names: what belongs to the page and not to one of its panels.
std::string decoration(const Figure& figure, const Page& page, const std::string& format) {
    const double letters = letters_of(format);
    const auto font = [&](double times) {
        return "font '," + text_of(std::round(letters * times)) + "' ";
    };
    std::ostringstream text;
    const auto fitting = [](const std::string& words, double most) {
        constexpr double kRoom = 0.96;
        return std::min(most, kRoom / std::max(width_of(words), 1e-3));
    };
    text << "set label " << quoted(figure.title) << at_screen(0.02, 0.95) << "left noenhanced "
         << font(fitting(figure.title, 1.3)) << "tc rgb '" << kInk << "'\n"
         << "set label " << quoted(figure.origin) << at_screen(0.02, 0.893) << "left noenhanced "
         << font(fitting(figure.origin, 1)) << "tc rgb '" << kInk << "'\n";
    text << "set label " << quoted(figure.y_label)
         << at_screen(0.02, page.frames.front().top + 0.03) << "left noenhanced tc rgb '#333333'\n";
    const std::vector<std::string> notes = lines_of_notes(figure);
    size_t lines_below = notes.size();
    for (const std::string& note : notes) {
        text << "set label " << quoted(note) << at_screen(0.02, height_of_note(--lines_below))
             << "left noenhanced " << font(kNote) << "tc rgb '" << kGrey << "'\n";
    }
    for (const auto& [line, x, y] : page.names) {
        const double end = x + kSample - 0.008;
        text << "set arrow from screen " << text_of(x) << "," << text_of(y) << " to screen "
             << text_of(end) << "," << text_of(y) << " nohead " << line_style(line) << "\n";
        if (has_points(line)) {
            text << "set label ''" << at_screen((x + end) / 2, y) << "point " << point_of(line)
                 << " ps large_point lc rgb '" << color_of(line) << "'\n";
        }
        text << "set label " << quoted(shortened(line.label)) << at_screen(x + kSample, y)
             << "left noenhanced tc rgb '" << kInk << "'\n";
    }
    if (!figure.bars) return text.str();
    const Bars& bars = *figure.bars;
    if (bars.roof) {
        const std::string at = " first " + text_of(*bars.roof) + ", graph ";
        text << "set arrow from" << at << "0 to" << at << "1 nohead front lw 2 dt (9,6) lc rgb '"
             << kInk << "'\nset label 'copy (roof)' at" << at << "1.04 center tc rgb '" << kInk
             << "'\n";
    }
    if (lying(figure)) return text.str();
    // What the colours mean, in a column at the right.
    const double x = page.frames.front().right + 0.012;
    double y = kTop - 0.02;
    const auto entry = [&](const std::string& words, const std::string& color,
                           const std::string& fill = "solid") {
        text << "set object rectangle from screen " << text_of(x) << "," << text_of(y - 0.012)
             << " to screen " << text_of(x + 0.016) << "," << text_of(y + 0.016) << " fc rgb '"
             << color << "' fs " << fill << " noborder\n"
             << "set label " << quoted(words) << at_screen(x + 0.024, y)
             << "left noenhanced tc rgb '" << kInk << "'\n";
        y -= kGap;
    };
    for (size_t i = 0; i < bars.series.size(); ++i)
        entry(bars.series[i].label, kStyles[i % std::size(kStyles)].color,
              bars.series[i].undivided ? kBoth : "solid");
    y -= 0.02;
    entry(bars.upper, "#CCCCCC");
    entry(bars.lower, kGrey);
    const bool any_undivided = std::any_of(bars.series.begin(), bars.series.end(),
                                           [](const auto& series) { return series.undivided; });
    if (any_undivided) entry(bars.both, kGrey, kBoth);
    return text.str();
}

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

}  // namespace

Numbers numbers_of(const Figure& figure) {
    Numbers numbers;
    if (figure.bars) {
        const Bars& bars = *figure.bars;
        numbers.titles = {"variant"};
        const bool two_parts = !bars.upper.empty();
        for (const Bars::Series& series : bars.series) {
            const bool divided = two_parts && !series.undivided;
            const std::string first = divided ? bars.lower : two_parts ? bars.both : "";
            numbers.titles.push_back(series.label + (first.empty() ? "" : ": " + first));
            if (divided) numbers.titles.push_back(series.label + ": " + bars.upper);
        }
        for (const Bars::Group& group : bars.groups) {
            std::vector<std::string> row = {group.label};
            for (size_t i = 0; i < group.bars.size(); ++i) {
                const auto& bar = group.bars[i];
                row.push_back(bar ? text_of(bar->first) : "");
                if (two_parts && !bars.series[i].undivided)
                    row.push_back(bar ? text_of(bar->second) : "");
            }
            numbers.rows.push_back(row);
        }
        return numbers;
    }
    numbers.titles = {figure.x_label};
    for (const Panel& panel : figure.panels) {
        const std::string before = figure.panels.size() > 1 ? panel.heading + ": " : "";
        for (const Line& line : panel.lines) numbers.titles.push_back(before + line.label);
    }
    for (const double x : all_x(figure)) {
        std::vector<std::string> row = {text_of(x)};
        for (const Panel& panel : figure.panels) {
            for (const Line& line : panel.lines) {
                const auto point = line.points.find(x);
                row.push_back(point == line.points.end() ? "" : text_of(point->second));
            }
        }
        numbers.rows.push_back(row);
    }
    return numbers;
}

std::string csv_of(const Figure& figure) {
    const Numbers numbers = numbers_of(figure);
    std::string text;
    const auto add = [&](const std::vector<std::string>& cells) {
        for (size_t i = 0; i < cells.size(); ++i) text += (i > 0 ? "," : "") + csv_cell(cells[i]);
        text += "\n";
    };
    add(numbers.titles);
    for (const std::vector<std::string>& row : numbers.rows) add(row);
    return text;
}

std::string script_of(const Figure& figure, const std::vector<std::string>& formats) {
    std::ostringstream text;
    text << "# `gnuplot " << figure.name << ".gp` in this folder draws " << figure.name << " from "
         << figure.name << ".csv. Written by `./stages plot`.\nset encoding utf8\n";
    const std::string data = "'" + figure.name + ".csv' skip 1";
    const Page page = figure.bars ? page_of_bars(figure) : page_of(figure);
    for (const std::string& format : formats) {
        text << "\nreset\n"
             << terminal_of(format) << "set output '" << figure.name << "." << format << "'\n"
             << "set datafile separator comma\nset datafile commentschars ''\n"
             << "set datafile missing NaN\nunset key\n"
                "set border 3 lc rgb '#555555' lw 1\n"
                "set tics nomirror out textcolor rgb '#333333'\nunset mxtics\nunset mytics\n"
                "set grid ytics lc rgb '#dddddd' lw 1 lt 1\n"
             << decoration(figure, page, format) << axes(figure);
        if (figure.bars) text << numbers_over_bars(figure, page.frames.front(), letters_of(format));
        text << "set xlabel " << quoted(figure.x_label) << " noenhanced offset 0,0.8\n";
        if (figure.band) {
            text << "set object rectangle from graph 0, first " << text_of(figure.band->first)
                 << " to graph 1, first " << text_of(figure.band->second)
                 << " fc rgb '#e6e6e6' fs solid noborder behind\n";
        }
        constexpr const char* kHeights[] = {"0.04", "0.1", "0.16"};  // neighbours may be close
        size_t part = 0;
        for (const auto& [begin, name] : figure.parts) {
            const std::string at = " first " + text_of(begin) + ", graph ";
            text << "set arrow from" << at << "0 to" << at << "1 nohead back lw 1 dt (3,5) lc rgb '"
                 << kGrey << "'\nset label " << quoted(" " + name) << " at" << at
                 << kHeights[part++ % std::size(kHeights)] << " left noenhanced font ',"
                 << (format == "png" ? 16 : 14) << "' tc rgb '" << kGrey << "'\n";
        }
        if (page.frames.size() > 1) text << "set multiplot\n";
        int column = 2;
        for (size_t i = 0; i < page.frames.size(); ++i) {
            const Frame& frame = page.frames[i];
            // The page's own words were drawn with the first panel.
            if (i > 0) text << "unset label\nunset arrow\n";
            if (!figure.bars) {
                text << "set label " << quoted(figure.panels[i].heading)
                     << at_screen((frame.left + frame.right) / 2, frame.top + 0.03)
                     << "center noenhanced tc rgb '" << kInk << "'\n";
            }
            text << "set lmargin at screen " << text_of(frame.left) << "\nset rmargin at screen "
                 << text_of(frame.right) << "\nset tmargin at screen " << text_of(frame.top)
                 << "\nset bmargin at screen " << text_of(bottom_of(figure)) << "\n"
                 << (figure.bars ? "" : y_axis(figure, i))
                 << (figure.bars ? plot_bars(figure, data)
                                 : plot_lines(figure.panels[i], data, column));
        }
        if (page.frames.size() > 1) text << "unset multiplot\n";
        text << "unset output\n";
    }
    text << "finished = 1\n";
    return text.str();
}

std::string terminal_script_of(const Figure& figure, size_t panel, int width, int height) {
    std::ostringstream text;
    text << "set encoding utf8\nset terminal dumb size " << width << "," << height
         << " mono noenhanced\nset datafile separator comma\nset datafile missing NaN\n"
            "$data << END\n";
    for (const std::vector<std::string>& row : numbers_of(figure).rows) {
        for (size_t i = 0; i < row.size(); ++i) text << (i > 0 ? "," : "") << row[i];
        text << "\n";
    }
    text << "END\nset key below maxcols 2\nset border 3\nset tics nomirror\n"
         << axes(figure) << "set xlabel " << quoted(figure.x_label) << "\n"
         << y_axis(figure, panel);
    size_t column = 2;  // the panel's first
    for (size_t i = 0; i < panel; ++i) column += figure.panels[i].lines.size();
    std::vector<std::string> parts;
    for (const Line& line : figure.panels[panel].lines) {
        parts.push_back("$data using 1:(column(" + std::to_string(column++) +
                        ")) with linespoints pt " + std::to_string(parts.size() + 1) + " title " +
                        quoted(io::printable(line.label, 28)));
    }
    text << plot_of(parts);
    return text.str();
}

}  // namespace plot
