// SPDX-License-Identifier: MIT
#include "common/course/check/exercise.hpp"

#include <algorithm>
#include <cctype>
#include <sstream>

#include <nlohmann/json.hpp>

#include "common/course/check/measures.hpp"
#include "common/io/files.hpp"

namespace course {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char *kBegin = "// ---- your lines", *kEnd = "// ---- end of your lines";

std::string trimmed(const std::string& line) {
    const size_t first = line.find_first_not_of(" \t\r");
    if (first == std::string::npos) return "";
    return line.substr(first, line.find_last_not_of(" \t\r") - first + 1);
}

bool begins_with(const std::string& text, const std::string& words) {
    return text.compare(0, words.size(), words) == 0;
}

std::vector<fs::path> sorted_in(const fs::path& folder) {
    std::vector<fs::path> paths;
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, error))
        paths.push_back(entry.path());
    std::sort(paths.begin(), paths.end());
    return paths;
}

bool is_stage(const fs::path& path) {
    const std::string name = path.filename().string();
    return name.size() > 3 && std::isdigit(static_cast<unsigned char>(name[0])) != 0 &&
           std::isdigit(static_cast<unsigned char>(name[1])) != 0 && name[2] == '_';
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
    if (!begins_with(first, words)) io::refuse(handed_out, "its head does not begin: " + words);
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

// By the stage's number, then by their own.
bool comes_before(const Exercise& a, const Exercise& b) {
    const auto number = [](const Exercise& each) {
        return std::strtol(each.id.c_str() + each.id.find('.') + 1, nullptr, 10);
    };
    return a.stage != b.stage ? a.stage < b.stage : number(a) < number(b);
}

}  // namespace

std::vector<fs::path> stages_in(const fs::path& root) {
    std::vector<fs::path> stages = sorted_in(root);
    stages.erase(std::remove_if(stages.begin(), stages.end(),
                                [](const fs::path& path) { return !is_stage(path); }),
                 stages.end());
    return stages;
}

std::vector<Exercise> all_exercises(const fs::path& root) {
    std::vector<Exercise> exercises;
    for (const fs::path& stage : stages_in(root)) {
        for (const fs::path& path : sorted_in(stage / "exercises")) {
            if (path.extension() == ".cuh") exercises.push_back(read_exercise(root, path));
        }
    }
    std::sort(exercises.begin(), exercises.end(), comes_before);
    return exercises;
}

bool is_first_of_stage(const Exercise& exercise) {
    return exercise.id.substr(exercise.id.find('.')) == ".1";
}

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
}

OpenPart open_part_of(const std::vector<std::string>& lines, const fs::path& path) {
    const auto find = [&](const char* mark) {
        const auto found = std::find_if(lines.begin(), lines.end(), [&](const std::string& line) {
            return begins_with(trimmed(line), mark);
        });
        if (found == lines.end()) io::refuse(path, std::string("lacks the line `") + mark + "`");
        return static_cast<size_t>(found - lines.begin());
    };
    return {find(kBegin) + 2, find(kEnd)};
}

std::string solved_text(const Exercise& exercise) {
    const std::vector<std::string> lines = lines_of(io::text_in(exercise.handed_out));
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
    for (const std::string& line : lines_of(io::text_in(exercise.handed_out))) {
        if (!begins_with(line, "//")) break;
        if (begins_with(line, "// SPDX") || begins_with(line, "// Copyright")) continue;
        task += trimmed(line.substr(2)) + "\n";
    }
    return task.substr(std::min(task.find_first_not_of('\n'), task.size()));
}

std::string source_of_solution(const Exercise& exercise) {
    const fs::path stage = exercise.handed_out.parent_path().parent_path();
    std::vector<fs::path> sources = sorted_in(stage);
    for (const fs::path& path : sorted_in(stage / "further")) sources.push_back(path);
    std::vector<std::string> wanted;
    for (const std::string& line : exercise.solution) {
        const std::string code = trimmed(line.substr(0, line.find("//")));
        if (!code.empty()) wanted.push_back(code);
    }
    for (const fs::path& path : sources) {
        if (path.extension() != ".cuh") continue;
        const std::vector<std::string> lines = lines_of(io::text_in(path));
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
