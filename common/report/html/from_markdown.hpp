// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// The Markdown of the READMEs as HTML: paragraphs, lists, tables, blocks of code, and in a line code, links and emphasis.
#pragma once
#include <functional>
#include <string>

#include "common/report/html/html.hpp"

namespace report {

// Where a link of the text leads in the document, "#03-online-softmax" for a stage's folder; else what it said.
using LinkTarget = std::function<std::string(const std::string&)>;

void add_markdown(Html& html, const std::string& text, const LinkTarget& target);

// The same of words within a line.
void add_inline_markdown(Html& html, const std::string& text, const LinkTarget& target);

}  // namespace report
