// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
#include "common/report/html/picture.hpp"

#include <algorithm>
#include <cstdint>

#include "common/io/files.hpp"

namespace report {

std::string base64(const std::string& bytes) {
    static const char* const digits =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string text;
    for (size_t i = 0; i < bytes.size(); i += 3) {
        uint32_t three = 0;
        for (size_t k = 0; k < 3; ++k) {
            const unsigned char byte =
                i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0;
            three = three << 8 | byte;
        }
        for (size_t k = 0; k < 4; ++k)
            text += i + k > bytes.size() ? '=' : digits[three >> (18 - 6 * k) & 63];
    }
    return text;
}

std::vector<std::filesystem::path> pictures_in(const std::filesystem::path& folder) {
    std::vector<std::filesystem::path> pictures;
    if (!std::filesystem::is_directory(folder)) return pictures;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        if (entry.path().extension() == ".svg") pictures.push_back(entry.path());
    }
    std::sort(pictures.begin(), pictures.end());
    return pictures;
}

bool add_picture(Html& html, const std::filesystem::path& svg, const std::string& words) {
    const std::string text = io::text_in(svg);
    if (text.empty()) return false;
    const auto figure = html.in("figure", {{"tabindex", "0"}});
    html.empty("img", {{"src", "data:image/svg+xml;base64," + base64(text)}, {"alt", words}});
    html.element("figcaption", words);
    return true;
}

}  // namespace report
