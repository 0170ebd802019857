// SPDX-License-Identifier: MIT
//
// bugs ROOT VERB ...: what ./stages has to know of the planted bugs and says of them. common/front_door/bugs.sh compiles
// and runs between the calls.
//   ids [WORD...]         those that the words mean (05.bug2, or a stage: all of its), a line each; none: all
//   summary               how many are found, and how to begin; nothing where there are none
//   facts ID              a line each: operation, launcher, element type, shape, input, overflows or nothing, checks that
//                         catch it
//   wrong ID, right ID    the header with the bug, and without
//   begin ID              hands it out where my/ has no such file, and says what is reported of it
//   judge ID LINE         whether that line is wrong. Exit status 0 where it is, else 1
//   hint ID, solution ID, reset ID
//   caught VERDICT ID RIGHT   of two launchers of a verdict (grade_main.cpp): the checks that have caught the first
//   show VERDICT ID RIGHT     that in full, with the wrong line beside the right one; --colour: in colour
//   ask ID                what is reported, and the lines around the wrong one
#include <algorithm>
#include <cstdio>
#include <stdexcept>

#include "common/course/bugs/bug.hpp"
#include "common/course/bugs/caught.hpp"
#include "common/course/check/answers.hpp"
#include "common/course/check/measures.hpp"
#include "common/course/check/progress.hpp"
#include "common/course/check/task.hpp"
#include "common/io/files.hpp"
#include "common/io/standard_output.hpp"
#include "common/io/table.hpp"
#include "common/io/text.hpp"

namespace {

namespace fs = std::filesystem;
using course::Bug;
using course::LineRange;
using course::UsageError;
using nlohmann::json;

struct Course {
    fs::path root;
    std::vector<Bug> bugs;
    course::Progress progress;

    explicit Course(const fs::path& folder)
        : root(folder), bugs(course::all_bugs(folder)), progress(folder) {}

    const Bug& called(const std::string& word) const { return course::called(bugs, word, "bug"); }
};

void say(const std::string& text, size_t indent = 2) {
    io::say(stdout, "  " + text, indent);
}

int print_ids(const Course& course, const std::vector<std::string>& words) {
    for (const std::string& id :
         course::ids_of(course.bugs, words, "bug", [](const Bug&) { return true; }))
        std::printf("%s\n", id.c_str());
    return 0;
}

// The first bug after `id`, or of all, that is not found yet; null where all are.
const Bug* next_after(const Course& course, const std::string& id) {
    std::vector<const Bug*> all;
    size_t from = 0;
    for (const Bug& bug : course.bugs) {
        all.push_back(&bug);
        if (bug.id == id) from = all.size();
    }
    return course::next_open(all, from, course.progress);
}

int summary(const Course& course) {
    if (course.bugs.empty()) return 0;
    const auto found = std::count_if(course.bugs.begin(), course.bugs.end(), [&](const Bug& bug) {
        return course.progress.is_right(bug.id);
    });
    const Bug* const next = next_after(course, "");
    io::say(stdout, "Planted bugs: " + std::to_string(found) + " of " +
                        std::to_string(course.bugs.size()) + " found." +
                        (next == nullptr ? "" : " Next: ./stages check " + next->id));
    return 0;
}

int print_facts(const Bug& bug) {
    std::string caught;
    for (const std::string& check : bug.caught) caught += (caught.empty() ? "" : ", ") + check;
    std::printf("%s\n%s\n%s\n%s\n%s\n%s\n%s\n", bug.operation.c_str(), bug.launcher.c_str(),
                bug.dtype.c_str(), bug.shape.c_str(), bug.input.c_str(),
                bug.overflows ? "overflows" : "", caught.c_str());
    return 0;
}

// How the course's tools look at the file.
std::string try_command(const Bug& bug) {
    std::string command = "./stages try " + bug.own_name + " --as " + bug.operation;
    if (bug.launcher != "launch") {
        const bool quoted = bug.launcher.find('<') != std::string::npos;
        command += " --launcher " + (quoted ? "'" + bug.launcher + "'" : bug.launcher);
    }
    if (!bug.dtype.empty()) command += " --dtype " + bug.dtype;
    if (bug.overflows) command += " --input normal";
    return command;
}

int begin(const Course& course, const Bug& bug) {
    if (!fs::exists(bug.own)) course::hand_out(bug.own, text_with(bug, course.root));
    io::print_heading(bug.id, bug.own_name);
    say("Reported: " + bug.symptom);
    std::printf("\n");
    say("A line of " + bug.own_name +
        " is wrong or missing. Which one? If one is missing, name the line before or after the "
        "gap.");
    std::printf("    ./stages check %s --line NUMBER\n", bug.id.c_str());
    std::printf("  To look into it:\n    %s\n", try_command(bug).c_str());
    std::printf("  --hint gives a hint, --solution the line.\n");
    return 0;
}

std::string text_of(const LineRange& range) {
    return range.first == range.last ? "line " + std::to_string(range.first)
                                     : "lines " + std::to_string(range.first) +
                                           (range.last == range.first + 1 ? " and " : " to ") +
                                           std::to_string(range.last);
}

// Lines without what all are indented by, each behind a mark.
void print_lines(const std::string& mark, const std::vector<std::string>& lines, size_t indent,
                 const char* colour) {
    constexpr size_t kWidth = 80, kHanging = 13;
    const char* const end = *colour == 0 ? "" : "\033[0m";
    const auto print = [&](const std::string& text) {
        std::printf("%s%s%s\n", colour,
                    io::wrapped("  " + mark + " " + text, kWidth, kHanging).c_str(), end);
    };
    if (lines.empty()) print("(no such line)");
    for (const std::string& line : lines) print(line.substr(std::min(indent, line.size())));
}

void print_difference(const Bug& bug, bool in_colour) {
    std::vector<std::string> right = differing_right(bug), wrong = differing_wrong(bug);
    size_t indent = SIZE_MAX;
    for (const auto* lines : {&right, &wrong}) {
        for (const std::string& line : *lines)
            indent = std::min(indent, line.find_first_not_of(' '));
    }
    print_lines("wrong ", wrong, indent, in_colour ? "\033[31m" : "");
    print_lines("right ", right, indent, in_colour ? "\033[32m" : "");
}

int judge(Course& course, const Bug& bug, const std::string& word) {
    const size_t line = course::line_number(word);
    const size_t all = io::lines_in(text_with(bug, course.root)).size();
    if (line == 0 || line > all)
        throw UsageError("--line needs the number of a line of " + bug.own_name + ", 1 to " +
                         std::to_string(all));
    const LineRange wrong = wrong_lines(bug, course.root);
    course::Answers answers(course.root);
    course::note_answer(answers, course.progress, bug.id, word, wrong.has(line));
    if (!wrong.has(line)) {
        const bool near = function_of(bug, course.root).has(line);
        say(near ? "Near: line " + word + " is right, but the bug is in the same function."
                 : "No: the bug is not in the function of line " + word + ".");
        std::printf("  --hint gives a hint.\n");
        return 1;
    }
    say("RIGHT. " + bug.explanation);
    std::printf("\n");
    print_difference(bug, false);
    std::printf("\n");
    const Bug* const next = next_after(course, bug.id);
    if (next == nullptr) {
        say("You have found all " + std::to_string(course.bugs.size()) + " planted bugs.", 0);
    } else {
        std::printf("Next: ./stages check %s\n", next->id.c_str());
    }
    return 0;
}

int hint(Course& course, const Bug& bug) {
    course::say_next_hint(course.progress, bug.id, bug.hints, "the line");
    return 0;
}

int solution(const Course& course, const Bug& bug) {
    const bool missing = differing_wrong(bug).empty();
    std::printf("%s: %s%s of %s\n\n", bug.id.c_str(), missing ? "between " : "",
                text_of(wrong_lines(bug, course.root)).c_str(), bug.own_name.c_str());
    print_difference(bug, false);
    std::printf("\n");
    say(bug.explanation);
    return 0;
}

int reset(Course& course, const Bug& bug) {
    course::hand_out_again(course.progress, bug.id, bug.own, bug.own_name,
                           text_with(bug, course.root));
    return 0;
}

// The lines of the header with the bug around the wrong ones, as far as its function goes.
void print_around(const Bug& bug, const fs::path& root) {
    constexpr size_t kAround = 5, kWidth = 80, kHanging = 13;
    const std::vector<std::string> lines = io::lines_in(text_with(bug, root));
    const LineRange wrong = wrong_lines(bug, root), function = function_of(bug, root);
    size_t first = std::max(function.first, wrong.first - std::min(wrong.first, kAround));
    while (first < wrong.first && lines[first - 1].empty()) ++first;
    const size_t last = std::min(function.last, wrong.last + kAround);
    for (size_t line = first; line <= last; ++line) {
        char number[16];
        std::snprintf(number, sizeof number, "%5zu  ", line);
        std::printf("%s\n", io::wrapped(number + lines[line - 1], kWidth, kHanging).c_str());
    }
}

int ask(const Course& course, const Bug& bug) {
    io::print_heading(bug.id, bug.header);
    say("Reported: " + bug.symptom);
    std::printf("\n");
    print_around(bug, course.root);
    return 0;
}

const json& launcher_called(const json& verdict, const std::string& name) {
    for (const json& launcher : verdict.at("launchers")) {
        if (launcher.value("name", "") == name) return launcher;
    }
    throw std::runtime_error("the verdict has no launcher " + name);
}

int print_caught(const json& verdict, const std::string& id, const std::string& right) {
    std::string caught;
    for (const std::string& check :
         course::caught_in(launcher_called(verdict, id), launcher_called(verdict, right)))
        caught += (caught.empty() ? "" : ", ") + check;
    std::printf("%s\n", caught.c_str());
    return 0;
}

// Of a count: "sectors loaded: 1280, and 1024 without the bug".
void print_count(const std::string& name, const json& launcher, const json& right) {
    const course::Measure& measure = *course::measure_called(name);
    const auto of = [&](const json& each) {
        return io::number(each.at("counts").at(name).at("value"), measure.decimals);
    };
    say(std::string(measure.words) + ": " + of(launcher) + ", and " + of(right) +
            " without the bug, at " + launcher.at("shape").get<std::string>(),
        4);
}

// Without the namespace that together.sh puts the launcher into.
std::string without_space(std::string text, const std::string& id) {
    std::string space = "e" + id + "::";
    std::replace(space.begin(), space.end(), '.', '_');
    for (size_t at; (at = text.find(space)) != std::string::npos;) text.erase(at, space.size());
    return text;
}

int show(const Course& course, const json& verdict, const Bug& bug, const std::string& right_name,
         bool in_colour) {
    const json& launcher = launcher_called(verdict, bug.id);
    const json& right = launcher_called(verdict, right_name);
    io::print_heading(bug.id, place_in_header(bug, course.root));
    say("Reported: " + bug.symptom);
    std::printf("\n");
    print_difference(bug, in_colour);
    std::printf("\n");
    for (const json& finding : launcher.at("findings")) {
        const std::string check = course::check_of(finding.at("cause"));
        say(course::words_for(check) + ": " + without_space(finding.at("said").at(0), bug.id), 4);
    }
    if (launcher.at("findings").empty()) {
        for (const std::string& check : course::caught_in(launcher, right))
            print_count(check, launcher, right);
    }
    if (course::caught_in(launcher, right).empty()) say("no check sees it");
    std::printf("\n");
    say("Why: " + bug.explanation);
    return 0;
}

int run(std::vector<std::string> words) {
    const bool in_colour = std::find(words.begin(), words.end(), "--colour") != words.end();
    if (in_colour) words.erase(std::find(words.begin(), words.end(), "--colour"));
    const auto word = [&](size_t i) {
        if (i >= words.size()) throw UsageError("a word is missing");
        return words[i];
    };
    Course course(word(0));
    const std::string verb = word(1);
    if (verb == "ids") return print_ids(course, {words.begin() + 2, words.end()});
    if (verb == "summary") return summary(course);
    if (verb == "caught") return print_caught(json::parse(io::text_in(word(2))), word(3), word(4));
    if (verb == "show")
        return show(course, json::parse(io::text_in(word(2))), course.called(word(3)), word(4),
                    in_colour);
    const Bug& bug = course.called(word(2));
    if (verb == "facts") return print_facts(bug);
    if (verb == "ask") return ask(course, bug);
    if (verb == "begin") return begin(course, bug);
    if (verb == "judge") return judge(course, bug, word(3));
    if (verb == "hint") return hint(course, bug);
    if (verb == "solution") return solution(course, bug);
    if (verb == "reset") return reset(course, bug);
    if (verb == "wrong" || verb == "right") {
        const std::string text =
            verb == "wrong" ? text_with(bug, course.root) : text_without(bug, course.root);
        std::fputs(text.c_str(), stdout);
        return 0;
    }
    throw UsageError("no verb " + verb);
}

}  // namespace

int main(int count, char** values) {
    try {
        return io::finish_output(run({values + 1, values + count}));
    } catch (const std::exception& error) {
        io::say(stderr, std::string("stages: ") + error.what());
    }
    return 2;
}
