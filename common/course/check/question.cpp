// SPDX-License-Identifier: MIT
#include "common/course/check/question.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <regex>
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

// Digits in groups of three, as in 1,024, without the commas.
std::string without_groups(const std::string& words) {
    static const std::regex kGrouped("[0-9]{1,3}(,[0-9]{3})+(\\.[0-9]+)?");
    std::string digits = words;
    if (std::regex_match(words, kGrouped))
        digits.erase(std::remove(digits.begin(), digits.end(), ','), digits.end());
    return digits;
}

double plain_number(const std::string& words) {
    const std::string digits = without_groups(words);
    char* end = nullptr;
    const double number = std::strtod(digits.c_str(), &end);
    if (digits.empty() || *end != 0 || !std::isfinite(number)) throw std::invalid_argument(words);
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
                                  one.at("hints").get<std::vector<std::string>>(),
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
    const size_t stroke = words.find('/');
    if (stroke == std::string::npos) return plain_number(words);
    const double number =
        plain_number(words.substr(0, stroke)) / plain_number(words.substr(stroke + 1));
    if (!std::isfinite(number)) throw std::invalid_argument(words);
    return number;
}

}  // namespace course
