// SPDX-License-Identifier: MIT
#include "common/io/text.hpp"

#include <cstdint>
#include <cstdio>
#include <sstream>

namespace io {
namespace {

// Bytes of the UTF-8 character at the front of `words`; 0 where there is none, or one that controls a
// terminal.
size_t character_at_front(std::string_view words) {
    const auto byte = [&](size_t i) { return static_cast<unsigned char>(words[i]); };
    const unsigned char first = byte(0);
    if (first < 0x80) return first >= 0x20 && first != 0x7f ? 1 : 0;
    const size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4 || words.size() < size) return 0;
    uint32_t code = first & (0xffU >> (size + 1));
    for (size_t i = 1; i < size; ++i) {
        if ((byte(i) & 0xc0) != 0x80) return 0;
        code = code << 6 | (byte(i) & 0x3fU);
    }
    constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
    const bool surrogate = code >= 0xd800 && code <= 0xdfff;
    const bool control = code < 0xa0;
    const bool direction = (code >= 0x200e && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
    return code < kLeast[size] || code > 0x10ffff || surrogate || control || direction ? 0 : size;
}

}  // namespace

std::string printable(std::string_view words, size_t most) {
    std::string text;
    size_t characters = 0;
    while (!words.empty()) {
        const size_t size = character_at_front(words);
        const size_t width = size > 0 ? 1 : 4;
        if (characters + width > most) return text + "..";
        characters += width;
        if (size > 0) {
            text += words.substr(0, size);
            words.remove_prefix(size);
            continue;
        }
        char escaped[8];
        std::snprintf(escaped, sizeof(escaped), "\\x%02x", static_cast<unsigned char>(words[0]));
        text += escaped;
        words.remove_prefix(1);
    }
    return text;
}

std::string wrapped(const std::string& text, size_t width, size_t indent) {
    std::string lines;
    size_t begin = 0;
    size_t room = width;
    while (text.size() - begin > room) {
        size_t space = text.rfind(' ', begin + room);
        if (space == std::string::npos || space <= begin) space = text.find(' ', begin + room);
        if (space == std::string::npos) break;
        lines += text.substr(begin, space - begin) + "\n" + std::string(indent, ' ');
        begin = space + 1;
        room = width - indent;
    }
    return lines + text.substr(begin);
}

std::string trimmed(const std::string& text) {
    const size_t first = text.find_first_not_of(" \t\r");
    if (first == std::string::npos) return "";
    return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

std::vector<std::string> lines_in(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream all(text);
    for (std::string line; std::getline(all, line);) lines.push_back(line);
    return lines;
}

}  // namespace io
