// SPDX-License-Identifier: MIT
// Questions as they are read, answered from records, and held beside a guess; and those of the stages.
#include <fstream>

#include "common/course/predictions/prediction.hpp"
#include "common/io/files.hpp"
#include "common/records/where.hpp"
#include "common/testing/catch.hpp"
#include "common/testing/folder.hpp"

namespace {

namespace fs = std::filesystem;
using course::Answer;
using course::Facts;
using course::Prediction;

// A course of one stage, in a folder that goes away.
class Course {
public:
    Course() { fs::create_directories(folder_.path / kStage); }
    void ask(const std::string& text) const {
        std::ofstream(folder_.path / kStage / "predictions.txt") << text;
    }
    void record(const std::string& path, const std::string& text) const {
        fs::create_directories((folder_.path / path).parent_path());
        std::ofstream(folder_.path / path) << text;
    }
    std::vector<Prediction> predictions() const {
        return course::predictions_of(folder_.path, kStage);
    }
    fs::path path() const { return folder_.path; }

    static constexpr const char* kStage = "03_plain_weave";

private:
    Folder folder_;
};

std::string record(const std::string& variant, const std::string& backend,
                   const std::string& figures) {
    return R"({"stage":"03_plain_weave","variant":")" + variant +
           R"(","role":"ours","op":"softmax","backend":")" + backend +
           R"(","dtype":"float32","rows":8,"cols":16,"shape":{"rows":8,"cols":16},)" + figures +
           "}";
}

std::string file(const std::string& gpu, const std::string& records) {
    return R"({"schema":1,"gpu":")" + gpu + R"(","records":[)" + records + "]}\n";
}

const char* const kTwo =
    "# comment\n[time]\nask: Which is\n    faster?\nleast: us_median\namong: plain, tight\nat: "
    "8x16\n"
    "explains: tight\nwhy: less\n\n[ratio]\nask: How much?\nfigure: us_median\nof: plain\nover: "
    "tight\n"
    "at: 8x16\nunit: times\nwhy: so\n";

}  // namespace

TEST_CASE("a question is answered from the records, and from a run before them") {
    const Course course;
    course.ask(kTwo);
    const std::string gpu = records::kReferenceGpu;
    course.record("03_plain_weave/recorded/" + records::folder_of(gpu) + "/own.json",
                  file(gpu, record("plain", "cuda", R"("us_median":30.0)") + "," +
                                record("tight", "cuda", R"("us_median":10.0)")));
    const std::vector<Prediction> predictions = course.predictions();
    REQUIRE(predictions.size() == 2);
    CHECK(predictions[0].ask == "Which is faster?");
    Facts facts(course.path());
    const Answer which = predictions[0].answer(facts).value(),
                 ratio = predictions[1].answer(facts).value();
    CHECK(which.text == "tight");
    CHECK(which.source == "recorded on " + gpu);
    CHECK(ratio.number == 3.0);
    CHECK(predictions[0].reason(which) == "less");

    // A run of another machine, where it is the other way round: both figures are the run's.
    course.record("results/03_plain_weave.json",
                  file("Another", record("plain", "cuda", R"("us_median":5.0)") + "," +
                                      record("tight", "cuda", R"("us_median":10.0)")));
    facts.add_run(course.path() / "results");
    const Answer here = predictions[0].answer(facts).value();
    CHECK(here.text == "plain");
    CHECK_THAT(here.source, ContainsSubstring("Another"));
    CHECK(predictions[1].answer(facts)->number == 0.5);
    CHECK_THAT(predictions[0].reason(here), ContainsSubstring("records say tight"));

    course.record("results/05_other.json", "{");
    facts.add_run(course.path() / "results");
    CHECK(predictions[0].answer(facts)->text == "tight");
    std::filesystem::remove(course.path() / "results/05_other.json");

    // One that measured only one of the two says nothing of both.
    course.record("results/03_plain_weave.json",
                  file("Another", record("plain", "cuda", R"("us_median":5.0)")));
    facts.add_run(course.path() / "results");
    CHECK(predictions[0].answer(facts)->text == "tight");
}

TEST_CASE("a guess is held beside the fact") {
    Prediction number;
    Answer four;
    four.number = 4;
    four.text = "4 sectors";
    CHECK(number.compare("", four) == "it is 4 sectors");
    CHECK(number.compare("4", four) == "you said 4, it is 4 sectors: exactly");
    CHECK(number.compare(" 1.2e1 ", four) == "you said 1.2e1, it is 4 sectors: 3 times too much");
    CHECK_THAT(number.compare("lots\x1b[31m", four), StartsWith("'lots\\x1b[31m' is no number"));
    CHECK(number.is_right("4.2", four));
    CHECK_FALSE(number.is_right("5", four));
    CHECK_FALSE(number.is_right("", four));
    CHECK(number.is_guess(" 1.2e1 "));
    CHECK(number.is_guess(" "));
    CHECK_FALSE(number.is_guess("abc"));

    Prediction choice;
    choice.choices = {"packed", "packed_twice", "bare"};
    Answer bare;
    bare.text = "bare";
    CHECK(choice.choice_of("C") == "bare");
    CHECK(choice.choice_of("3") == "bare");
    CHECK(choice.choice_of("packed") == "packed");
    CHECK(choice.choice_of("packed_t") == "packed_twice");
    CHECK(choice.choice_of("d").empty());
    CHECK(choice.is_guess("C"));
    CHECK_FALSE(choice.is_guess("d"));
    CHECK(choice.choice_of("4").empty());
    CHECK(choice.is_right("ba", bare));
    CHECK_FALSE(choice.is_right("", bare));
}

TEST_CASE("a sheet with a mistake is refused by its line") {
    const Course course;
    const auto refused = [&](const std::string& text, const std::string& words) {
        course.ask(text);
        INFO(text);
        CHECK_THROWS_WITH(course.predictions(), ContainsSubstring(words));
    };
    refused("ask: what?\n", "line 1");
    refused("[a]\nask: x\nwhose: y\n", "line 3: 'whose' is no key");
    refused("[a]\nask: x\nask: y\n", "line 3");
    refused("[a]\nask: x\nwhy: y\n\n[a]\n", "line 5");
    refused("[a]\nask: x\nwhy: y\nat: 8x16\n", "[a] needs one of figure, most, least and faster");
    refused("[a]\nask: x\nwhy: y\nat: 8x16\nfaster: p\nthan: q\nexplains: red\n",
            "none of its choices");
    refused("[a]\nask: x\nwhy: y\nfigure: gbps\nof: p\n", "[a] has no 'at:'");
}

TEST_CASE("each stage asks three to six questions, whose answers are known and explained") {
    const fs::path repository = STAGES_SOURCE_DIRECTORY;
    Facts facts(repository);
    for (const std::string& stage : records::stage_folders(repository)) {
        const std::vector<Prediction> predictions = course::predictions_of(repository, stage);
        // A stage that somebody has just begun asks nothing yet.
        if (predictions.empty() && !fs::exists(repository / stage / "recorded")) continue;
        INFO(stage);
        CHECK(predictions.size() >= 3);
        CHECK(predictions.size() <= 6);
        for (const Prediction& prediction : predictions) {
            INFO(prediction.name);
            const std::optional<Answer> answer = prediction.answer(facts);
            REQUIRE(answer.has_value());
            if (!prediction.explains.empty()) CHECK(prediction.explains == answer->text);
        }
    }
}
