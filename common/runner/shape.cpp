// SPDX-License-Identifier: MIT
#include "common/runner/shape.hpp"

#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace runner {
namespace {

constexpr size_t kMostSizes = 8;
constexpr size_t kMostDigits = 12;
constexpr size_t kMostOptions = 8;

std::string number(double value) {
    char text[32];
    std::snprintf(text, sizeof(text), "%.10g", value);
    return text;
}

std::string joined(const Shape& shape, const char* cross, const char* before_option) {
    std::string text;
    for (const int64_t size : shape.sizes())
        text += (text.empty() ? "" : cross) + std::to_string(size);
    for (const auto& [name, value] : shape.options())
        text += before_option + name + "=" + number(value);
    return text;
}

// The parts of text between the separators.
std::vector<std::string> split(const std::string& text, const char* separators) {
    std::vector<std::string> parts(1);
    for (const char each : text) {
        if (std::string(separators).find(each) == std::string::npos) {
            parts.back() += each;
        } else {
            parts.emplace_back();
        }
    }
    return parts;
}

bool is_name(const std::string& text) {
    constexpr const char* kLetters = "abcdefghijklmnopqrstuvwxyz_";
    return !text.empty() && text.find_first_not_of(kLetters) == std::string::npos;
}

std::optional<double> value_of(const std::string& text) {
    constexpr const char* kInNumbers = "0123456789.-";
    if (text.empty() || text.size() > kMostDigits ||
        text.find_first_not_of(kInNumbers) != std::string::npos)
        return std::nullopt;
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    if (*end != '\0' || !std::isfinite(value)) return std::nullopt;
    return value;
}

}  // namespace

std::optional<int64_t> whole(double value) {
    constexpr double kMost = 9007199254740992;  // 2^53: beyond it a double skips whole numbers
    if (!(std::fabs(value) <= kMost) || value != std::floor(value)) return std::nullopt;
    return static_cast<int64_t>(value);
}

std::string text_of(const Shape& shape) {
    return joined(shape, " x ", " ");
}

std::string word_of(const Shape& shape) {
    return joined(shape, "x", ",");
}

std::optional<Shape> shape_from(const std::string& word) {
    const std::vector<std::string> parts = split(word, ", ");
    std::vector<int64_t> sizes;
    for (const std::string& digits : split(parts.front(), "x")) {
        const bool number = !digits.empty() && digits.size() <= kMostDigits &&
                            digits.find_first_not_of("0123456789") == std::string::npos;
        if (!number || std::stoll(digits) == 0 || sizes.size() == kMostSizes) return std::nullopt;
        sizes.push_back(std::stoll(digits));
    }
    Shape shape(sizes);
    if (parts.size() > 1 + kMostOptions) return std::nullopt;
    for (size_t i = 1; i < parts.size(); ++i) {
        const std::vector<std::string> sides = split(parts[i], "=");
        const std::optional<double> value =
            sides.size() == 1 ? std::optional(1.0) : value_of(sides[1]);
        const bool again = shape.options().count(sides[0]) > 0;
        if (sides.size() > 2 || !is_name(sides[0]) || !value || again) return std::nullopt;
        shape.set_option(sides[0], *value);
    }
    return shape;
}

}  // namespace runner
