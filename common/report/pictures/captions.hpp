// SPDX-License-Identifier: MIT
// The words around a picture: names of stages and folders, title, where it was measured, the small print,
// and the name of its files.
#pragma once
#include <string>
#include <vector>

#include "common/report/pictures/figure.hpp"
#include "common/report/pictures/selection.hpp"

namespace report {

// "03 online" for 03_online_thing where another of the known stages is called a thing, too: a last word
// that several share tells none of them apart.
std::string short_name(const std::string& stage, const std::vector<std::string>& known);

// The short name of one of the records' stages. A line that is above others must say that it computes less.
std::string name_of_line(const Selection& records, const std::string& stage,
                         const std::vector<std::string>& known);

std::string with_spaces(std::string name);

// What may be part of a file's name anywhere, and of a command: an input may be a path.
std::string for_file_names(const std::string& words);

// "_name" for the names of files and kinds of pictures; nothing for the first operation of all.
std::string op_suffix(const std::string& op, const std::string& first);

// What tells folders apart: their GPUs, or where those are the same, their names.
std::string folder_label(const RecordFolder& folder, const std::vector<const RecordFolder*>& all);

// "measured on" these GPUs, or recorded there and not measured here.
std::string where_from(const Selection& records);

// GPU, versions, commit and date of some files, for the small print.
std::string origin_of(const std::vector<const RecordFile*>& files);

// All of a figure but its panels. No stage: it is of several.
Figure figure_of(const std::string& stage, const std::string& kind, const std::string& title,
                 const Selection& records, const Group& group, const Choice& choice,
                 const Axes& axes);

}  // namespace report
