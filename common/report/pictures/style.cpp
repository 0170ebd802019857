// SPDX-License-Identifier: MIT
#include "common/report/pictures/style.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <iterator>

#include "common/report/pictures/gnuplot_text.hpp"

namespace report {

bool has_points(const Line& line) {
    return line.kind != Line::Kind::roof && line.kind != Line::Kind::floor &&
           line.kind != Line::Kind::memory && line.kind != Line::Kind::further;
}

std::string color_of(const Line& line) {
    if (line.kind == Line::Kind::roof) return kInk;
    if (line.kind == Line::Kind::floor || line.kind == Line::Kind::before ||
        line.kind == Line::Kind::memory)
        return kGrey;
    return kStyles[static_cast<size_t>(line.style) % std::size(kStyles)].color;
}

std::string point_of(const Line& line) {
    if (line.kind == Line::Kind::before) return "pt 6";
    const int point = kStyles[static_cast<size_t>(line.style) % std::size(kStyles)].point;
    return "pt " + std::to_string(point - (line.folder > 0 ? 1 : 0));
}

std::string line_style(const Line& line) {
    constexpr double kWider = 4;
    static const char* const kDashes[] = {"", " dt (6,4)", " dt (2,3)", " dt (9,3,2,3)"};
    std::string width = "3";
    std::string dashes = kDashes[static_cast<size_t>(line.folder) % std::size(kDashes)];
    if (line.kind == Line::Kind::main) width = "5.5";
    if (line.kind == Line::Kind::floor || line.kind == Line::Kind::further) width = "1.2";
    if (line.kind == Line::Kind::memory) width = "2";
    if (line.kind == Line::Kind::part) {
        width = "2";
        dashes = line.folder > 0 ? " dt (1,4)" : " dt (1,2)";
    }
    if (line.kind == Line::Kind::roof) {
        width = "2";
        dashes = line.folder > 0 ? " dt (3,3)" : " dt (9,6)";
    }
    if (line.hidden > 0) width = text_of(std::stod(width) + kWider * line.hidden);
    return "lw " + width + dashes + " lc rgb '" + color_of(line) + "'";
}

std::string point_size(const Line& line) {
    constexpr double kLarger = 0.4;
    return line.hidden == 0 ? "large_point" : "large_point*" + text_of(1 + kLarger * line.hidden);
}

std::string color_of(const Bars::Series& series, size_t place) {
    if (series.is_roof) return kGrey;
    const size_t style = series.style ? static_cast<size_t>(*series.style) : place;
    return kStyles[style % std::size(kStyles)].color;
}

int style_of(const std::string& stage) {
    return std::max(0, std::atoi(stage.c_str()) - 1);
}

int Styles::take(int usual) {
    constexpr size_t kAll = std::size(kStyles);
    const auto first = static_cast<size_t>(usual);
    for (size_t next = first; next < first + kAll; ++next) {
        if (taken_.insert(next % kAll).second) return static_cast<int>(next);
    }
    return usual;
}

}  // namespace report
