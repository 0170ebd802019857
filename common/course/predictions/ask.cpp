// SPDX-License-Identifier: MIT
#include "common/course/predictions/ask.hpp"

#include <unistd.h>

#include <cstdio>
#include <iostream>

#include "common/io/standard_output.hpp"
#include "common/io/table.hpp"

namespace course {

Quiz::Quiz(std::string stage, std::vector<Prediction> predictions)
    : stage_(std::move(stage)), predictions_(std::move(predictions)) {}

void Quiz::ask() {
    const std::string many = std::to_string(predictions_.size());
    io::print_heading(stage_ + ": predict, then run", many + " questions");
    std::printf("Write down a guess for each. Enter alone passes.\n");
    for (size_t i = 0; i < predictions_.size(); ++i) {
        const std::string before = std::to_string(i + 1) + " of " + many + ": ";
        std::printf("\n%s", predictions_[i].text(before).c_str());
        std::string guess;
        do {
            if (!guess.empty())
                std::printf("%s; Enter alone passes.\n", predictions_[i].choices.empty()
                                                             ? "A number is asked for"
                                                             : "One of the choices is asked for");
            std::printf("> ");
            std::fflush(stdout);
            guess.clear();
            std::getline(std::cin, guess);
            if (isatty(STDIN_FILENO) == 0) std::printf("\n");  // nobody has typed the line's end
        } while (!predictions_[i].is_guess(guess));
        guesses_.push_back(guess);
    }
    std::printf("\n");
    std::fflush(stdout);
}

void Quiz::answer(Facts& facts) const {
    size_t right = 0, known = 0;
    io::print_heading(stage_ + ": what you predicted", "guess and fact");
    for (size_t i = 0; i < predictions_.size(); ++i) {
        const Prediction& prediction = predictions_[i];
        std::printf("%s%s", i == 0 ? "" : "\n",
                    prediction.text(std::to_string(i + 1) + ": ").c_str());
        const std::optional<Answer> answer = prediction.answer(facts);
        if (!answer) {
            std::printf("-> not known here\n");
            continue;
        }
        ++known;
        right += prediction.is_right(guesses_[i], *answer);
        io::say(stdout, "-> " + prediction.compare(guesses_[i], *answer) +
                            (answer->more.empty() ? "" : " (" + answer->more + ")") + ", " +
                            answer->source + ".");
        io::say(stdout, "   Why: " + prediction.reason(*answer), 3);
    }
    std::printf("\n%zu of %zu right.\n", right, known);
}

}  // namespace course
