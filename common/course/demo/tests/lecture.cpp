// SPDX-License-Identifier: MIT
// The lectures of the stages fit a terminal, and the program goes through one by its keys.
#include <fstream>
#include <map>
#include <regex>

#include "common/course/demo/screen.hpp"
#include "common/io/files.hpp"
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
        write("stages", "#!/bin/sh\necho said \"$@\"\n[ \"$1\" != fail ]\n");
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
    testing::Ran demo(const std::string& flags, const std::string& before = "") const {
        return testing::ran_in(folder_.path, before + DEMO " . 02_twill " + flags);
    }

private:
    Folder folder_;
};

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
    const std::vector<std::string> pages = {"step 1 of 3",     "said xray 02 --no-install",
                                            "Predict: Which?", "Not known here",
                                            "step 1 of 3",     "step 1 of 3"};
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

    const auto edited =
        course.demo("--from 2", "export EDITOR=true VISUAL=; printf 'e\\n\\nq\\n' | ");
    CHECK_THAT(edited.text, ContainsSubstring("said try my/02_demo.cuh --as softmax"));

    CHECK_THAT(course.demo("--prepare").text, ContainsSubstring("./stages xray 02 ... ready") &&
                                                  ContainsSubstring("All is ready"));
    course.lecture("[A step]\ntext: words\nrun: fail 3\n");
    const auto failed = course.demo("--prepare");
    CHECK(failed.exit_code == 1);
    CHECK_THAT(failed.text, ContainsSubstring("fail 3 ... FAILED"));
    course.lecture("[A step]\ntext: words\nrun: xray 02\nshow: wavefronts\n");
    CHECK_THAT(course.demo("--prepare").text, ContainsSubstring("does not print 'wavefronts'"));
    for (const std::string flags : {"--auto x", "--auto", "--from 2", "--from 0", "--bogus"})
        CHECK(course.demo(flags).exit_code == 2);
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
                // Only a word that is too long by itself may be in a line that is.
                CHECK((row.text.size() <= 80 || row.text.find_last_of(' ') < 12));
            }
            for (const course::Place& place : lecture.steps[i].times)
                CHECK(facts.find("us_median", {place}).has_value());
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
    each("\\b(\\d\\d)\\.\\d\\b", [&](const std::smatch& words, const fs::path& stage) {
        CHECK(fs::exists(stage / "exercises" / (words.str() + ".cuh")));
    });
    each("\\b(\\d\\d)\\.bug\\d\\b", [&](const std::smatch& words, const fs::path& stage) {
        CHECK(fs::exists(stage / "bugs" / (words.str() + ".json")));
    });
}
