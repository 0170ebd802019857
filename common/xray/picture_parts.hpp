// SPDX-License-Identifier: MIT
//
// What the pictures have in common.
#pragma once

#include "pictures.hpp"
#include "svg.hpp"

namespace xray {

constexpr double kMargin = 40;
constexpr const char* kBlue = "#9ec5e8";
constexpr const char* kBlueLine = "#4a86b8";
constexpr const char* kRed = "#f2a29a";
constexpr const char* kRedLine = "#c0392b";
constexpr const char* kGrey = "#dddddd";
constexpr const char* kQuiet = "#666666";

inline void draw_caption(Svg& svg, const Caption& caption) {
    svg.fitting_text(kMargin, 44, 28, caption.title);
    svg.fitting_text(kMargin, 74, 16, caption.where, kQuiet);
    svg.fitting_code(kMargin, 100, 18, caption.source);
}

inline std::string plural(size_t count, const std::string& word) {
    return std::to_string(count) + " " + word + (count == 1 ? "" : "s");
}

}  // namespace xray
