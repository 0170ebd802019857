// SPDX-License-Identifier: MIT
// Words of others, such as names in a file: fit to be printed, and cut to a length.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace io {

// Control characters, and bytes that are no UTF-8, as \x1b: what is printed moves no cursor and rings no
// bell. Longer ones end with "..": no more than `most` characters.
std::string printable(std::string_view words, size_t most = 200);

// The lines of a text that is too long for one: broken at spaces to at most `width` characters, those
// behind the first indented by that many spaces. A word that is longer stays whole.
std::string wrapped(const std::string& text, size_t width = 80, size_t indent = 4);

// The text without the blanks, tabs and carriage returns at its ends.
std::string trimmed(const std::string& text);

// The lines of a text.
std::vector<std::string> lines_in(const std::string& text);

}  // namespace io
