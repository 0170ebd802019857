// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// A picture that travels within a document.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "common/report/html/html.hpp"

namespace report {

// Adds an SVG file as a figure, as an image of its own: its ids and styles meet nothing of the page. `words` say what it
// shows; they are its caption as well. False, and nothing is added, where there is no such file.
bool add_picture(Html& html, const std::filesystem::path& svg, const std::string& words);

// The SVG files of a folder, in order; none where there is no such folder.
std::vector<std::filesystem::path> pictures_in(const std::filesystem::path& folder);

// RFC 4648.
std::string base64(const std::string& bytes);

}  // namespace report
