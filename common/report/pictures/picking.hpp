// SPDX-License-Identifier: MIT
// Which of the figures that records make are drawn: by name, by stage, or, where there are none, why.
#pragma once
#include <string>
#include <vector>

#include "common/report/pictures/figure.hpp"
#include "common/report/pictures/selection.hpp"

namespace report {

// Those that --only names: a kind, or one picture as its file is called, with or without the stage.
std::vector<Figure> only(const std::vector<std::string>& names, const std::vector<Figure>& figures);

// Of each stage the picture of its variants, else its first: a page or two, not twenty.
std::vector<Figure> first_of_each_stage(const std::vector<Figure>& figures);

// The kinds of pictures among these, each once.
std::vector<std::string> kinds_of(const std::vector<Figure>& figures);

// "variants, floor"
std::string in_a_row(const std::vector<std::string>& words);

// Two inputs may have the same short name; neither picture may take the other's file.
void make_names_different(std::vector<Figure>& figures);

// InputError: what was asked for, and what the folders hold.
[[noreturn]] void nothing_matches(const std::vector<RecordFolder>& folders, const Choice& choice);

}  // namespace report
