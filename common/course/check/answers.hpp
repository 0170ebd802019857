// SPDX-License-Identifier: MIT
//
// A learner's answers to counting questions and planted bugs, in my/answers.txt: a line each, such as "01.a 8" or
// "05.bug2 47". `--answer` and `--line` write them; a class hands the file in, and `check --json` judges it. Lines that
// make no sense, such as comments, are kept and mean nothing.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "common/course/check/progress.hpp"

namespace course {

class Answers {
public:
    explicit Answers(const std::filesystem::path& root);

    // The answer to a question or bug, by its id; empty without one.
    std::string to(const std::string& id) const;

    // Writes the file at once. FileError if my/ is not writable.
    void set(const std::string& id, const std::string& answer);

private:
    std::filesystem::path path_;
    std::vector<std::string> lines_;
};

// Notes an answer. One that was right stays noted, whatever is tried afterwards. Returns whether there is such a one.
bool note_answer(Answers& answers, Progress& progress, const std::string& id,
                 const std::string& answer, bool is_right);

}  // namespace course
