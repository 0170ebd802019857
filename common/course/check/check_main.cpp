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
//   needs ID                   what has to be counted to answer a question, a line each: EXERCISE MEASURE SHAPE
//   ask ID                     the question
//   judge ID FOLDER ANSWER     whether that is the answer. Exit status 0 or 1
//   causes FILE                of a verdict on several launchers (grade_main.cpp), a line each: NAME|CAUSE, CAUSE
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <stdexcept>

#include "common/course/check/answer.hpp"
#include "common/course/check/question.hpp"
#include "common/course/check/task.hpp"
#include "common/io/files.hpp"
#include "common/io/standard_output.hpp"
#include "common/io/table.hpp"
#include "common/io/text.hpp"

namespace {

namespace fs = std::filesystem;
using course::Exercise;
using course::Progress;
using course::Question;
using course::UsageError;
using nlohmann::json;

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
    std::vector<Question> questions;
    Progress progress;

    explicit Course(const fs::path& folder)
        : root(folder),
          exercises(course::all_exercises(folder)),
          questions(course::all_questions(folder)),
          progress(folder) {
        for (const Question& question : questions) {
            for (const Question::Count& count : question.counts) called(count.exercise);
        }
    }

    const Exercise& called(const std::string& word) const {
        return course::called(exercises, word, "exercise");
    }
    const Question& asked(const std::string& word) const {
        return course::called(questions, word, "exercise");
    }
};

int print_ids(const Course& course, bool fast, const std::vector<std::string>& words) {
    const auto is_taken = [&](const Exercise& one) {
        return !fast || course::is_first_of_stage(one);
    };
    for (const std::string& id : course::ids_of(course.exercises, words, "exercise", is_taken))
        std::printf("%s\n", id.c_str());
    return 0;
}

// The stage's questions, the beginning of each.
void print_questions(const Course& course, const std::string& stage) {
    for (const Question& each : course.questions) {
        constexpr size_t kShown = 62;
        if (each.stage != stage) continue;
        const std::string text =
            each.text.size() <= kShown ? each.text : io::printable(each.text, kShown);
        std::printf("  %-5s  %-5s  %s\n", each.id.c_str(),
                    course.progress.is_right(each.id) ? "right" : "", text.c_str());
    }
}

// "2 of 3 right, 1 begun; 1 of 2 questions".
std::string in_words(const Course& course, const std::string& stage) {
    int right = 0, all = 0, begun = 0, answered = 0, questions = 0;
    for (const Exercise& each : course.exercises) {
        if (each.stage != stage) continue;
        ++all;
        const bool is_right = course.progress.is_right(each.id);
        right += is_right ? 1 : 0;
        begun += !is_right && fs::exists(each.own) ? 1 : 0;
    }
    for (const Question& each : course.questions) {
        if (each.stage != stage) continue;
        ++questions;
        answered += course.progress.is_right(each.id) ? 1 : 0;
    }
    return std::to_string(right) + " of " + std::to_string(all) + " right" +
           (begun > 0 ? ", " + std::to_string(begun) + " begun" : "") +
           (questions > 0
                ? "; questions: " + std::to_string(answered) + " of " + std::to_string(questions)
                : "");
}

void print_stage(const Course& course, const std::string& stage) {
    for (const Exercise& each : course.exercises) {
        if (each.stage != stage) continue;
        const char* const state = course.progress.is_right(each.id) ? "right"
                                  : fs::exists(each.own)            ? "begun"
                                                                    : "";
        std::printf("  %-5s  %-5s  %s\n", each.id.c_str(), state, each.title.c_str());
    }
    print_questions(course, stage);
}

// A line for each stage; that of the next exercise in full.
int list(const Course& course, bool fast) {
    size_t right = 0;
    for (const Exercise& each : course.exercises) right += course.progress.is_right(each.id);
    io::print_heading("Exercises", std::to_string(right) + " of " +
                                       std::to_string(course.exercises.size()) + " right");
    const Exercise* const next = course::next_exercise(course.exercises, course.progress, "", fast);
    std::string stage;
    for (const Exercise& each : course.exercises) {
        if (each.stage == stage) continue;
        stage = each.stage;
        std::printf("%-24s  %s\n", stage.c_str(), in_words(course, stage).c_str());
        if (next != nullptr && next->stage == stage) print_stage(course, stage);
    }
    std::printf("\n");
    io::say(stdout, course::next_text(course.exercises, course.progress, "", fast));
    return 0;
}

int begin(const Exercise& exercise, bool keep) {
    const bool there = fs::exists(exercise.own);
    if (!there && !keep) course::hand_out(exercise.own, io::text_in(exercise.handed_out));
    std::printf("%s\n%s\n%s\n%s\n%s\n",
                there  ? "there"
                : keep ? "none"
                       : "new",
                exercise.operation.c_str(), exercise.shape.c_str(),
                exercise.overflows ? "overflows" : "", exercise.handed_out.c_str());
    return 0;
}

int hint(Course& course, const Exercise& exercise) {
    if (course::say_next_hint(course.progress, exercise.id, exercise.hints))
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
    course::hand_out_again(course.progress, exercise.id, exercise.own, exercise.own_name,
                           io::text_in(exercise.handed_out));
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
    const std::string last = answers.size() == 1 ? words.rest().front() : "";
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

int print_needs(const Question& question) {
    for (const Question::Count& count : question.counts)
        std::printf("%s %s %s\n", count.exercise.c_str(), count.measure.c_str(),
                    count.shape.c_str());
    return 0;
}

int ask(const Question& question) {
    io::say(stdout, question.id + ": " + question.text);
    std::printf("\nAnswer: ./stages check %s --answer NUMBER\n", question.id.c_str());
    return 0;
}

int judge(Course& course, const Question& question, const fs::path& folder,
          const std::string& words) {
    double said = 0;
    try {
        said = course::number_in(words);
    } catch (const std::exception&) {
        throw UsageError("--answer " + io::printable(words) + " is no number; 8, 1.25 and 5/4 are");
    }
    const double right = course::answer_to(question, folder);
    constexpr double kSlack = 0.005;  // 1.33 for 4/3
    if (std::fabs(said - right) > kSlack * std::fabs(right)) {
        io::say(stdout, question.id + ": " + words +
                            " is not what is counted. Look again: " + question.text);
        return 1;
    }
    course.progress.add_right(question.id);
    io::say(stdout,
            question.id + ": RIGHT. Counted just now: " + io::number(right) + ". " + question.why);
    return 0;
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
    if (verb == "needs") return print_needs(course.asked(words.next("a question")));
    if (verb == "ask") return ask(course.asked(words.next("a question")));
    if (verb == "judge") {
        const Question& question = course.asked(words.next("a question"));
        const fs::path folder = words.next("a folder");
        return judge(course, question, folder, words.next("an answer"));
    }
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
