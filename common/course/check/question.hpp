// SPDX-License-Identifier: MIT
//
// A counting question of a stage, by letter: "01.a". Its answer is no number in a file: it is counted when somebody
// answers, from a launch of an exercise's solution. They lie in the stage's exercises/questions.json, an object for each
// letter:
//   question, why    what is asked, and what is said of a right answer
//   hints            each more direct; the last says how to measure it
//   count            {exercise, measure, shape}: what is counted of which solution, and where
//   over             another such, by which the former is divided: may be left out
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "common/course/check/measures.hpp"

namespace course {

struct Question {
    struct Count {
        std::string exercise, measure, shape;
    };
    std::string id;     // "01.a"
    std::string stage;  // "01_naive_softmax"
    std::string text, why;
    std::vector<std::string> hints;
    std::vector<Count> counts;  // one, or two: the first over the second
};

// Every question of the repository at `root`, in order. FileError where a file of them makes no sense.
std::vector<Question> all_questions(const std::filesystem::path& root);

// What the counts come to; each is in `folder`, a file 1.json or 2.json (grade_main.cpp).
double answer_to(const Question& question, const std::filesystem::path& folder);

// A number as somebody may type it: "8", "1,024", "1.25", "5/4". Throws std::invalid_argument for anything else.
double number_in(const std::string& words);

}  // namespace course
