// SPDX-License-Identifier: MIT
#include "common/course/check/exercise.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "common/course/check/measures.hpp"
#include "common/course/check/task.hpp"
#include "common/io/files.hpp"
#include "common/io/text.hpp"
#include "common/records/where.hpp"

namespace course {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char *kBegin = "// ---- your lines", *kEnd = "// ---- end of your lines";

std::vector<fs::path> sorted_in(const fs::path& folder) {
    std::vector<fs::path> paths;
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, error))
        paths.push_back(entry.path());
    std::sort(paths.begin(), paths.end());
    return paths;
}

Exercise read_exercise(const fs::path& root, const fs::path& handed_out) {
    Exercise exercise;
    exercise.id = handed_out.stem().string();
    exercise.stage = handed_out.parent_path().parent_path().filename().string();
    exercise.handed_out = handed_out;
    exercise.own_name = "my/" + exercise.id + ".cuh";
    exercise.own = root / exercise.own_name;
    const std::string head = task_of(exercise);
    const std::string first = head.substr(0, head.find('\n')),
                      words = "Exercise " + exercise.id + ": ";
    if (!first.starts_with(words)) io::refuse(handed_out, "its head does not begin: " + words);
    exercise.title = first.substr(words.size());
    const fs::path path = fs::path(handed_out).replace_extension(".json");
    try {
        const json said = json::parse(io::text_in(path));
        exercise.operation = said.at("operation");
        exercise.hints = said.at("hints").get<std::vector<std::string>>();
        exercise.solution = said.at("solution").get<std::vector<std::string>>();
        exercise.learned = said.at("learned");
        exercise.shape = said.value("shape", "");
        exercise.overflows = said.value("overflows", false);
        const json mistakes = said.value("mistakes", json::object());
        for (const auto& [of, sentence] : mistakes.items())
            exercise.mistakes.emplace_back(of, sentence);
        for (const Measure& measure : all_measures()) {
            if (said.at("counted").contains(measure.name))
                exercise.counted.emplace_back(measure.name, said["counted"][measure.name]);
        }
        if (exercise.counted.size() != said["counted"].size())
            io::refuse(path, "counts something that is not among the measures");
    } catch (const json::exception& error) {
        io::refuse(path, error.what());
    }
    return exercise;
}

// The first of the lines that has these words, and perhaps more: a comment, or a condition of the stage's.
std::vector<std::string>::const_iterator stands_in(const std::vector<std::string>& lines,
                                                   const std::string& words) {
    return std::find_if(lines.begin(), lines.end(), [&](const std::string& line) {
        return line.find(words) != std::string::npos;
    });
}

}  // namespace

std::vector<Exercise> all_exercises(const fs::path& root) {
    std::vector<Exercise> exercises;
    for (const std::string& stage : records::stage_folders(root)) {
        for (const fs::path& path : sorted_in(root / stage / "exercises")) {
            if (path.extension() == ".cuh") exercises.push_back(read_exercise(root, path));
        }
    }
    std::sort(exercises.begin(), exercises.end(), comes_before<Exercise>);
    return exercises;
}

bool is_first_of_stage(const Exercise& exercise) {
    return exercise.id.substr(exercise.id.find('.')) == ".1";
}

OpenPart open_part_of(const std::vector<std::string>& lines, const fs::path& path) {
    const auto find = [&](const char* mark) {
        const auto found = std::find_if(lines.begin(), lines.end(), [&](const std::string& line) {
            return io::trimmed(line).starts_with(mark);
        });
        if (found == lines.end()) io::refuse(path, std::string("lacks the line `") + mark + "`");
        return static_cast<size_t>(found - lines.begin());
    };
    return {find(kBegin) + 2, find(kEnd)};
}

std::string solved_text(const Exercise& exercise) {
    const std::vector<std::string> lines = io::lines_in(io::text_in(exercise.handed_out));
    const OpenPart open = open_part_of(lines, exercise.handed_out);
    std::string text;
    for (size_t number = 1; number <= lines.size(); ++number) {
        if (number == open.first) {
            for (const std::string& line : exercise.solution) text += line + "\n";
        }
        if (number < open.first || number > open.last) text += lines[number - 1] + "\n";
    }
    return text;
}

std::string task_of(const Exercise& exercise) {
    std::string task;
    for (const std::string& line : io::lines_in(io::text_in(exercise.handed_out))) {
        if (!line.starts_with("//")) break;
        if (line.starts_with("// SPDX") || line.starts_with("// Copyright")) continue;
        task += io::trimmed(line.substr(2)) + "\n";
    }
    return task.substr(std::min(task.find_first_not_of('\n'), task.size()));
}

std::string source_of_solution(const Exercise& exercise) {
    const fs::path stage = exercise.handed_out.parent_path().parent_path();
    std::vector<fs::path> sources = sorted_in(stage);
    for (const fs::path& path : sorted_in(stage / "further")) sources.push_back(path);
    std::vector<std::string> wanted;
    for (const std::string& line : exercise.solution) {
        const std::string code = io::trimmed(line.substr(0, line.find("//")));
        if (!code.empty()) wanted.push_back(code);
    }
    for (const fs::path& path : sources) {
        if (path.extension() != ".cuh") continue;
        const std::vector<std::string> lines = io::lines_in(io::text_in(path));
        const bool has_all = std::all_of(wanted.begin(), wanted.end(), [&](const auto& line) {
            return stands_in(lines, line) != lines.end();
        });
        if (!has_all || wanted.empty()) continue;
        const auto first = stands_in(lines, wanted.front());
        return path.lexically_relative(stage.parent_path()).string() + ":" +
               std::to_string(first - lines.begin() + 1);
    }
    return "";
}

}  // namespace course
