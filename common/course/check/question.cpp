// SPDX-License-Identifier: MIT
#include "common/course/check/question.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include <nlohmann/json.hpp>

#include "common/io/files.hpp"
#include "common/records/where.hpp"

namespace course {
namespace {

using nlohmann::json;

Question::Count count_in(const json& said, const std::filesystem::path& path) {
    const Question::Count count = {said.at("exercise"), said.at("measure"), said.at("shape")};
    if (measure_called(count.measure) == nullptr)
        io::refuse(path, "there is no measure " + count.measure);
    return count;
}

double plain_number(const std::string& words) {
    size_t end = 0;
    const double number = std::stod(words, &end);
    if (end != words.size() || !std::isfinite(number)) throw std::invalid_argument(words);
    return number;
}

}  // namespace

std::vector<Question> all_questions(const std::filesystem::path& root) {
    std::vector<Question> questions;
    for (const std::string& name : records::stage_folders(root)) {
        const std::filesystem::path path = root / name / "exercises" / "questions.json";
        if (!std::filesystem::exists(path)) continue;
        try {
            const json said = json::parse(io::text_in(path));
            for (const auto& [letter, one] : said.items()) {
                Question question{name.substr(0, 2) + "." + letter,
                                  name,
                                  one.at("question"),
                                  one.at("why"),
                                  {count_in(one.at("count"), path)}};
                if (one.contains("over")) question.counts.push_back(count_in(one["over"], path));
                questions.push_back(question);
            }
        } catch (const json::exception& error) {
            io::refuse(path, error.what());
        }
    }
    return questions;
}

double answer_to(const Question& question, const std::filesystem::path& folder) {
    std::vector<double> values;
    for (const Question::Count& count : question.counts) {
        const std::string name = std::to_string(values.size() + 1) + ".json";
        const json document = json::parse(io::text_in(folder / name));
        values.push_back(document.at("launchers").at(0).at("counts").at(count.measure).at("value"));
    }
    return values.size() == 1 ? values[0] : values[0] / values[1];
}

double number_in(const std::string& words) {
    std::string digits = words;
    digits.erase(std::remove(digits.begin(), digits.end(), ','), digits.end());
    const size_t stroke = digits.find('/');
    if (stroke == std::string::npos) return plain_number(digits);
    return plain_number(digits.substr(0, stroke)) / plain_number(digits.substr(stroke + 1));
}

}  // namespace course
