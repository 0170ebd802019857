// SPDX-License-Identifier: MIT
#include "common/plot/ranges.hpp"

#include <algorithm>
#include <cmath>

#include "common/plot/gnuplot_text.hpp"

namespace plot {
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
            if (bar) all.insert(bar->first + bar->second);
        }
    }
    if (figure.bars->roof) all.insert(*figure.bars->roof);
    return all;
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
    return {std::pow(10, std::floor(std::log10(*all.begin()))),
            std::pow(10, std::ceil(std::log10(most * 1.01)))};
}

double height_of(const Figure& figure, double y) {
    const auto [low, high] = y_range(figure);
    if (figure.scale == Scale::microseconds) return std::log(y / low) / std::log(high / low);
    return (y - low) / (high - low);
}

std::string y_axis(const Figure& figure, size_t panel) {
    const auto [low, high] = y_range(figure, panel);
    return "set yrange [" + text_of(low) + ":" + text_of(high) + "]\n";
}

}  // namespace plot
