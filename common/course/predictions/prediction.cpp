// SPDX-License-Identifier: MIT
#include "common/course/predictions/prediction.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "common/io/files.hpp"
#include "common/io/table.hpp"
#include "common/io/text.hpp"

namespace course {
namespace {

// Times that differ by less are alike.
constexpr double kAlike = 0.03;
// A number is right within so much.
constexpr double kNear = 0.1;

const std::vector<std::string>& keys() {
    static const std::vector<std::string> all = {"ask",   "why",   "at",     "dtype", "figure",
                                                 "of",    "per",   "over",   "unit",  "most",
                                                 "least", "among", "faster", "than",  "explains"};
    return all;
}

std::optional<double> number_in(const std::string& words) {
    std::string text = words;
    text.erase(std::remove(text.begin(), text.end(), ','), text.end());
    double value = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    const bool whole = error == std::errc() && stop == end && std::isfinite(value);
    return whole ? std::optional(value) : std::nullopt;
}

// "32", "24,576", "1.33".
std::string shown(double value) {
    if (std::fabs(value - std::round(value)) > 0.004 && std::fabs(value) < 1000)
        return io::number(value, std::fabs(value) < 10 ? 2 : 1);
    std::string digits = io::number(value, 0);
    for (int at = static_cast<int>(digits.size()) - 3; at > (digits[0] == '-' ? 1 : 0); at -= 3)
        digits.insert(static_cast<size_t>(at), ",");
    return digits;
}

// Behind a figure of records.
std::string unit_of(const std::string& figure) {
    if (figure == "us_median") return " us";
    if (figure == "gbps") return " GB/s";
    if (figure == "tflops") return " TFLOP/s";
    return figure == "occupancy_percent" ? " %" : "";
}

std::string how_far(double guess, double truth) {
    if (guess == truth) return "exactly";
    const std::string which = guess > truth ? "too much" : "too little";
    const bool ratio_means_something = guess > 0 && truth > 0;
    if (!ratio_means_something) return shown(std::fabs(guess - truth)) + " " + which;
    const double times = guess > truth ? guess / truth : truth / guess;
    if (times >= 2) return shown(times) + " times " + which;
    char text[32];
    std::snprintf(text, sizeof text, "%.2g %% ", 100 * std::fabs(guess - truth) / truth);
    return text + which;
}

Prediction prediction_from(const Entry& entry, const std::string& stage) {
    Prediction prediction;
    prediction.name = entry.name;
    prediction.ask = entry.required("ask");
    prediction.why = entry.required("why");
    prediction.unit = entry.text("unit");
    const auto place = [&](const std::string& variant) {
        const size_t slash = variant.find('/');
        const bool elsewhere = slash != std::string::npos && slash > 3 && variant[2] == '_' &&
                               std::isdigit(static_cast<unsigned char>(variant[0])) != 0;
        prediction.places.push_back({elsewhere ? variant.substr(0, slash) : stage,
                                     elsewhere ? variant.substr(slash + 1) : variant,
                                     entry.required("at"),
                                     entry.has("dtype") ? entry.text("dtype") : "float32"});
    };
    const auto kinds = entry.has("figure") + entry.has("most") + entry.has("least") +
                       static_cast<int>(entry.has("faster"));
    if (kinds != 1) entry.refuse("needs one of figure, most, least and faster");
    if (entry.has("figure")) {
        prediction.figure = entry.text("figure");
        prediction.per = entry.text("per");
        place(entry.required("of"));
        if (entry.has("over")) place(entry.text("over"));
        return prediction;
    }
    prediction.explains = entry.required("explains");
    if (entry.has("faster")) {
        prediction.kind = Prediction::Kind::faster;
        prediction.figure = "us_median";
        place(entry.text("faster"));
        place(entry.required("than"));
        prediction.choices = {"faster", "slower", "alike"};
    } else {
        prediction.kind = entry.has("most") ? Prediction::Kind::most : Prediction::Kind::least;
        prediction.figure = entry.text(entry.has("most") ? "most" : "least");
        prediction.choices = entry.names("among");
        if (prediction.choices.size() < 2) entry.refuse("needs variants: 'among: one, other'");
        for (const std::string& each : prediction.choices) place(each);
    }
    if (std::find(prediction.choices.begin(), prediction.choices.end(), prediction.explains) ==
        prediction.choices.end())
        entry.refuse("explains '" + prediction.explains + "', which is none of its choices");
    return prediction;
}

}  // namespace

std::optional<Answer> Prediction::answer(Facts& facts) const {
    const std::optional<Known> known = facts.find(figure, places);
    if (!known) return std::nullopt;
    Answer answer;
    answer.source = known->source;
    const std::vector<double>& values = known->values;
    if (kind == Kind::figure) {
        double over = values.back();
        if (!per.empty()) {
            const std::optional<Known> other = facts.find(per, places);
            if (!other) return std::nullopt;
            over = other->values.front();
        }
        const bool is_ratio = !per.empty() || places.size() > 1;
        if (is_ratio && over == 0) return std::nullopt;
        answer.number = is_ratio ? values.front() / over : values.front();
        answer.text = shown(*answer.number) + (unit.empty() ? "" : " " + unit);
        return answer;
    }
    if (kind == Kind::faster) {
        const double ratio = values[0] / values[1];
        answer.text = ratio < 1 - kAlike ? "faster" : ratio > 1 + kAlike ? "slower" : "alike";
        const auto name = [&](const Place& place) {
            return places[0].stage == places[1].stage ? place.variant : place.stage.substr(0, 2);
        };
        answer.more = name(places[0]) + ": " + shown(values[0]) + " us, " + name(places[1]) + ": " +
                      shown(values[1]) + " us";
        return answer;
    }
    const auto best = kind == Kind::most ? std::max_element(values.begin(), values.end())
                                         : std::min_element(values.begin(), values.end());
    answer.text = choices[static_cast<size_t>(best - values.begin())];
    for (size_t i = 0; i < choices.size(); ++i)
        answer.more += (i == 0 ? "" : ", ") + choices[i] + " " + shown(values[i]) + unit_of(figure);
    return answer;
}

std::string Prediction::choice_of(const std::string& guess) const {
    const std::string said = io::trimmed(guess);
    if (said.empty()) return "";
    if (said.size() == 1) {
        const int letter = std::tolower(static_cast<unsigned char>(said[0])) - 'a',
                  number = said[0] - '1';
        const int index = letter >= 0 ? letter : number;
        if (index >= 0 && index < static_cast<int>(choices.size()))
            return choices[static_cast<size_t>(index)];
        return "";
    }
    for (const bool exactly : {true, false}) {
        for (const std::string& each : choices) {
            if (exactly ? each == said : each.compare(0, said.size(), said) == 0) return each;
        }
    }
    return "";
}

bool Prediction::is_guess(const std::string& words) const {
    if (io::trimmed(words).empty()) return true;
    return choices.empty() ? number_in(io::trimmed(words)).has_value() : !choice_of(words).empty();
}

bool Prediction::is_right(const std::string& guess, const Answer& answer) const {
    if (!choices.empty()) return choice_of(guess) == answer.text;
    const std::optional<double> said = number_in(io::trimmed(guess));
    return said && std::fabs(*said - *answer.number) <= kNear * std::fabs(*answer.number);
}

std::string Prediction::compare(const std::string& guess, const Answer& answer) const {
    const std::string said = io::printable(io::trimmed(guess), 40);
    const std::string truth = "it is " + answer.text;
    if (said.empty()) return truth;
    if (!choices.empty()) {
        const std::string choice = choice_of(guess);
        if (choice.empty()) return "'" + said + "' is none of the choices; " + truth;
        return choice == answer.text ? "you said " + choice + ": right"
                                     : "you said " + choice + ", " + truth;
    }
    const std::optional<double> number = number_in(io::trimmed(guess));
    if (!number) return "'" + said + "' is no number; " + truth;
    return "you said " + said + ", " + truth + ": " + how_far(*number, *answer.number);
}

std::string Prediction::text(const std::string& before) const {
    std::string text = io::wrapped(before + ask, 80, 0) + "\n";
    std::string line;
    for (size_t i = 0; i < choices.size(); ++i) {
        const std::string choice = std::string(1, static_cast<char>('a' + i)) + ") " + choices[i];
        if (line.size() + choice.size() > 74) {
            text += line + "\n";
            line.clear();
        }
        line += (line.empty() ? "  " : "   ") + choice;
    }
    return text + (line.empty() ? "" : line + "\n");
}

std::string Prediction::reason(const Answer& answer) const {
    if (explains.empty() || explains == answer.text) return why;
    return "The course's own records say " + explains + ", because: " + why +
           " What is different here?";
}

std::vector<Prediction> predictions_of(const std::filesystem::path& repository,
                                       const std::string& stage) {
    std::vector<Prediction> predictions;
    for (const Entry& entry : read_sheet(repository / stage / "predictions.txt", keys()))
        predictions.push_back(prediction_from(entry, stage));
    return predictions;
}

}  // namespace course
