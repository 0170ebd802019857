// SPDX-License-Identifier: MIT
#include "common/course/check/answer.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "common/course/bugs/caught.hpp"
#include "common/course/check/measures.hpp"
#include "common/course/check/task.hpp"
#include "common/io/files.hpp"
#include "common/io/standard_output.hpp"
#include "common/io/table.hpp"
#include "common/io/text.hpp"

namespace course {
namespace {

using nlohmann::json;

json read(const std::filesystem::path& path) {
    return json::parse(io::text_in(path));
}

// A count that is larger by rounding alone is the same.
bool is_more(double yours, double enough) {
    constexpr double kSlack = 1e-6;
    return yours > enough * (1 + kSlack) + kSlack;
}

std::string value_text(double value, const Measure& measure) {
    return io::number(value, measure.decimals);
}

// "2.00 at my/03.1.cuh:44, 1.00 at my/03.1.cuh:51"
std::string lines_text(const json& lines, const Measure& measure) {
    constexpr size_t kShown = 3;
    std::string text;
    for (size_t i = 0; i < std::min(kShown, lines.size()); ++i) {
        text += (i == 0 ? "" : ", ") + value_text(lines[i][1], measure) + " at " +
                lines[i][0].get<std::string>();
    }
    const size_t more = lines.size() - std::min(kShown, lines.size());
    if (more > 0)
        text += " and at " + std::to_string(more) + (more == 1 ? " line more" : " lines more");
    return text;
}

// "There only 1 of 32 lanes takes part. " of requests that leave out half of a warp or more.
std::string idle_text(const Measure& measure, double lanes) {
    constexpr double kWarp = 32, kFew = kWarp / 2;
    if (!std::string_view(measure.name).ends_with("requests") || lanes == 0 || lanes > kFew)
        return "";
    const std::string shown = io::number(lanes, 1);
    return "There only " + (shown == "1.0" ? "1 of 32 lanes takes part. "
                                           : shown + " of 32 lanes take part on average. ");
}

// The measures that the exercise names, and those of accesses and launches of which the learner has more than the solution.
json counts_of(const Exercise& exercise, const json& yours, const json& enough) {
    json counts = json::array();
    for (const Measure& measure : all_measures()) {
        const auto named =
            std::find_if(exercise.counted.begin(), exercise.counted.end(),
                         [&](const auto& each) { return each.first == measure.name; });
        const bool is_named = named != exercise.counted.end();
        const json& count = yours.at(measure.name);
        const double mine = count.at("value"), least = enough.at(measure.name).at("value");
        if (!is_named && (measure.sentence == nullptr || !is_more(mine, least))) continue;
        json one = {{"measure", measure.name},
                    {"words", measure.words},
                    {"yours", mine},
                    {"enough", least},
                    {"lines", count.at("lines")}};
        if (is_more(mine, least)) {
            one["sentence"] = idle_text(measure, count.at("lanes")) +
                              (is_named ? named->second : measure.sentence);
        }
        counts.push_back(one);
    }
    return counts;
}

// All keys of a finding.
json finding_of(const std::string& cause, const json& said) {
    return {{"cause", cause}, {"said", said}, {"more", 0},
            {"input", ""},    {"about", ""},  {"advice", ""}};
}

std::string advice_on(const Exercise& exercise, const json& finding) {
    const std::string check = check_of(finding.at("cause")), input = finding.at("input");
    for (const auto& [of, sentence] : exercise.mistakes) {
        if (of == input || of == check) return sentence;
    }
    return "";
}

bool is_untouched(const Exercise& exercise) {
    return io::text_in(exercise.own) == io::text_in(exercise.handed_out);
}

void add_graded(const Exercise& exercise, const std::filesystem::path& folder, json& answer) {
    const json document = read(folder / "verdict.json");
    const json& verdict = document.at("launchers").at(0);
    answer["seed"] = document.at("seed");
    answer["cases"] = verdict.at("cases");
    answer["launches"] = verdict.at("launches");
    for (const json& each : verdict.at("findings")) {
        json finding = finding_of(each.at("cause"), each.at("said"));
        finding.update(each);
        finding["advice"] = advice_on(exercise, finding);
        answer["findings"].push_back(finding);
    }
    if (!answer["findings"].empty()) {
        answer["state"] = is_untouched(exercise) ? "untouched" : "wrong";
        return;
    }
    answer["shape"] = verdict.at("shape");
    const json enough = read(folder / "enough.json").at("launchers").at(0).at("counts");
    answer["counts"] = counts_of(exercise, verdict.at("counts"), enough);
    const bool more = std::any_of(answer["counts"].begin(), answer["counts"].end(),
                                  [](const json& count) { return count.contains("sentence"); });
    answer["state"] = more ? "more than needed" : "right";
}

void say(const std::string& text, size_t indent = 4) {
    io::say(stdout, text, indent);
}

// Its paragraphs, without the first line, which is the title.
void print_task(const Exercise& exercise) {
    std::vector<std::string> lines = io::lines_in(task_of(exercise));
    lines.emplace_back();
    std::string paragraph;
    for (size_t i = 1; i < lines.size(); ++i) {
        if (!lines[i].empty()) {
            paragraph += (paragraph.empty() ? "  " : " ") + lines[i];
        } else if (!paragraph.empty()) {
            say(paragraph, 2);
            std::printf("\n");
            paragraph.clear();
        }
    }
}

void print_findings(const json& answer) {
    // One of each cause: the others are seldom news.
    std::string advised;
    for (const json& finding : answer.at("findings")) {
        const json& said = finding.at("said");
        const std::string about = finding.at("about"), advice = finding.at("advice");
        say("  WRONG: " + said.at(0).get<std::string>());
        const size_t more = said.size() - 1 + finding.at("more").get<size_t>();
        if (more > 0)
            std::printf("    and %zu more %s like it\n", more, more == 1 ? "case" : "cases");
        if (!about.empty())
            say("    The input " + finding.at("input").get<std::string>() + ": " + about + ".");
        if (!advice.empty() && advice != advised) say("    " + advice);
        advised = advice;
    }
}

// Of a count that is more than enough.
void print_excess(const json& count) {
    const Measure& measure = *measure_called(count.at("measure"));
    const std::string lines = lines_text(count.at("lines"), measure);
    std::printf("\n");
    say("  Right, but " + value_text(count.at("yours"), measure) + " " + measure.words + " where " +
        value_text(count.at("enough"), measure) + " would do" +
        (lines.empty() ? "" : ": " + lines) + ". " + count.at("sentence").get<std::string>());
}

void print_counts(const json& answer) {
    if (answer.at("counts").empty()) return;
    const std::string at = "counted at " + answer.at("shape").get<std::string>();
    std::printf("\n");
    io::Table table({{at, 50, io::Align::left},
                     {"yours", 12, io::Align::right},
                     {"enough", 12, io::Align::right}});
    for (const json& count : answer.at("counts")) {
        const Measure& measure = *measure_called(count.at("measure"));
        table.row({measure.words, value_text(count.at("yours"), measure),
                   value_text(count.at("enough"), measure)});
    }
    table.print();
    // One mistake shows in several counts: what one before, closer to the cause, explains is not said again.
    double explained = 0;
    for (const json& count : answer.at("counts")) {
        if (!count.contains("sentence")) continue;
        const double factor =
            count.at("yours").get<double>() / std::max(count.at("enough").get<double>(), 1e-9);
        const bool follows = measure_called(count.at("measure"))->follows;
        if (!follows || is_more(factor, explained)) print_excess(count);
        explained = std::max(explained, factor);
    }
}

}  // namespace

json answer_of(const Exercise& exercise, const std::filesystem::path& folder) {
    json answer = {{"exercise", exercise.id},
                   {"title", exercise.title},
                   {"file", exercise.own_name},
                   {"findings", json::array()},
                   {"counts", json::array()},
                   {"seed", nullptr},
                   {"cases", 0},
                   {"launches", 0},
                   {"shape", exercise.shape}};
    const std::string outcome = io::text_in(folder / "outcome");
    const std::string word = outcome.substr(0, outcome.find('\n'));
    std::string rest = outcome.substr(std::min(outcome.size(), word.size() + 1));
    rest.erase(rest.find_last_not_of('\n') + 1);
    const auto find = [&](const char* state) {
        answer["state"] = state;
        answer["findings"].push_back(finding_of(word, json::array({rest})));
    };
    if (word == "graded") {
        add_graded(exercise, folder, answer);
    } else if (word == "open") {
        answer["state"] = "open";
    } else if (word == "compile") {
        find("does not compile");
    } else {
        find("wrong");
    }
    return answer;
}

bool is_right(const json& answer) {
    return answer.at("state") == "right";
}

void print_answer(const Exercise& exercise, const json& answer, const Manner& manner) {
    const std::string state = answer.at("state");
    io::print_heading(exercise.id + " " + exercise.title, exercise.own_name);
    const auto open =
        open_part_of(io::lines_in(io::text_in(exercise.handed_out)), exercise.handed_out);
    const std::string where = exercise.own_name + ":" + std::to_string(open.first);
    if (manner.is_new || state == "open") {
        print_task(exercise);
    }
    if (state == "open") return say("  Open: ./stages check " + exercise.id + " hands it out.");
    if (state == "does not compile") {
        std::printf("%s\n", answer["findings"][0]["said"][0].get<std::string>().c_str());
        return say("  It does not compile yet: see above.");
    }
    if (state == "untouched") {
        const json& finding = answer.at("findings").at(0);
        say("  Open: your lines belong at " + where + ". As it stands the result is wrong:");
        say("  " + finding.at("said").at(0).get<std::string>());
        return;
    }
    if (state == "wrong") {
        print_findings(answer);
        return;
    }
    say("  Results right in " + std::to_string(answer.at("cases").get<int>()) +
        " cases, of inputs drawn from seed " + std::to_string(answer.at("seed").get<uint64_t>()) +
        ". No race in " + std::to_string(answer.at("launches").get<int>()) + " launches.");
    print_counts(answer);
    if (state == "right") std::printf("\n");
    if (state == "right") say("  RIGHT. " + exercise.learned, 2);
}

void print_answers(const std::vector<json>& answers) {
    io::Table table(
        {{"exercise", 8, io::Align::left}, {"", 50, io::Align::left}, {"", 18, io::Align::left}});
    for (const json& answer : answers)
        table.row({answer.at("exercise"), answer.at("title"), answer.at("state")});
    table.print();
}

const Exercise* next_exercise(const std::vector<Exercise>& exercises, const Progress& progress,
                              const std::string& id, bool fast) {
    std::vector<const Exercise*> track;
    size_t after = 0;
    for (const Exercise& each : exercises) {
        if (!fast || is_first_of_stage(each)) track.push_back(&each);
        if (each.id == id) after = track.size();
    }
    return next_open(track, after, progress);
}

std::string next_text(const std::vector<Exercise>& exercises, const Progress& progress,
                      const std::string& id, bool fast) {
    const Exercise* const next = next_exercise(exercises, progress, id, fast);
    if (next != nullptr)
        return "Next: ./stages check " + next->id + (fast ? " --fast" : "") + "    " + next->title;
    if (fast) {
        return "You have solved the fast track, one exercise of each stage. `./stages check` shows "
               "the others.";
    }
    return "You have solved all " + std::to_string(exercises.size()) +
           " exercises: from the textbook's softmax to what a transformer's encoder runs on, each "
           "right, free of races and with no access too many. `./stages try` checks kernels of "
           "your own design in the same way, and `./stages new` begins a stage.";
}

}  // namespace course
