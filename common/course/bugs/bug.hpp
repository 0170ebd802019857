// SPDX-License-Identifier: MIT
//
// A planted bug: a stage's header in which one line is wrong. The file is never stored: it is made of the header as it
// stands. The bug lies in the stage's folder, bugs/NN.bugK.json:
//   header           the file of the stage's
//   right, wrong     lines of the header that stand there once, without the comments that end them, and the lines that
//                    take their place. Lines that both begin or end with only say where that is; `wrong` lacks a line
//                    that is missing
//   operation        what the launcher computes, as ./stages try --as names it
//   launcher         the function that shows the bug; template arguments may follow its name
//   launch           lines that are appended to the header and define that function, where it has none that fits
//   symptom          what a user of the launcher reports, without its cause
//   hints            two, the second more direct
//   explanation      what the wrong line does
//   caught           the checks that catch it and no others: names in caught.hpp
//   input, dtype, shape, overflows   may be left out: the named input that shows the bug, where the usual one does not;
//                    the element type; where accesses are counted; whether results may overflow as stage 01's do
#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace course {

struct Bug {
    std::string id;      // "05.bug2"
    std::string stage;   // "05_smem_softmax"
    std::string header;  // "05_smem_softmax/smem_softmax.cuh"
    std::filesystem::path own;
    std::string own_name;  // "my/05.bug2.cuh"

    std::vector<std::string> right, wrong, launch;
    std::string operation, launcher, input, dtype, shape;
    bool overflows = false;
    std::string symptom, explanation;
    std::vector<std::string> hints, caught;
};

// Every bug of the repository at `root`, in order. FileError where a file makes no sense.
std::vector<Bug> all_bugs(const std::filesystem::path& root);

// What follows throws FileError where the lines of `right` do not stand exactly once in the header, as in one that a
// learner has edited.

// The header with the bug, or without it, as a file in my/: what it includes is named from there. Line numbers are the
// header's, up to the bug.
std::string text_with(const Bug& bug, const std::filesystem::path& root);
std::string text_without(const Bug& bug, const std::filesystem::path& root);

// Lines of a file, first to last, counted from 1.
struct LineRange {
    size_t first = 0, last = 0;
    bool has(size_t line) const { return first <= line && line <= last; }
};

// The lines of the file with the bug that a finder may name: those that differ from the header's. Of a missing line the
// two between which it is missing.
LineRange wrong_lines(const Bug& bug, const std::filesystem::path& root);
// The function, or the class, in which they stand.
LineRange function_of(const Bug& bug, const std::filesystem::path& root);

// The number that a word names; 0 if it names none.
size_t line_number(const std::string& word);

// The lines that differ: of the header where it is right, and those that stand there in place of them. One of them may
// be empty.
std::vector<std::string> differing_right(const Bug& bug);
std::vector<std::string> differing_wrong(const Bug& bug);

// Where the first of them stands, or is missing: "05_smem_softmax/smem_softmax.cuh:87".
std::string place_in_header(const Bug& bug, const std::filesystem::path& root);

}  // namespace course
