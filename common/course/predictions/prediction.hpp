// SPDX-License-Identifier: MIT
//
// Questions of a stage to be guessed before it runs: NN_stage/predictions.txt, a sheet (sheet.hpp) of entries
//   ask       the question
//   why       why the answer is what it is; without figures, which the answer has
//   at        the shape, as a word; dtype: the type, float32 unless said
// and one of
//   figure    a figure of the variant `of`, over the figure `per` of the same, or over the same of the variant `over`;
//             unit: what to call it
//   most      the variant `among` these that has most of this figure; least: that has least
//   faster    whether this variant takes less time than the variant `than`
// A variant of another stage has that before it: 02_safe_softmax/block_per_row.
//   explains  of the latter two: the answer that `why` explains
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/course/predictions/facts.hpp"
#include "common/course/predictions/sheet.hpp"

namespace course {

struct Answer {
    std::optional<double> number;  // of a figure
    std::string text;              // "32 sectors a request", "four_rows_packed", "slower"
    std::string more;              // behind it: the figures that were compared
    std::string source;            // where it is known from
};

struct Prediction {
    std::string name, ask, why, explains;
    std::vector<std::string> choices;  // none where a number is wanted

    std::optional<Answer> answer(Facts& facts) const;

    // What a guess comes to beside the answer: "you said 8, it is 32 sectors a request: 4 times too little". An empty
    // guess is none.
    std::string compare(const std::string& guess, const Answer& answer) const;
    // The choice that a guess means, by its letter, its number or its beginning; empty where it means none.
    std::string choice_of(const std::string& guess) const;
    // Whether these words make sense as a guess: none at all, a choice, or a number where there are no choices.
    bool is_guess(const std::string& words) const;
    bool is_right(const std::string& guess, const Answer& answer) const;
    // The question behind these words, and its choices: lines of at most 80 columns.
    std::string text(const std::string& before) const;
    // The reason; and that it explains another answer, where the answer is another than the course's records have.
    std::string reason(const Answer& answer) const;

    enum class Kind { figure, most, least, faster } kind = Kind::figure;
    std::string figure, per, unit;
    std::vector<Place> places;
};

// Those of a stage, in order; none where it has no such file. io::FileError names the line that is wrong.
std::vector<Prediction> predictions_of(const std::filesystem::path& repository,
                                       const std::string& stage);

}  // namespace course
