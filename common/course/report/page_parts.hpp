// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// What both pages have.
#pragma once
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "common/course/report/counts.hpp"
#include "common/report/html/html.hpp"

namespace course {

// The head of a page, with links to its parts: ids and titles, in order.
using Parts = std::vector<std::pair<std::string, std::string>>;
void add_page_head(report::Html& html, const std::string& title, const std::string& below,
                   const Parts& parts);

// A row for each variant or program: what it moves, and its conflicts.
void add_overview(report::Html& html, const std::vector<Counts>& counts);

// Races and reads of what nobody has written; nothing where there are none.
void add_hazards(report::Html& html, const Counts& counts);

// The launch of each kernel, and its barriers.
void add_launches(report::Html& html, const Counts& counts);

// The words used in tables of counts, and what the counts do not see.
void add_words(report::Html& html, const std::string& id);

// The words, and a value beside each.
void add_facts(report::Html& html, const Parts& facts);

std::string style_sheet(const std::filesystem::path& repository);

}  // namespace course
