// SPDX-License-Identifier: MIT
//
// exercises ROOT VERB ...: what ./stages check has to know of the exercises and says of them. common/front_door/check.sh
// compiles and runs between the calls.
//   list [--fast]              all exercises, what is right, and what is next
//   ids [--fast] [--present] [WORD...]
//                              those that the words mean (03.1, or a stage: all of its), a line each; none: all.
//                              --present: of those the ones that my/ has a file of
//   answered [WORD...]         the questions and bugs that the words name; of stages, or without words of all, those
//                              that my/answers.txt has an answer to
//   begin ID [--keep]          hands it out where my/ has no such file (--keep: does not), and prints, a line each: new,
//                              there or none; the operation; the shape; overflows or nothing; the file handed out
//   solve ID                   the exercise with its solution
//   receive FOLDER SEED        reads a word and then a document (verdict_channel.hpp) from standard input, and puts it
//                              into FOLDER as verdict.json. Exit status 1 where it has not that word and that seed
//   report [--json] [--fast] [--new] [--changed=FILE]... FOLDER ID...
//                              what FOLDER/ID has of each becomes an answer; with --json also of questions and bugs,
//                              and of the course's files that have changed meanwhile. Exit status 0 where all are right
//                              and no file has changed, else 1
//   state FOLDER ID            its state there, a word or a few
//   hint ID, solution ID, reset ID   a question has hints as well
//   needs ID                   what has to be counted to answer a question, a line each: EXERCISE MEASURE SHAPE;
//                              nothing for a bug
//   ask ID                     the question
//   judge ID FOLDER ANSWER     whether that is the answer. Exit status 0 or 1
//   causes FILE                of a verdict on several launchers (grade_main.cpp), a line each: NAME|CAUSE, CAUSE
#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <iterator>
#include <set>
#include <stdexcept>

#include "common/course/bugs/bug.hpp"
#include "common/course/bugs/caught.hpp"
#include "common/course/check/answer.hpp"
#include "common/course/check/answers.hpp"
#include "common/course/check/question.hpp"
#include "common/course/check/task.hpp"
#include "common/io/files.hpp"
#include "common/io/standard_output.hpp"
#include "common/io/table.hpp"
#include "common/io/text.hpp"

namespace {

namespace fs = std::filesystem;
using course::Answers;
using course::Bug;
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
    // The values of all flags NAME=VALUE, which are taken away.
    std::vector<std::string> values_of(const std::string& name) {
        std::vector<std::string> values, others;
        for (const std::string& word : words_) {
            const bool is_one = word.rfind(name + "=", 0) == 0;
            (is_one ? values : others).push_back(is_one ? word.substr(name.size() + 1) : word);
        }
        words_ = others;
        return values;
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
    std::vector<Bug> bugs;
    Answers answers;
    Progress progress;

    explicit Course(const fs::path& folder)
        : root(folder),
          exercises(course::all_exercises(folder)),
          questions(course::all_questions(folder)),
          bugs(course::all_bugs(folder)),
          answers(folder),
          progress(folder) {
        for (const Question& question : questions) {
            for (const Question::Count& count : question.counts) called(count.exercise);
        }
    }

    const Exercise& called(const std::string& word) const {
        return course::called(exercises, word, "exercise");
    }
    const Question& asked(const std::string& word) const {
        return course::called(questions, word, "question");
    }
};

// What a word names: "03.1", "01.a", "05.bug2"; anything else means a stage.
enum class Kind { kExercise, kQuestion, kBug, kStage };
Kind kind_of(const std::string& word) {
    const size_t dot = word.find('.');
    if (dot == std::string::npos) return Kind::kStage;
    const std::string after = word.substr(dot + 1);
    if (after.compare(0, 3, "bug") == 0) return Kind::kBug;
    return after.size() == 1 && std::islower(static_cast<unsigned char>(after[0])) != 0
               ? Kind::kQuestion
               : Kind::kExercise;
}

int print_ids(const Course& course, bool fast, bool present,
              const std::vector<std::string>& all_words) {
    std::vector<std::string> words;  // those of exercises, and of stages
    std::copy_if(all_words.begin(), all_words.end(), std::back_inserter(words),
                 [](const std::string& word) {
                     return kind_of(word) == Kind::kExercise || kind_of(word) == Kind::kStage;
                 });
    if (words.empty() && !all_words.empty()) return 0;  // no words would mean all
    const auto is_taken = [&](const Exercise& one) {
        return !fast || course::is_first_of_stage(one);
    };
    for (const std::string& id : course::ids_of(course.exercises, words, "exercise", is_taken)) {
        if (!present || fs::exists(course.called(id).own)) std::printf("%s\n", id.c_str());
    }
    return 0;
}

template <class One>
void print_answered(const Course& course, const std::vector<One>& all, Kind kind, const char* name,
                    const std::vector<std::string>& words) {
    std::set<std::string> named;
    for (const std::string& word : words) {
        if (kind_of(word) == kind) named.insert(course::called(all, word, name).id);
    }
    for (const One& each : all) {
        const bool is_meant =
            words.empty() || std::any_of(words.begin(), words.end(), [&](const std::string& word) {
                return course::means_stage(word, each.stage);
            });
        if (named.count(each.id) > 0 || (is_meant && !course.answers.to(each.id).empty()))
            std::printf("%s\n", each.id.c_str());
    }
}

int print_answered(const Course& course, const std::vector<std::string>& words) {
    print_answered(course, course.questions, Kind::kQuestion, "question", words);
    print_answered(course, course.bugs, Kind::kBug, "bug", words);
    return 0;
}

// The beginning of a text, up to the end of a word.
std::string beginning_of(const std::string& text) {
    constexpr size_t kShown = 62;
    if (text.size() <= kShown) return text;
    const std::string dots = " ...";
    return text.substr(0, text.rfind(' ', kShown - dots.size())) + dots;
}

void print_line(const std::string& id, const char* state, const std::string& text) {
    std::printf("  %-7s  %-5s  %s\n", id.c_str(), state, beginning_of(text).c_str());
}

// "right", "begun" if the learner has its file, or nothing.
const char* state_of(const Course& course, const std::string& id, const fs::path& own) {
    return course.progress.is_right(id) ? "right" : !own.empty() && fs::exists(own) ? "begun" : "";
}

// A stage's questions and planted bugs, the beginning of each.
void print_questions_and_bugs(const Course& course, const std::string& stage) {
    for (const Question& each : course.questions) {
        if (each.stage == stage) print_line(each.id, state_of(course, each.id, ""), each.text);
    }
    for (const Bug& each : course.bugs) {
        if (each.stage == stage)
            print_line(each.id, state_of(course, each.id, each.own), each.symptom);
    }
}

struct Tally {
    int right = 0, all = 0;
};
template <class One>
Tally tally_of(const Course& course, const std::vector<One>& all, const std::string& stage) {
    Tally tally;
    for (const One& each : all) {
        if (!stage.empty() && each.stage != stage) continue;
        ++tally.all;
        tally.right += course.progress.is_right(each.id) ? 1 : 0;
    }
    return tally;
}
std::string text_of(const Tally& tally) {
    return std::to_string(tally.right) + " of " + std::to_string(tally.all);
}

// "2 of 3 right, 1 begun; questions: 1 of 2; bugs: 0 of 4".
std::string in_words(const Course& course, const std::string& stage) {
    const auto begun =
        std::count_if(course.exercises.begin(), course.exercises.end(), [&](const Exercise& each) {
            return each.stage == stage && !course.progress.is_right(each.id) &&
                   fs::exists(each.own);
        });
    const Tally questions = tally_of(course, course.questions, stage);
    const Tally bugs = tally_of(course, course.bugs, stage);
    return text_of(tally_of(course, course.exercises, stage)) + " right" +
           (begun > 0 ? ", " + std::to_string(begun) + " begun" : "") +
           (questions.all > 0 ? "; questions: " + text_of(questions) : "") +
           (bugs.all > 0 ? "; bugs: " + text_of(bugs) : "");
}

void print_stage(const Course& course, const std::string& stage, bool fast) {
    for (const Exercise& each : course.exercises) {
        if (each.stage == stage && (!fast || course::is_first_of_stage(each)))
            print_line(each.id, state_of(course, each.id, each.own), each.title);
    }
    if (!fast) print_questions_and_bugs(course, stage);
}

// The fast track: a line for each of its exercises.
void list_track(const Course& course) {
    std::vector<Exercise> track;
    std::copy_if(course.exercises.begin(), course.exercises.end(), std::back_inserter(track),
                 course::is_first_of_stage);
    io::print_heading("The fast track", text_of(tally_of(course, track, "")) + " right");
    for (const Exercise& each : track) print_stage(course, each.stage, true);
}

// A line for each stage; that of the next exercise in full.
void list_stages(const Course& course) {
    io::print_heading("Exercises", text_of(tally_of(course, course.exercises, "")) + " right");
    const Exercise* const next =
        course::next_exercise(course.exercises, course.progress, "", false);
    std::string stage;
    for (const Exercise& each : course.exercises) {
        if (each.stage == stage) continue;
        stage = each.stage;
        std::printf("%-24s  %s\n", stage.c_str(), in_words(course, stage).c_str());
        if (next != nullptr && next->stage == stage) print_stage(course, stage, false);
    }
}

// The first question or bug that is open, and how many are; nothing where none is.
std::string open_text(const Course& course) {
    std::vector<std::string> ids;
    for (const Question& each : course.questions) ids.push_back(each.id);
    for (const Bug& each : course.bugs) ids.push_back(each.id);
    const auto is_right = [&](const std::string& id) { return course.progress.is_right(id); };
    ids.erase(std::remove_if(ids.begin(), ids.end(), is_right), ids.end());
    if (ids.empty()) return "";
    return std::to_string(ids.size()) +
           " questions and planted bugs are open. Next: ./stages check " + ids.front();
}

// What comes next; what is said at the end of the exercises only where that has just been reached.
void print_next(const Course& course, const std::string& last, bool fast, bool was_at_end) {
    const bool at_end =
        course::next_exercise(course.exercises, course.progress, last, fast) == nullptr;
    if (!at_end || !was_at_end)
        io::say(stdout, course::next_text(course.exercises, course.progress, last, fast));
    if (at_end) io::say(stdout, open_text(course));
}

int list(const Course& course, bool fast) {
    if (fast) {
        list_track(course);
    } else {
        list_stages(course);
    }
    std::printf("\n");
    print_next(course, "", fast, false);
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
    course::say_next_hint(course.progress, exercise.id, exercise.hints, "the lines");
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

// Whether that is the answer to the question whose counts `folder` has.
bool is_answer(const Question& question, const fs::path& folder, const std::string& words) {
    constexpr double kSlack = 0.005;  // 1.33 for 4/3
    const double right = course::answer_to(question, folder);
    return std::fabs(course::number_in(words) - right) <= kSlack * std::fabs(right);
}

// What a document says of a question or bug: its id, what it asks, the answer in my/answers.txt, and the state.
json judged(const Course& course, const std::string& id, const fs::path& folder) {
    const std::string answer = course.answers.to(id);
    std::string text;
    bool right = false;
    if (kind_of(id) == Kind::kQuestion) {
        const Question& question = course.asked(id);
        text = question.text;
        try {
            right = !answer.empty() && is_answer(question, folder, answer);
        } catch (const std::invalid_argument&) {  // no number
        }
    } else {
        const Bug& bug = course::called(course.bugs, id, "bug");
        text = bug.symptom;
        const size_t line = course::line_number(answer);
        right = line > 0 && course::wrong_lines(bug, course.root).has(line);
    }
    return {{kind_of(id) == Kind::kQuestion ? "question" : "bug", id},
            {"text", text},
            {"answer", answer},
            {"state", right            ? "right"
                      : answer.empty() ? "open"
                                       : "wrong"}};
}

// The causes of findings by names that stay: those of a check (caught.hpp), or `launcher`.
json with_named_causes(json exercise) {
    static const std::set<std::string> kOwn = {"compile", "includes", "ended", "copies"};
    for (json& finding : exercise["findings"]) {
        const std::string cause = finding.at("cause");
        const std::string check = course::check_of(cause);
        finding["cause"] = check != cause || kOwn.count(cause) > 0 ? check : "launcher";
    }
    return exercise;
}

int print_document(const Course& course, const std::vector<json>& exercises,
                   const std::vector<std::string>& others, const fs::path& folder,
                   const std::vector<std::string>& changed) {
    json document = {{"schema", 3},
                     {"exercises", json::array()},
                     {"questions", json::array()},
                     {"bugs", json::array()},
                     {"changed", changed}};
    for (const json& each : exercises) document["exercises"].push_back(with_named_causes(each));
    for (const std::string& id : others)
        document[kind_of(id) == Kind::kQuestion ? "questions" : "bugs"].push_back(
            judged(course, id, folder / id));
    std::ptrdiff_t right = 0, all = 0;
    for (const char* kind : {"exercises", "questions", "bugs"}) {
        const json& those = document[kind];
        right += std::count_if(those.begin(), those.end(), course::is_right);
        all += static_cast<std::ptrdiff_t>(those.size());
    }
    document["right"] = right;
    document["of"] = all;
    std::printf("%s\n", document.dump(1, ' ', false, json::error_handler_t::replace).c_str());
    return all > 0 && right == all && changed.empty() ? 0 : 1;
}

int receive(const fs::path& folder, const std::string& seed) {
    std::string nonce, line;
    std::getline(std::cin, nonce);
    std::getline(std::cin, line);
    json document = json::parse(line, nullptr, false);
    if (!document.is_object() || nonce.empty() || document.value("nonce", json()) != json(nonce) ||
        document.value("seed", json()).dump() != seed)
        return 1;
    document.erase("nonce");
    io::replace_file(folder / "verdict.json", document.dump(1) + "\n");
    return 0;
}

// What the stages of these exercises have besides.
void print_others_of_stages(const Course& course, const std::vector<std::string>& ids) {
    std::set<std::string> stages;
    for (const std::string& id : ids) {
        const std::string stage = course.called(id).stage;
        if (stages.empty()) std::printf("\n");
        if (stages.insert(stage).second) print_questions_and_bugs(course, stage);
    }
}

int report(Course& course, Words& words) {
    const bool as_json = words.flag("--json");
    course::Manner manner;
    manner.fast = words.flag("--fast");
    manner.is_new = words.flag("--new");
    const std::vector<std::string> changed = words.values_of("--changed");
    const fs::path folder = words.next("a folder");
    const bool was_at_end =
        course::next_exercise(course.exercises, course.progress, "", manner.fast) == nullptr;
    std::vector<json> answers;
    std::vector<std::string> others;
    for (const std::string& id : words.rest()) {
        if (kind_of(id) != Kind::kExercise) {
            others.push_back(id);
            continue;
        }
        answers.push_back(course::answer_of(course.called(id), folder / id));
        if (course::is_right(answers.back())) course.progress.add_right(id);
    }
    if (as_json) return print_document(course, answers, others, folder, changed);
    const bool all_right = std::all_of(answers.begin(), answers.end(), course::is_right);
    const std::string last = answers.size() == 1 ? words.rest().front() : "";
    if (answers.size() == 1) {
        course::print_answer(course.called(last), answers.front(), manner);
    } else {
        course::print_answers(answers);
        print_others_of_stages(course, words.rest());
    }
    std::printf("\n");
    if (all_right || answers.size() != 1) {
        print_next(course, last, manner.fast, was_at_end);
    } else {
        std::printf(
            "Edit %s, then: ./stages check %s\n--hint gives a hint, --watch answers at every "
            "save.\n",
            course.called(last).own_name.c_str(), last.c_str());
    }
    return all_right ? 0 : 1;
}

int print_needs(const Course& course, const std::string& id) {
    if (kind_of(id) == Kind::kBug) return 0;
    const Question& question = course.asked(id);
    for (const Question::Count& count : question.counts)
        std::printf("%s %s %s\n", count.exercise.c_str(), count.measure.c_str(),
                    count.shape.c_str());
    return 0;
}

int ask(const Question& question) {
    io::say(stdout, question.id + ": " + question.text);
    std::printf("\nAnswer: ./stages check %s --answer NUMBER\n--hint helps.\n",
                question.id.c_str());
    return 0;
}

int judge(Course& course, const Question& question, const fs::path& folder,
          const std::string& words) {
    bool right = false;
    try {
        right = is_answer(question, folder, words);
    } catch (const std::invalid_argument&) {
        throw UsageError("--answer " + io::printable(words) + " is no number; 8, 1.25 and 5/4 are");
    }
    const bool was_right =
        course::note_answer(course.answers, course.progress, question.id, words, right);
    if (!right) {
        io::say(stdout, question.id + ": " + words +
                            " is not what is counted. Look again: " + question.text);
        if (was_right) io::say(stdout, "Your right answer stays noted.");
        std::printf("\n./stages check %s --hint helps.\n", question.id.c_str());
        return 1;
    }
    io::say(stdout, question.id + ": RIGHT. Counted just now: " +
                        io::number(course::answer_to(question, folder)) + ". " + question.why);
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
    if (verb == "state") {
        const fs::path folder = words.next("a folder");
        const Exercise& exercise = course.called(words.next("an exercise"));
        const json answer = course::answer_of(exercise, folder / exercise.id);
        std::printf("%s\n", answer.at("state").get<std::string>().c_str());
        return 0;
    }
    if (verb == "receive") {
        const fs::path folder = words.next("a folder");
        return receive(folder, words.next("a seed"));
    }
    const bool fast = words.flag("--fast");
    if (verb == "list") return list(course, fast);
    if (verb == "ids") {
        const bool present = words.flag("--present");
        return print_ids(course, fast, present, words.rest());
    }
    if (verb == "answered") return print_answered(course, words.rest());
    if (verb == "needs") return print_needs(course, words.next("a question"));
    if (verb == "ask") return ask(course.asked(words.next("a question")));
    if (verb == "judge") {
        const Question& question = course.asked(words.next("a question"));
        const fs::path folder = words.next("a folder");
        return judge(course, question, folder, words.next("an answer"));
    }
    if (verb == "causes") return print_causes(words.next("a file"));
    if (verb == "hint" && !words.rest().empty() &&
        kind_of(words.rest().front()) == Kind::kQuestion) {
        const Question& question = course.asked(words.next("a question"));
        course::say_next_hint(course.progress, question.id, question.hints, "");
        return 0;
    }
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
