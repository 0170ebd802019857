// SPDX-License-Identifier: MIT
//
// A stage's lecture, step by step: NN_stage/demo.txt, a sheet (predictions/sheet.hpp) whose entries are the steps. An entry's
// name is the step's title, `text` says two or three sentences, and below them stands what the step shows, in this order:
//   source    lines of this file of the stage's (or of another's: 02_safe_softmax/safe_softmax.cuh), `from` the first that has these words `to` the next that has those
//             (a line alone without `to`); with `since`, a file of the stage before, lines that differ are marked
//   run       what ./stages prints for these words; `show`: from the first line with these words on, `lines` of them. What is
//             left out at the end is counted
//   times     the recorded times of these variants, `at` these shapes (dtype: float32 unless said)
//   picture   the path of a picture, by its name: the shown GPU's, or one drawn by hand or by the x-ray
//   predict   one of the stage's predictions; its answer comes with the next key
//   edit      words for `try`, by which a copy of the stage's header in my/ is compiled and checked after an edit; it
//             holds for the steps behind as well. Its launcher is that of the kernel on the screen
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/course/predictions/prediction.hpp"

namespace course {

struct SourceLine {
    int number;
    std::string text;
    bool changed;  // since the stage before
};

struct Step {
    std::string title, text;
    std::string source_name;  // "03_online_softmax/online_softmax.cuh"
    std::string since;        // the file whose lines are not marked; empty: none are
    std::vector<SourceLine> source;
    std::string run, show;
    size_t lines = 0;  // 0: as many as there is room for
    std::vector<Place> times;
    std::string picture;  // relative to the repository
    std::optional<Prediction> prediction;
    std::string edit;
};

struct Lecture {
    std::string stage;
    std::vector<Step> steps;
};

// io::FileError where the sheet is not there or is wrong: a line that is not in its source any more, a picture or a
// prediction that does not exist.
Lecture lecture_of(const std::filesystem::path& repository, const std::string& stage);

// For each line of `now`, whether a shortest edit that makes `now` of `before` adds it.
std::vector<bool> lines_added(const std::vector<std::string>& before,
                              const std::vector<std::string>& now);

}  // namespace course
