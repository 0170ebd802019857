// SPDX-License-Identifier: MIT
// Colours, points and dashes.
#pragma once
#include <cstddef>
#include <set>
#include <string>

#include "common/report/pictures/figure.hpp"

namespace report {

// Okabe and Ito's colours, which colour-blind people tell apart too, with a point type for each
// (filled; one less is the same shape, empty).
struct Style {
    const char* color;
    int point;
};
inline constexpr Style kStyles[] = {
    {"#D55E00", 5},  {"#CC79A7", 9}, {"#0072B2", 7}, {"#009E73", 13}, {"#E69F00", 11},
    {"#56B4E9", 15}, {"#7F3C8D", 5}, {"#8C510A", 9}, {"#6B8E23", 13}, {"#B2182B", 15}};
inline constexpr const char* kInk = "#222222";
inline constexpr const char* kGrey = "#777777";

// As gnuplot's options of one line.
std::string line_style(const Line& line);
std::string point_of(const Line& line);
std::string color_of(const Line& line);

// As gnuplot's point size.
std::string point_size(const Line& line);
std::string color_of(const Bars::Series& series, size_t place);

bool has_points(const Line& line);

// The place of a stage in the course gives it its colour; its kernels have the ones from there on.
int style_of(const std::string& stage);

// Gives each line of a picture the style that it has in every picture or, where another line here has the same colour, the
// next one whose colour is free.
class Styles {
public:
    int take(int usual);

private:
    std::set<size_t> taken_;
};

}  // namespace report
