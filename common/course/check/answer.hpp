// SPDX-License-Identifier: MIT
//
// What `./stages check` says of an exercise: made of what its programs have left in a folder, as plain data.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "common/course/check/exercise.hpp"
#include "common/course/check/progress.hpp"

namespace course {

// In `folder` lie, as ./stages has put them there:
//   outcome        the first line: open (there is no file of the learner's), compile, includes, ended or graded;
//                  below it what there is to say
//   verdict.json   where it was graded, what the launcher came to (grade_main.cpp)
//   enough.json    the counts of the solution on the same inputs
// The answer:
//   exercise, title, file
//   state          open, untouched, does not compile, wrong, more than needed or right
//   findings       what is wrong, in words: a list of {cause, said, more, input, about, advice}: the named input, what it
//                  is, and what the exercise says to a mistake that shows there
//   counts         a list of {measure, words, yours, enough, lines, sentence}; sentence: where yours is more
//   seed, cases, launches, shape
// All of them are always there; seed is null and the others are empty or 0 where nothing has run.
nlohmann::json answer_of(const Exercise& exercise, const std::filesystem::path& folder);

bool is_right(const nlohmann::json& answer);

// Prints one answer in full, or a line for each of several.
struct Manner {
    bool fast = false;    // next is the first exercise of the next stage
    bool is_new = false;  // the learner has the file since this call
};
void print_answer(const Exercise& exercise, const nlohmann::json& answer, const Manner& manner);
void print_answers(const std::vector<nlohmann::json>& answers);

// The first exercise after `id`, or of all where that is empty, that is not right yet; null where there is none. fast: of
// the fast track alone.
const Exercise* next_exercise(const std::vector<Exercise>& exercises, const Progress& progress,
                              const std::string& id, bool fast);
// That in words, "Next: ./stages check 03.2", or a word at the end of the course.
std::string next_text(const std::vector<Exercise>& exercises, const Progress& progress,
                      const std::string& id, bool fast);

}  // namespace course
