// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// Source and counts side by side.
#pragma once
#include <filesystem>

#include "common/course/report/counts.hpp"
#include "common/report/html/html.hpp"

namespace course {

// Adds each file that was counted in, with a row a line. Of files below `whole` every line stands there, of others the
// functions that touch memory. Lines that a race is about are marked.
void add_listing(report::Html& html, const Counts& counts, const std::filesystem::path& repository,
                 const std::string& whole);

// "16,384".
std::string grouped(int64_t number);

}  // namespace course
