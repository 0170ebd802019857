// SPDX-License-Identifier: MIT
#include "common/report/pictures/line_chart.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "common/report/pictures/gnuplot_text.hpp"
#include "common/report/pictures/ranges.hpp"
#include "common/report/pictures/style.hpp"

namespace report {
namespace {

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

// Decades, as 10 100 1k 10k; for few or close widths those themselves, where there is room.
std::string x_tics(const std::set<double>& all, size_t panels) {
    const double span = std::log10(*all.rbegin() / *all.begin());
    if (all.size() > 9 && span >= 2) return "set xtics format '%.0s%c'\n";
    const double least = (all.size() > 5 ? 0.13 * static_cast<double>(panels) : 0.13) * span;
    std::string tics = "set xtics (";
    double last = -1;
    for (const double x : all) {
        if (last > 0 && std::log10(x / last) < least) continue;
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

// Points that no line goes through are left out of it, not a gap in it.
std::string beside_of(const Panel& panel) {
    if (panel.beside.empty()) return "";
    std::string widths = " ";
    for (const double x : panel.beside) widths += text_of(x) + " ";
    return "beside = '" + widths +
           "'\nis_beside(x) = strstrt(beside, sprintf(' %.0f ', x)) > 0\n"
           "on_line(x, y) = is_beside(x) ? NaN : y\nbeside_line(x, y) = is_beside(x) ? y : NaN\n";
}

}  // namespace

Page page_of_lines(const Figure& figure) {
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
            const auto known = std::find_if(lines.begin(), lines.end(), [&](const Line& other) {
                return other.label == line.label;
            });
            if (known == lines.end()) {
                lines.push_back(line);
            } else {
                known->hidden = std::max(known->hidden, line.hidden);
            }
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

std::string axes_of_lines(const Figure& figure) {
    std::ostringstream text;
    text << y_tics(figure);
    const std::set<double> all = all_x(figure);
    text << "set logscale x\nset xrange [" << text_of(*all.begin() / 1.2) << ":"
         << text_of(*all.rbegin() * 1.2) << "]\n"
         << (figure.scale == Scale::logarithmic ? "set xtics format '%g'\n"
                                                : x_tics(all, figure.panels.size()));
    return text.str();
}

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
            add(through + " with linespoints " + line_style(line) + " ps " + point_size(line) +
                " " + point_of(line) + " notitle");
        }
        if (beside > 0) {
            add("(beside_line($1, " + y + ")) with points ps small_point " + point_of(line) +
                " lc rgb '" + color_of(line) + "' notitle");
        }
    }
    parts.insert(parts.end(), on_top.begin(), on_top.end());
    return beside_of(panel) + plot_of(parts);
}

}  // namespace report
