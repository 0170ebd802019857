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

// "k=5" and such, each name once.
std::optional<Words> words_in(const std::vector<std::string>& parts) {
    if (parts.size() > kMostOptions) return std::nullopt;
    Words words;
    for (const std::string& part : parts) {
        const std::vector<std::string> sides = split(part, "=");
        const std::optional<double> value =
            sides.size() == 1 ? std::optional(1.0) : value_of(sides[1]);
        if (sides.size() > 2 || !is_name(sides[0]) || !value ||
            !words.emplace(sides[0], *value).second)
            return std::nullopt;
    }
    return words;
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
    const std::optional<Words> words = words_in({parts.begin() + 1, parts.end()});
    if (!words) return std::nullopt;
    for (const auto& [name, value] : *words) shape.set_option(name, value);
    return shape;
}

std::optional<Words> words_from(const std::string& text) {
    return words_in(split(text, ", "));
}

std::string text_of(const Words& words) {
    std::string text;
    for (const auto& [name, value] : words)
        text += (text.empty() ? "" : ",") + name + "=" + number(value);
    return text;
}

}  // namespace runner
