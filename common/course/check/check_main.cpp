// SPDX-License-Identifier: MIT
//
// exercises ROOT VERB ...: what ./stages check has to know of the exercises and says of them. common/front_door/check.sh
// compiles and runs between the calls.
//   list [--fast]              all exercises, what is right, and what is next
//   ids [--fast] [WORD...]     those that the words mean (03.1, or a stage: all of its), a line each; none: all
//   begin ID [--keep]          hands it out where my/ has no such file (--keep: does not), and prints, a line each: new,
//                              there or none; the operation; the shape; overflows or nothing; the file handed out
//   solve ID                   the exercise with its solution
//   report [--json] [--fast] [--new] FOLDER ID...
//                              what FOLDER/ID has of each becomes an answer. Exit status 0 where all are right, else 1
//   hint ID, solution ID, reset ID
//   causes FILE                of a verdict on several launchers (grade_main.cpp), a line each: NAME|CAUSE, CAUSE
#include <algorithm>
#include <cstdio>
#include <stdexcept>

#include "common/course/check/answer.hpp"
#include "common/io/files.hpp"
#include "common/io/standard_output.hpp"
#include "common/io/table.hpp"
#include "common/io/text.hpp"

namespace {

namespace fs = std::filesystem;
using course::Exercise;
using course::Progress;
using nlohmann::json;

// Words that make no sense: exit status 2.
struct UsageError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

class Words {
public:
    Words(int count, char** values) : words_(values, values + count) {}

    // Whether the flag is there; it is taken away.
    bool flag(const std::string& name) {
        const auto found = std::find(words_.begin(), words_.end(), name);
        if (found == words_.end()) return false;
        words_.erase(found);
        return true;
    }
    std::string next(const std::string& what) {
        if (words_.empty()) throw UsageError(what + " is missing");
        const std::string word = words_.front();
        words_.erase(words_.begin());
        return word;
    }
    std::vector<std::string> rest() { return words_; }

private:
    std::vector<std::string> words_;
};

struct Course {
    fs::path root;
    std::vector<Exercise> exercises;
    Progress progress;

    explicit Course(const fs::path& folder)
        : root(folder), exercises(course::all_exercises(folder)), progress(folder) {}

    // 03.1, or 3.1.
    const Exercise& called(const std::string& word) const {
        const std::string id = word.find('.') == 1 ? "0" + word : word;
        const auto found = std::find_if(exercises.begin(), exercises.end(),
                                        [&](const Exercise& each) { return each.id == id; });
        if (found != exercises.end()) return *found;
        std::string all;
        for (const Exercise& each : exercises) all += " " + each.id;
        throw UsageError("no exercise '" + io::printable(id) + "'; there are:" + all);
    }
};

// The exercises of a stage that a word means, 3, 03 or 03_online_softmax; empty where it means none.
std::vector<std::string> of_stage(const Course& course, const std::string& word) {
    std::vector<std::string> ids;
    const std::string number = word.size() == 1 ? "0" + word : word;
    for (const Exercise& each : course.exercises) {
        if (each.stage == word || each.stage.substr(0, 2) == number) ids.push_back(each.id);
    }
    return ids;
}

int print_ids(const Course& course, bool fast, const std::vector<std::string>& words) {
    std::vector<std::string> ids;
    for (const std::string& word : words) {
        std::vector<std::string> found = of_stage(course, word);
        if (found.empty()) found = {course.called(word).id};
        ids.insert(ids.end(), found.begin(), found.end());
    }
    if (words.empty()) {
        for (const Exercise& each : course.exercises) ids.push_back(each.id);
    }
    for (const std::string& id : ids) {
        if (!fast || course::is_first_of_stage(course.called(id))) std::printf("%s\n", id.c_str());
    }
    return 0;
}

int list(const Course& course, bool fast) {
    size_t right = 0;
    for (const Exercise& each : course.exercises) right += course.progress.is_right(each.id);
    io::print_heading("Exercises", std::to_string(right) + " of " +
                                       std::to_string(course.exercises.size()) + " right");
    std::string stage;
    for (const Exercise& each : course.exercises) {
        if (each.stage != stage) std::printf("%s\n", each.stage.c_str());
        stage = each.stage;
        const char* const state = course.progress.is_right(each.id) ? "right"
                                  : fs::exists(each.own)            ? "begun"
                                                                    : "";
        std::printf("  %-5s  %-5s  %s\n", each.id.c_str(), state, each.title.c_str());
    }
    std::printf("\n");
    io::say(stdout, course::next_text(course.exercises, course.progress, "", fast));
    return 0;
}

void hand_out(const Exercise& exercise) {
    fs::create_directories(exercise.own.parent_path());
    io::replace_file(exercise.own, io::text_in(exercise.handed_out));
}

int begin(const Exercise& exercise, bool keep) {
    const bool there = fs::exists(exercise.own);
    if (!there && !keep) hand_out(exercise);
    std::printf("%s\n%s\n%s\n%s\n%s\n",
                there  ? "there"
                : keep ? "none"
                       : "new",
                exercise.operation.c_str(), exercise.shape.c_str(),
                exercise.overflows ? "overflows" : "", exercise.handed_out.c_str());
    return 0;
}

int hint(Course& course, const Exercise& exercise) {
    const auto all = static_cast<int>(exercise.hints.size());
    const int number = std::min(course.progress.hints(exercise.id) + 1, all);
    course.progress.set_hints(exercise.id, number);
    io::say(stdout, "Hint " + std::to_string(number) + " of " + std::to_string(all) + " for " +
                        exercise.id + ": " + exercise.hints[static_cast<size_t>(number) - 1]);
    if (number == all)
        io::say(stdout, "This was the last hint: ./stages check " + exercise.id +
                            " --solution shows the lines.");
    return 0;
}

int solution(const Exercise& exercise) {
    const std::string source = course::source_of_solution(exercise);
    std::printf("The lines of %s between the two marks%s:\n\n", exercise.own_name.c_str(),
                source.empty() ? "" : (", as in " + source).c_str());
    for (const std::string& line : exercise.solution) std::printf("%s\n", line.c_str());
    return 0;
}

int reset(Course& course, const Exercise& exercise) {
    std::string kept;
    if (fs::exists(exercise.own)) {
        fs::path old = exercise.own;
        old += ".old";
        fs::rename(exercise.own, old);
        kept = "; what was there is " + exercise.own_name + ".old";
    }
    hand_out(exercise);
    course.progress.forget(exercise.id);
    io::say(stdout, exercise.own_name + " is as handed out" + kept + ".");
    return 0;
}

int report(Course& course, Words& words) {
    const bool as_json = words.flag("--json");
    course::Manner manner;
    manner.fast = words.flag("--fast");
    manner.is_new = words.flag("--new");
    const fs::path folder = words.next("a folder");
    std::vector<json> answers;
    for (const std::string& id : words.rest()) {
        answers.push_back(course::answer_of(course.called(id), folder / id));
        if (course::is_right(answers.back())) course.progress.add_right(id);
    }
    const auto right = std::count_if(answers.begin(), answers.end(), course::is_right);
    const bool all_right = right == static_cast<std::ptrdiff_t>(answers.size());
    const std::string last = words.rest().empty() ? "" : words.rest().back();
    if (as_json) {
        const json document = {
            {"schema", 1}, {"exercises", answers}, {"right", right}, {"of", answers.size()}};
        std::printf("%s\n", document.dump(1, ' ', false, json::error_handler_t::replace).c_str());
        return all_right ? 0 : 1;
    }
    if (answers.size() == 1) {
        course::print_answer(course.called(last), answers.front(), manner);
    } else {
        course::print_answers(answers);
    }
    std::printf("\n");
    if (all_right || answers.size() != 1) {
        io::say(stdout, course::next_text(course.exercises, course.progress, last, manner.fast));
    } else {
        std::printf(
            "Edit %s, then: ./stages check %s\n--hint gives a hint, --watch answers at every "
            "save.\n",
            course.called(last).own_name.c_str(), last.c_str());
    }
    return all_right ? 0 : 1;
}

int print_causes(const fs::path& path) {
    const json document = json::parse(io::text_in(path));
    for (const json& launcher : document.at("launchers")) {
        std::string causes;
        for (const json& finding : launcher.at("findings"))
            causes += (causes.empty() ? "" : ", ") + finding.at("cause").get<std::string>();
        std::printf("%s|%s\n", launcher.value("name", "?").c_str(), causes.c_str());
    }
    return 0;
}

int run(Words words) {
    Course course(fs::path(words.next("the repository")));
    const std::string verb = words.next("a verb");
    if (verb == "report") return report(course, words);
    const bool fast = words.flag("--fast");
    if (verb == "list") return list(course, fast);
    if (verb == "ids") return print_ids(course, fast, words.rest());
    if (verb == "causes") return print_causes(words.next("a file"));
    const bool keep = words.flag("--keep");
    const Exercise& exercise = course.called(words.next("an exercise"));
    if (verb == "begin") return begin(exercise, keep);
    if (verb == "solve") {
        std::fputs(course::solved_text(exercise).c_str(), stdout);
        return 0;
    }
    if (verb == "hint") return hint(course, exercise);
    if (verb == "solution") return solution(exercise);
    if (verb == "reset") return reset(course, exercise);
    throw UsageError("no verb " + verb);
}

}  // namespace

int main(int count, char** values) {
    try {
        return io::finish_output(run(Words(count - 1, values + 1)));
    } catch (const std::exception& error) {
        io::say(stderr, std::string("stages: ") + error.what());
    }
    return 2;
}
