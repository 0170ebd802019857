// SPDX-License-Identifier: MIT
//
// Writes SVG: boxes, lines and words on a page as wide and high as a slide.
#pragma once

#include <string>

namespace xray {

enum class Anchor { left, middle, right };

class Svg {
public:
    static constexpr double kWidth = 1280, kHeight = 720;

    Svg();
    void box(double x, double y, double width, double height, const std::string& fill);
    void line(double x1, double y1, double x2, double y2, const std::string& color,
              double thickness = 1.5);
    void text(double x, double y, double size, const std::string& words,
              Anchor anchor = Anchor::left, const std::string& color = "#222222");
    void code(double x, double y, double size, const std::string& words);

    // As text() and code(), from the left margin at x to the right one: in smaller letters where that
    // is too little room, and cut short where those would be too small to read.
    void fitting_text(double x, double y, double size, const std::string& words,
                      const std::string& color = "#222222");
    void fitting_code(double x, double y, double size, const std::string& words);

    // How much room words take, at least: letters differ from one viewer's font to another.
    static double width_of(double size, const std::string& words);

    std::string finished() const { return body_ + "</svg>\n"; }

private:
    std::string body_;
};

}  // namespace xray
