// SPDX-License-Identifier: MIT
//
// A step of a lecture as rows of a terminal.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "common/course/demo/lecture.hpp"

namespace course {

enum class Style { plain, strong, faint, changed, asked };

struct Row {
    std::string text;  // at most as wide as the screen
    Style style = Style::plain;
};

struct Shown {
    std::optional<std::string> output;  // of the step's command, once it has run
    bool answered = false;
};

struct Size {
    size_t rows = 24, columns = 80;
};

// The rows of a step, without the line below that says which keys there are. What a command has printed is cut to the
// rows that are left.
std::vector<Row> rows_of(const Lecture& lecture, size_t step, const Shown& shown, Facts& facts,
                         Size size);

// As it is printed, with colours where they are wanted.
std::string printed(const std::vector<Row>& rows, bool colours);

}  // namespace course
