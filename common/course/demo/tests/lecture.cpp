// SPDX-License-Identifier: MIT
// The lectures of the stages fit a terminal, and the program goes through one by its keys.
#include <poll.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <map>
#include <regex>
#include <set>

#include "common/course/demo/screen.hpp"
#include "common/io/files.hpp"
#include "common/io/text.hpp"
#include "common/records/where.hpp"
#include "common/testing/catch.hpp"
#include "common/testing/folder.hpp"
#include "common/testing/shell.hpp"

namespace {

namespace fs = std::filesystem;
using course::Lecture;

// A course of one stage whose ./stages prints the words that it is given.
class Course {
public:
    Course() {
        write("01_plain/plain.cuh", "one\ntwo\nthree\n");
        write("02_twill/twill.cuh", "one\nzwei\nthree\nfour\n");
        write("02_twill/predictions.txt",
              "[which]\nask: Which?\nleast: us_median\namong: a, b\nat: 8x16\nexplains: a\nwhy: "
              "so\n");
        write("stages",
              "#!/bin/sh\nshift\necho said \"$@\"\n[ \"$1\" != slow ] || sleep 30\n"
              "[ \"$1\" != fail ]\n");
        fs::permissions(folder_.path / "stages", fs::perms::owner_all);
        lecture(
            "[First]\ntext: One line has changed.\nsource: twill.cuh\nfrom: one\nto: three\n"
            "since: 01_plain/plain.cuh\n\n"
            "[Second]\ntext: It runs.\nrun: xray 02\nedit: --as softmax\n\n"
            "[Third]\ntext: It asks.\npredict: which\n");
    }
    void write(const std::string& name, const std::string& text) const {
        fs::create_directories((folder_.path / name).parent_path());
        std::ofstream(folder_.path / name) << text;
    }
    void lecture(const std::string& text) const { write("02_twill/demo.txt", text); }
    Lecture read() const { return course::lecture_of(folder_.path, "02_twill"); }
    const fs::path& path() const { return folder_.path; }
    testing::Ran demo(const std::string& flags, const std::string& before = "") const {
        return testing::ran_in(folder_.path, before + DEMO " . 02_twill " + flags);
    }

private:
    Folder folder_;
};

// The program at a terminal of 24 x 80.
class Terminal {
public:
    Terminal(const Course& course, const std::string& flags) {
        winsize size{24, 80, 0, 0};
        process_ = forkpty(&terminal_, nullptr, nullptr, &size);
        if (process_ != 0) {
            REQUIRE(process_ > 0);
            return;
        }
        const std::string command =
            "cd " + io::quoted(course.path()) + " && exec " DEMO " . 02_twill " + flags;
        execl("/bin/sh", "sh", "-c", command.c_str(), static_cast<char*>(nullptr));
        _exit(127);
    }
    ~Terminal() {
        close(terminal_);
        if (process_ <= 0) return;  // a signal to -1 would go to every process
        kill(process_, SIGKILL);
        waitpid(process_, nullptr, 0);
    }
    Terminal(const Terminal&) = delete;
    Terminal& operator=(const Terminal&) = delete;

    void press(const std::string& keys) const {
        REQUIRE(write(terminal_, keys.data(), keys.size()) == static_cast<ssize_t>(keys.size()));
    }
    void resize(unsigned short columns) const {
        const winsize size{24, columns, 0, 0};
        REQUIRE(ioctl(terminal_, TIOCSWINSZ, &size) == 0);
    }
    // What is printed from here on, up to these words; all that came where they do not within some seconds.
    std::string until(const std::string& words) {
        std::string said;
        char letter = 0;
        while (said.find(words) == std::string::npos && reads(letter)) said += letter;
        INFO(said);
        CHECK(said.find(words) != std::string::npos);
        return said;
    }
    int exit_code() {
        int status = 0;
        char letter = 0;
        while (reads(letter)) {
        }
        waitpid(process_, &status, 0);
        process_ = -1;
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }

private:
    bool reads(char& letter) const {
        constexpr int kMilliseconds = 20000;
        pollfd readable{terminal_, POLLIN, 0};
        return poll(&readable, 1, kMilliseconds) > 0 && read(terminal_, &letter, 1) == 1;
    }

    int terminal_ = -1;
    pid_t process_ = -1;
};

// What stands at the left edge of a header: functions, types and other names for types.
struct Part {
    std::string name, text;
    size_t first, last;  // its lines, from 0
};
std::vector<Part> parts_of(const std::vector<std::string>& lines) {
    static const std::regex kAlias("^using (\\w+) ="), kType("struct [^{]*?(\\w+) \\{"),
        kFunction("\\b(?!__launch_bounds__)(\\w+)\\(");
    std::vector<Part> parts;
    std::string text;
    size_t first = 0;
    for (size_t i = 0; i < lines.size(); ++i) {
        const auto begins = [&](const char* words) { return lines[i].rfind(words, 0) == 0; };
        if (!begins("//") && !begins("#") && !begins("namespace")) text += lines[i] + "\n";
        if (!begins("using ") && !begins("}")) continue;
        const std::string head = text.substr(0, text.find('{') + 1);
        std::smatch name;
        if (std::regex_search(lines[i], name, kAlias) || std::regex_search(head, name, kType) ||
            std::regex_search(head, name, kFunction))
            parts.push_back({name[1], text, first, i});
        text.clear();
        first = i + 1;
    }
    return parts;
}

// Whether a line belongs to what these words name, by way of other names perhaps.
bool uses(const std::vector<Part>& parts, std::string words, size_t line) {
    std::set<const Part*> known;
    for (bool grows = true; grows;) {
        grows = false;
        for (const Part& part : parts) {
            if (known.count(&part) == 1 ||
                !std::regex_search(words, std::regex("\\b" + part.name + "\\b")))
                continue;
            known.insert(&part);
            words += part.text;
            grows = true;
        }
    }
    return std::any_of(known.begin(), known.end(),
                       [&](const Part* part) { return line >= part->first && line <= part->last; });
}

}  // namespace

TEST_CASE("lines that a shortest edit adds are marked") {
    using Lines = std::vector<std::string>;
    CHECK(course::lines_added(Lines{"a", "b", "c"}, Lines{"a", "x", "c", "d"}) ==
          std::vector<bool>{false, true, false, true});
    CHECK(course::lines_added({}, Lines{"a"}) == std::vector<bool>{true});
    CHECK(course::lines_added(Lines{"a", "b"}, Lines{"b", "a"}) == std::vector<bool>{false, true});
}

TEST_CASE(
    "a lecture's steps show what its sheet names, and a sheet that names what is not there is "
    "refused") {
    const Course course;
    const Lecture lecture = course.read();
    REQUIRE(lecture.steps.size() == 3);
    const auto& source = lecture.steps[0].source;
    REQUIRE(source.size() == 3);
    CHECK(source[1].text == "zwei");
    CHECK(source[1].changed);
    CHECK_FALSE(source[0].changed);
    CHECK(lecture.steps[2].edit == "--as softmax");
    for (const auto& [step, words] : std::vector<std::pair<std::string, std::string>>{
             {"source: twill.cuh\nfrom: five\n", "no line of 02_twill/twill.cuh has 'five'"},
             {"predict: why\n", "no prediction why"},
             {"picture: none.svg\n", "no picture none.svg"},
             {"times: a\n", "times need 'at:'"}}) {
        course.lecture("[A step]\ntext: words\n" + step);
        CHECK_THROWS_WITH(course.read(), ContainsSubstring(words));
    }
}

TEST_CASE("keys lead through a lecture") {
    const Course course;
    const auto gone = course.demo("", "printf '\\nn\\nn\\n1\\nb\\nq\\n' | ");
    INFO(gone.text);
    CHECK(gone.exit_code == 0);
    const std::vector<std::string> pages = {"step 1 of 3",    "said xray 02", "Predict: Which?",
                                            "Not known here", "step 1 of 3",  "step 1 of 3"};
    size_t at = 0;
    for (const std::string& page : pages) {
        at = gone.text.find(page, at);
        REQUIRE(at != std::string::npos);
        at += page.size();
    }
    CHECK_THAT(gone.text, ContainsSubstring("2 + zwei") && !ContainsSubstring("\x1b"));
    CHECK(course.demo("< /dev/null").exit_code == 0);
    CHECK_THAT(course.demo("--from 3", "printf 'q\\n' | ").text, StartsWith("02_twill"));

    const auto itself = course.demo("--auto 0 --from 2");
    CHECK(itself.exit_code == 0);
    CHECK_THAT(itself.text, ContainsSubstring("said xray") && ContainsSubstring("Not known here"));

    // The copy has the header's lines; the editor opens the one that was shown last, wherever it is now.
    course.write("02_twill/twill.cuh", "#include \"weft.cuh\"\none\nzwei\nthree\nfour\n");
    course.write("vi", "#!/bin/sh\necho edits \"$1\" $2\nsed -i '1i new' \"$2\"\n");
    fs::permissions(course.path() / "vi", fs::perms::owner_all);
    const auto edited =
        course.demo("--from 2", "export EDITOR=./vi VISUAL=; printf 'e\\n\\ne\\n\\nq\\n' | ");
    CHECK_THAT(edited.text, ContainsSubstring("said try my/02_demo.cuh --as softmax") &&
                                ContainsSubstring("edits +2 ./my") &&
                                ContainsSubstring("edits +3 ./my"));
    CHECK(io::text_in(course.path() / "my/02_demo.cuh") ==
          "new\nnew\n#include \"../02_twill/weft.cuh\"\none\nzwei\nthree\nfour\n");
    CHECK_THAT(course.demo("--prepare").text,
               ContainsSubstring("my/02_demo.cuh differs from 02_twill/twill.cuh"));

    CHECK_THAT(course.demo("--prepare").text,
               ContainsSubstring("1 of 2: ./stages xray 02 ... ready") &&
                   ContainsSubstring("All is ready"));
    course.lecture("[A step]\ntext: words\nrun: fail 3\n");
    const auto failed = course.demo("--prepare");
    CHECK(failed.exit_code == 1);
    CHECK_THAT(failed.text, ContainsSubstring("fail 3 ... FAILED"));
    course.lecture("[A step]\ntext: words\nrun: xray 02\nshow: wavefronts\n");
    CHECK_THAT(course.demo("--prepare").text, ContainsSubstring("does not print 'wavefronts'"));
    for (const std::string flags :
         {"--auto x", "--auto", "--from 2", "--from 0", "--from 1.5", "--bogus"})
        CHECK(course.demo(flags).exit_code == 2);
}

TEST_CASE("an edited copy that does not compile is no reason to be unprepared") {
    const Course course;
    course.write("stages", "#!/bin/sh\necho \"a: error: $*\"\nexit 1\n");
    course.lecture("[A step]\ntext: words\nedit: --as softmax\n");
    CHECK(course.demo("--prepare").exit_code == 1);
    course.write("my/02_demo.cuh", "of a rehearsal\n");
    CHECK(course.demo("--prepare").exit_code == 0);
}

TEST_CASE("at a terminal commands can be stopped, and what is typed meanwhile is dropped") {
    const Course course;
    course.lecture(
        "[First]\ntext: It waits.\nrun: slow\n\n[Second]\ntext: It asks.\npredict: which\n\n"
        "[Third]\ntext: It ends.\n");
    Terminal terminal(course, "");
    terminal.until("running");
    terminal.press("\n\n\n");
    terminal.press("n");
    terminal.until("stopped");
    terminal.until("q end");
    terminal.press("r");
    terminal.until("running");
    terminal.press("\x03");
    terminal.until("stopped");
    terminal.until("q end");
    terminal.press("\n");
    terminal.until("Predict");
    terminal.until("q end");
    // Digits are no jump while a question waits: the Enter behind them answers.
    terminal.press("1\n");
    terminal.until("Not known here");
    terminal.until("q end");
    terminal.resize(60);
    terminal.until("step 2 of 3");
    terminal.until("q end");
    terminal.press("b");
    terminal.until("stopped");
    terminal.until("q end");
    terminal.press("3\n");
    terminal.until("step 3 of 3");
    terminal.until("q end");
    terminal.press("b");
    terminal.until("q end");
    terminal.press("\x03");
    terminal.until("--from 2");
    CHECK(terminal.exit_code() == 130);
}

TEST_CASE("after an edit a lecture checks the launcher that uses the lines on the screen") {
    const fs::path repository = STAGES_SOURCE_DIRECTORY;
    int steps = 0;
    for (const std::string& stage : records::stage_folders(repository)) {
        if (!fs::exists(repository / stage / "demo.txt")) continue;
        for (const course::Step& step : course::lecture_of(repository, stage).steps) {
            static const std::regex kLauncher("--launcher ('[^']*'|\\S+)");
            std::smatch words;
            if (step.source.empty() || step.source_name.rfind(stage, 0) != 0 ||
                !std::regex_search(step.edit, words, kLauncher))
                continue;
            const auto lines = io::lines_in(io::text_in(repository / step.source_name));
            INFO(stage << ": " << step.title);
            CHECK(uses(parts_of(lines), words[1], static_cast<size_t>(step.source[0].number) - 1));
            ++steps;
        }
    }
    CHECK(steps > 0);
}

TEST_CASE("each step of each stage's lecture fits a terminal of 80 x 24") {
    const fs::path repository = STAGES_SOURCE_DIRECTORY;
    course::Facts facts(repository);
    int lectures = 0;
    for (const std::string& stage : records::stage_folders(repository)) {
        if (!fs::exists(repository / stage / "demo.txt")) continue;
        ++lectures;
        const Lecture lecture = course::lecture_of(repository, stage);
        for (size_t i = 0; i < lecture.steps.size(); ++i) {
            course::Shown shown;
            shown.answered = true;
            shown.output = std::string(2000, '\n');
            const auto rows = rows_of(lecture, i, shown, facts, {});
            INFO(stage << ", step " << i + 1 << "\n" << course::printed(rows, false));
            CHECK(rows.size() < 24);
            for (const course::Row& row : rows) {
                CHECK(row.text.size() <= 80);
            }
            // Not every variant takes every shape.
            std::map<std::string, bool> has_time;
            for (const course::Place& place : lecture.steps[i].times) {
                const bool is_known = facts.find("us_median", {place}).has_value();
                for (const std::string& name : {place.variant, place.shape})
                    has_time[name] = has_time[name] || is_known;
            }
            for (const auto& [name, has] : has_time) {
                INFO(name);
                CHECK(has);
            }
        }
    }
    CHECK(lectures > 0);
}

TEST_CASE("the plans name steps, exercises and bugs that there are") {
    const fs::path repository = STAGES_SOURCE_DIRECTORY;
    const std::string plans =
        io::text_in(repository / "LECTURES.md") + io::text_in(repository / "INSTRUCTORS.md");
    REQUIRE_FALSE(plans.empty());
    std::map<std::string, std::string> stages;  // by their numbers
    for (const std::string& stage : records::stage_folders(repository))
        stages[stage.substr(0, 2)] = stage;
    const auto each = [&](const std::string& pattern, const auto& check) {
        const std::regex words(pattern);
        int found = 0;
        for (std::sregex_iterator one(plans.begin(), plans.end(), words), end; one != end; ++one) {
            INFO(one->str());
            REQUIRE(stages.count((*one)[1]) == 1);
            check(*one, repository / stages[(*one)[1]]);
            ++found;
        }
        CHECK(found > 0);
    };
    each("\\b(\\d\\d): (\\d+)(?:-(\\d+))?", [&](const std::smatch& words, const fs::path& stage) {
        const auto steps =
            static_cast<int>(course::lecture_of(repository, stage.filename()).steps.size());
        CHECK(std::stoi(words[2]) >= 1);
        CHECK(std::stoi(words[words[3].matched ? 3 : 2]) <= steps);
    });
    // A row's last column begins with the questions that its steps ask.
    each(
        "\\| [^|]*\\b(\\d\\d): (\\d+)(?:-(\\d+))? \\| (?:steps? ([0-9, and]+))?",
        [&](const std::smatch& words, const fs::path& stage) {
            std::string wanted;
            const Lecture lecture = course::lecture_of(repository, stage.filename());
            const int last = std::stoi(words[words[3].matched ? 3 : 2]);
            std::vector<std::string> questions;
            for (int i = std::stoi(words[2]);
                 i <= last && i <= static_cast<int>(lecture.steps.size()); ++i) {
                if (lecture.steps[static_cast<size_t>(i) - 1].prediction)
                    questions.push_back(std::to_string(i));
            }
            for (size_t i = 0; i < questions.size(); ++i)
                wanted += (i == 0 ? "" : i + 1 == questions.size() ? " and " : ", ") + questions[i];
            CHECK(io::trimmed(words[4]) == wanted);
        });
    each("\\b(\\d\\d)\\.\\d\\b", [&](const std::smatch& words, const fs::path& stage) {
        CHECK(fs::exists(stage / "exercises" / (words.str() + ".cuh")));
    });
    each("\\b(\\d\\d)\\.bug\\d\\b", [&](const std::smatch& words, const fs::path& stage) {
        CHECK(fs::exists(stage / "bugs" / (words.str() + ".json")));
    });
}
