// SPDX-License-Identifier: MIT
#include "svg.hpp"

#include <algorithm>
#include <cstdio>

#include "common/io/text.hpp"

namespace xray {
namespace {

// Width of a letter in units of its height: of a monospaced font all have that, and no sentence of a
// proportional one takes more.
constexpr double kLetter = 0.61;
constexpr double kSmallest = 11;

size_t characters_in(const std::string& words) {
    const auto begins = [](char byte) { return (static_cast<unsigned char>(byte) & 0xc0) != 0x80; };
    return static_cast<size_t>(std::count_if(words.begin(), words.end(), begins));
}

struct Fitting {
    double size;
    std::string words;
};

Fitting fitted(double x, double size, const std::string& words) {
    const double room = Svg::kWidth - 2 * x;
    const double needed = room / kLetter / std::max<double>(1, characters_in(words));
    if (needed >= kSmallest) return {std::min(size, needed), words};
    constexpr size_t kDots = 2;
    return {kSmallest,
            io::printable(words, static_cast<size_t>(room / kLetter / kSmallest) - kDots)};
}

constexpr const char* kProportional = "DejaVu Sans, Verdana, sans-serif";
constexpr const char* kMonospaced = "DejaVu Sans Mono, Menlo, monospace";

std::string number(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.5g", value);
    return text;
}

std::string attribute(const char* name, const std::string& value) {
    return std::string(" ") + name + "=\"" + value + "\"";
}

std::string escaped(const std::string& words) {
    std::string text;
    for (const char letter : words) {
        switch (letter) {
            case '&':
                text += "&amp;";
                break;
            case '<':
                text += "&lt;";
                break;
            case '>':
                text += "&gt;";
                break;
            default:
                text += letter;
        }
    }
    return text;
}

std::string words_at(double x, double y, double size, const std::string& words,
                     const std::string& rest) {
    return "<text" + attribute("x", number(x)) + attribute("y", number(y)) +
           attribute("font-size", number(size)) + rest + ">" + escaped(words) + "</text>\n";
}

}  // namespace

Svg::Svg() {
    body_ = "<svg xmlns=\"http://www.w3.org/2000/svg\"" + attribute("width", number(kWidth)) +
            attribute("height", number(kHeight)) +
            attribute("viewBox", "0 0 " + number(kWidth) + " " + number(kHeight)) + ">\n";
    box(0, 0, kWidth, kHeight, "#ffffff");
}

void Svg::box(double x, double y, double width, double height, const std::string& fill) {
    body_ += "<rect" + attribute("x", number(x)) + attribute("y", number(y)) +
             attribute("width", number(width)) + attribute("height", number(height)) +
             attribute("fill", fill) + "/>\n";
}

void Svg::line(double x1, double y1, double x2, double y2, const std::string& color,
               double thickness) {
    body_ += "<line" + attribute("x1", number(x1)) + attribute("y1", number(y1)) +
             attribute("x2", number(x2)) + attribute("y2", number(y2)) +
             attribute("stroke", color) + attribute("stroke-width", number(thickness)) + "/>\n";
}

void Svg::text(double x, double y, double size, const std::string& words, Anchor anchor,
               const std::string& color) {
    const char* const anchors[] = {"start", "middle", "end"};
    body_ += words_at(x, y, size, words,
                      attribute("font-family", kProportional) +
                          attribute("text-anchor", anchors[static_cast<int>(anchor)]) +
                          attribute("fill", color));
}

void Svg::code(double x, double y, double size, const std::string& words) {
    body_ += words_at(x, y, size, words, attribute("font-family", kMonospaced));
}

void Svg::fitting_text(double x, double y, double size, const std::string& words,
                       const std::string& color) {
    const Fitting fitting = fitted(x, size, words);
    text(x, y, fitting.size, fitting.words, Anchor::left, color);
}

void Svg::fitting_code(double x, double y, double size, const std::string& words) {
    const Fitting fitting = fitted(x, size, words);
    code(x, y, fitting.size, fitting.words);
}

double Svg::width_of(double size, const std::string& words) {
    return kLetter * size * static_cast<double>(characters_in(words));
}

}  // namespace xray
