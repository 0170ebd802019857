// SPDX-License-Identifier: MIT
#include "common/report/pictures/ranges.hpp"

#include <algorithm>
#include <cmath>

#include "common/report/pictures/gnuplot_text.hpp"

namespace report {
namespace {

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
            if (bar) all.insert(group.begin + bar->first + bar->second);
        }
    }
    if (figure.bars->in_turn) {
        double end = 0;
        for (const Bars::Group& group : figure.bars->groups)
            end += group.bars.front() ? group.bars.front()->first : 0;
        all.insert(end);
    }
    if (figure.bars->roof) all.insert(*figure.bars->roof);
    return all;
}

// The next of 1, 2, 5, 10, 20, ...
double round_below(double value) {
    const double decade = std::pow(10, std::floor(std::log10(value)));
    for (const double step : {5, 2}) {
        if (step * decade <= value) return step * decade;
    }
    return decade;
}
double round_above(double value) {
    const double decade = std::pow(10, std::floor(std::log10(value)));
    for (const double step : {1, 2, 5}) {
        if (step * decade >= value) return step * decade;
    }
    return 10 * decade;
}

}  // namespace

std::set<double> all_x(const Figure& figure) {
    std::set<double> all;
    for (const Panel& panel : figure.panels) {
        for (const Line& line : panel.lines) {
            for (const auto& [x, y] : line.points) all.insert(x);
        }
    }
    return all;
}

std::pair<double, double> y_range(const Figure& figure, size_t panel) {
    if (panel < figure.panels.size() && figure.panels[panel].y_range)
        return *figure.panels[panel].y_range;
    const std::set<double> all = all_y(figure);
    const double most = all.empty() ? 1 : std::max(*all.rbegin(), 1e-9);
    if (figure.scale == Scale::linear) return {0, 1.08 * most};
    if (figure.bars) return {round_below(0.6 * *all.begin()), round_above(1.1 * most)};
    return {std::pow(10, std::floor(std::log10(*all.begin()))),
            std::pow(10, std::ceil(std::log10(most * 1.01)))};
}

double height_of(const Figure& figure, double y) {
    const auto [low, high] = y_range(figure);
    if (figure.scale == Scale::linear) return (y - low) / (high - low);
    return std::log(y / low) / std::log(high / low);
}

std::string y_tics(const Figure& figure) {
    if (figure.scale == Scale::linear) return "";
    if (figure.scale == Scale::logarithmic) return "set logscale y\nset format y '%g'\n";
    const auto [low, high] = y_range(figure);
    if (figure.bars && high / low <= 200) {  // decades would be too few
        return "set logscale y\nset ytics ('1 µs' 1, '2 µs' 2, '5 µs' 5, '10 µs' 10, '20 µs' 20, "
               "'50 µs' 50, '100 µs' 100, '200 µs' 200, '500 µs' 500, '1 ms' 1e3, '2 ms' 2e3, "
               "'5 ms' 5e3, '10 ms' 1e4, '20 ms' 2e4, '50 ms' 5e4, '100 ms' 1e5, '200 ms' 2e5, "
               "'500 ms' 5e5, '1 s' 1e6)\n";
    }
    return "set logscale y\nset ytics ('1 µs' 1, '10 µs' 10, '100 µs' 100, '1 ms' 1e3, "
           "'10 ms' 1e4, '100 ms' 1e5, '1 s' 1e6, '10 s' 1e7)\n";
}

std::string y_axis(const Figure& figure, size_t panel) {
    const auto [low, high] = y_range(figure, panel);
    return "set yrange [" + text_of(low) + ":" + text_of(high) + "]\n";
}

}  // namespace report
