// SPDX-License-Identifier: MIT
//
// `./stages run --ask`: predict, then run. All questions of a stage before it runs, guess and fact after it.
#pragma once
#include <string>
#include <vector>

#include "common/course/predictions/prediction.hpp"

namespace course {

class Quiz {
public:
    Quiz(std::string stage, std::vector<Prediction> predictions);

    // Prints the questions and reads a line for each from standard input; at its end the rest is not guessed.
    void ask();
    // Prints each guess beside the fact, and why it is so.
    void answer(Facts& facts) const;

private:
    std::string stage_;
    std::vector<Prediction> predictions_;
    std::vector<std::string> guesses_;
};

}  // namespace course
