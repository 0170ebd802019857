// SPDX-License-Identifier: MIT
// The words around a picture: names of stages and folders, title, where it was measured, the small print,
// and the name of its files.
#pragma once
#include <string>
#include <vector>

#include "common/plot/figure.hpp"
#include "common/plot/selection.hpp"

namespace plot {

// "03 online" for 03_online_softmax.
std::string short_name(const std::string& stage);

// The short name of one of the records' stages. A line that is above others must say that it computes less.
std::string name_of_line(const Selection& records, const std::string& stage);

std::string with_spaces(std::string name);

// What tells folders apart: their GPUs, or where those are the same, their names.
std::string folder_label(const RecordFolder& folder, const std::vector<const RecordFolder*>& all);

// GPU, versions, commit and date of some files, for the small print.
std::string origin_of(const std::vector<const RecordFile*>& files);

// All of a figure but its panels. No stage: it is of several.
Figure figure_of(const std::string& stage, const std::string& kind, const std::string& title,
                 const Selection& records, const Group& group, const Choice& choice,
                 const std::string& y);

}  // namespace plot
