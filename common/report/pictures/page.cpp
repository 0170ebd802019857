// SPDX-License-Identifier: MIT
#include "common/report/pictures/page.hpp"

#include <algorithm>
#include <sstream>

#include "common/io/text.hpp"

namespace report {
namespace {

constexpr size_t kLongestName = 40;  // of a line or a bar: the picture itself needs room, too

// The characters of UTF-8 words: all bytes but those that continue one.
size_t length_of(const std::string& words) {
    return static_cast<size_t>(
        std::count_if(words.begin(), words.end(), [](char each) { return (each & 0xc0) != 0x80; }));
}

}  // namespace

double width_of(const std::string& words) {
    return kLetter * static_cast<double>(length_of(words));
}

std::string shortened(const std::string& words) {
    return io::printable(words, kLongestName);
}

std::vector<std::string> lines_of_notes(const Figure& figure) {
    constexpr auto kFitting = static_cast<size_t>(0.96 / (kLetter * kNote));
    std::vector<std::string> lines;
    std::vector<std::string> notes = figure.notes;
    if (!figure.points_note.empty()) notes.insert(notes.begin() + 1, figure.points_note);
    for (const std::string& note : notes) {
        std::istringstream text(io::wrapped(note, kFitting, 0));
        for (std::string line; std::getline(text, line);) lines.push_back(line);
    }
    return lines;
}

double height_of_note(size_t lines_below) {
    constexpr double kLowest = 0.022, kLine = 0.032;
    return kLowest + kLine * static_cast<double>(lines_below);
}

double bottom_of(const Figure& figure) {
    constexpr double kUsual = 0.225, kAxis = 0.165;
    return std::max(kUsual, height_of_note(lines_of_notes(figure).size() - 1) + kAxis);
}

}  // namespace report
