// SPDX-License-Identifier: MIT
// What is asked for, and the records that are chosen for it: by file, stage, role, operation, type and input.
#pragma once
#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "common/report/pictures/axes.hpp"
#include "common/report/records.hpp"

namespace report {

struct Choice {
    std::vector<std::string> stages;  // as in the records
    std::string dtype, op;            // empty: whatever is there; the operation a stage is about
    std::string x;                    // a size, or "size"; empty: the size that varies
    std::string y;                   // gbps, us, speedup, tflops; empty: what the records are about
    std::string title;               // instead of the usual one
    std::vector<std::string> known;  // every stage there is, drawn or not, for the short names
    std::map<std::string, int> styles =
        {};  // of each kernel and library by name, the same in every picture
};

// A record, and where it is from. All of a selection must be outlived by the folders.
struct Chosen {
    const RecordFolder* folder;
    const RecordFile* file;
    const Record* record;
};
using Selection = std::vector<Chosen>;

// Figures of the peers' harness and of the runner were not taken side by side: never both. And in
// a grid of widths the rows vary with the columns.
enum class Source { run, peers, widths };
Selection timed_records(const std::vector<RecordFolder>& folders, Source source);

Selection filtered(const Selection& all, const std::function<bool(const Record&)>& wanted);
Selection of_stage(const Selection& all, const std::string& stage);
Selection of_role(const Selection& all, const std::string& role);
Selection of_lesson(const Selection& all);  // those that do not go beyond it

// What is the same all over a picture, and in it all over a panel.
using Group = std::tuple<std::string, std::string, std::string>;  // op, dtype, input
std::map<Group, Selection> groups_of(const Selection& records, const Choice& choice);

// The operations of the records, in their order, that are about operations and not bytes.
std::vector<std::string> computing_ops(const Selection& records);

// The operation that a stage is about is that of its first record.
Choice with_op_of(const Selection& stage, Choice choice);

// Returns the axes of a picture of the records. Where the user chose none, x is a size along which the records are
// shown: the one with the longest line; among equally long ones the columns, else the first. And y is what the records
// are about: a stage that is about something other than bytes has a unit of its own, and records it.
Axes axes_for(const Selection& records, const Choice& choice);

// How many points the longest line along x has: its records differ in nothing but their place there.
size_t longest_line(const Axis& x, const Selection& records);

// The records that have a neighbour along x.
Selection on_lines(const Axis& x, const Selection& records);

// The records without any of the flags, under no name, and those with each; all of them in one where there are no flags.
std::vector<std::pair<std::string, Selection>> by_flag(const Selection& records,
                                                       const std::vector<std::string>& flags);

// Other sizes along which there are lines of six points or more, too, and the records on these: the length of a
// list, say.
std::vector<std::pair<Axis, Selection>> other_lines(const Selection& records, const Axis& x);

// Those that have a place along x.
Selection along(const Axis& x, const Selection& records);

std::vector<const RecordFolder*> folders_of(const Selection& records);

std::string stage_key(const Record& record);
std::string variant_key(const Record& record);
std::string family_key(
    const Record& record);  // "cudnn" for cudnn/fast: one line is enough of a library

// The keys of the records, each once, in their order, which is that of the lesson.
template <class Key>
std::vector<std::string> distinct(const Selection& selection, Key key) {
    std::vector<std::string> all;
    for (const Chosen& each : selection) records::add_once(all, key(*each.record));
    return all;
}

}  // namespace report
