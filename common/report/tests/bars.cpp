// SPDX-License-Identifier: MIT
// Bars beside what was measured.
#include <filesystem>

#include "common/records/where.hpp"
#include "common/report/tests/committed.hpp"
#include "common/testing/catch.hpp"

namespace {

using Json = Committed::Json;

// A read of all bytes takes 10 us.
struct Lists : Committed {
    Lists() : Committed("97_made_up") {}

    Json& add(const std::string& variant, double k, double us, const Json& more = Json::object()) {
        Json& record = Committed::add(variant, "softmax_topk",
                                      {{"rows", 10}, {"cols", 1000}, {"k", k}}, us, more);
        record.update({{"options", "k"}, {"bytes", 40000}, {"roof_gbps", 4}});
        return record;
    }
    void bars(const std::string& text) const { write(stage + "/expected/bars.json", text); }
};

const std::string kHead =
    "| variant | type | shape | us | beside | its us | ratio | bar |  |\n"
    "|---|---|---|---|---|---|---|---|---|\n";

}  // namespace

TEST_CASE("bars stand beside what came out") {
    Lists stage;
    stage.bars(R"([{"variant": "front", "bars": [
        {"shape": "10x1000,k=5", "reads": 1.5}, {"shape": "10x1000,k=8", "reads": 1.5},
        {"shape": "10x1000,k=9", "us": 15}, {"shape": "10x1000,k=10", "us": 15},
        {"shape": "10x1000,k=11", "us": 15}]},
        {"variant": "front", "speed": 0.65, "bars": [{"shape": "10x1000,k=8"}, {"shape": "10x1000,k=9"}]},
        {"variant": "front", "speed": 0.8, "than": "lib", "bars": [{"shape": "10x1000,k=5"}, {"shape": "10x1000,k=8"}]},
        {"variant": "front", "dtype": "float16", "speed": 0.5, "bars": [{"shape": "10x1000,k=5"}]},
        {"variant": "front", "speed": 0.8, "than": "lib", "bars": [{"shape": "10x1000,k=12"}]},
        {"variant": "front", "speed": 1, "than": "other", "bars": [{"shape": "10x1000,k=12"}]},
        {"variant": "front", "than": "sum/", "bars": [
        {"shape": "10x1000,k=5", "reads": 1.6}, {"shape": "10x1000,k=9", "reads": 1.6}]}])");
    stage.add("front", 5, 15);
    stage.add("front", 8, 15.5);
    stage.add("front", 9, 15);
    stage.add("front", 10, 15.5);
    stage.commit(records::kOwn);
    // There the front call was timed anew, and of the library's two the faster counts.
    stage.add("front", 5, 20);
    stage.add("lib/a", 5, 25);
    stage.add("lib/b", 5, 15);
    stage.add("lib/c", 5, 1, {{"op", "topk"}});
    stage.add("other", 5, 1);
    stage.add("sum/a", 5, 13);
    stage.add("sum/b", 5, 12.5);
    stage.add("lib/a", 9, 1);
    stage.add("front", 12, 20, {{"us_in_blocks", 24}});
    stage.add("lib/a", 12, 19, {{"us_in_blocks", 21}});
    stage.add("lib/b", 12, 18, {{"us_in_blocks", 22}});
    stage.add("lib/c", 12, 10);
    stage.add("other", 12, 21);
    stage.commit(records::kPeers, records::folder_of(records::kReferenceGpu), "peers");
    const std::string front = "| `front` | float32 | 10 x 1000 k=";
    CHECK(stage.table("bars") ==
          kHead + front + "5 | 15.0 | one read | 10.0 | 1.500 | at most 1.50 | holds |\n" +  //
              front + "8 | 15.5 | one read | 10.0 | 1.550 | at most 1.50 | **missed** |\n" + front +
              "9 | 15.0 | - | - | - | at most 15 us | holds |\n" + front +
              "10 | 15.5 | - | - | - | at most 15 us | **missed** |\n" + front +
              "11 | - | - | - | - | - | not measured |\n" + front +
              "8 | 15.5 | the roof | 10.0 | 0.645 | at least 0.65 | **missed** |\n" + front +
              "9 | 15.0 | the roof | 10.0 | 0.667 | at least 0.65 | holds |\n" + front +
              "5 | 20.0 | `lib/b` | 15.0 | 0.750 | at least 0.80 | **missed** |\n" + front +
              "8 | - | - | - | - | - | not measured |\n" +
              "| `front` | float16 | 10 x 1000 k=5 | - | - | - | - | - | not measured |\n" + front +
              "12 | 24.0, in blocks | `lib/a` | 21.0 | 0.875 | at least 0.80 | holds |\n" + front +
              "12 | 20.0 | `other` | 21.0 | 1.050 | at least 1.00 | holds |\n" + front +
              "5 | 20.0 | `sum/b` | 12.5 | 1.600 | at most 1.60 | holds |\n" + front +
              "9 | - | - | - | - | - | not measured |\n" + kStamp +
              "\nSome GPU, driver 1.2, CUDA 13.0, nvcc 13.0.1, cublas 13.1.0, commit peers, "
              "2026-01-02.\n");
}

TEST_CASE("a bar beside a name means that one, also where it computes in several steps") {
    Lists stage;
    stage.add("front", 5, 20);
    stage.add("chain", 5, 30, {{"op", "topk_of_softmax"}, {"shown_as", "softmax_topk"}});
    stage.commit(records::kOwn);
    const auto beside = [&](const std::string& than) {
        stage.bars(R"([{"variant": "front", "speed": 1, "than": ")" + than +
                   R"(", "bars": [{"shape": "10x1000,k=5"}]}])");
        return stage.table("bars");
    };
    CHECK_THAT(beside("chain"), ContainsSubstring("| 20.0 | `chain` | 30.0 | 1.500 |"));
    CHECK_THAT(beside("chai"), ContainsSubstring("not measured"));  // begins so, and is another
}

TEST_CASE("of another GPU there are the bars that were measured there") {
    Lists stage;
    stage.bars(R"([{"variant": "front", "bars": [
        {"shape": "10x1000,k=5", "us": 18}, {"shape": "10x1000,k=8", "us": 15}]}])");
    stage.write("98_another/recorded/nvidia_g/own.json", "no JSON");
    stage.add("front", 5, 20);
    stage.commit(records::kOwn, "nvidia_g");
    const std::string elsewhere =
        "\nThe same, measured on another GPU:\n\n" + kHead +
        "| `front` | float32 | 10 x 1000 k=5 | 20.0 | - | - | - | at most 18 us | **missed** |\n" +
        kStamp;
    CHECK(stage.table("bars") == "Not measured on a GPU yet.\n" + elsewhere);
    stage.add("front", 8, 15);
    stage.commit(records::kOwn);
    CHECK(stage.table("bars") ==
          kHead + "| `front` | float32 | 10 x 1000 k=5 | - | - | - | - | - | not measured |\n" +
              "| `front` | float32 | 10 x 1000 k=8 | 15.0 | - | - | - | at most 15 us | holds |\n" +
              kStamp + elsewhere);
}

TEST_CASE("a bar that says nothing is named, and what would be right") {
    Lists stage;
    stage.add("front", 5, 20);
    stage.commit(records::kOwn);
    const auto complains = [&](const std::string& bar, const std::string& of) {
        stage.bars(R"([{"variant": "front", "bars": [{"shape": "10x1000", "us": 1}, )" + bar +
                   "]}]");
        CHECK_THROWS_WITH(stage.table("bars"),
                          ContainsSubstring("bars.json") && ContainsSubstring("bar 2: " + of));
    };
    complains(R"({"us": 15})", "no 'shape'");
    complains(R"({"shape": "10x1000"})", "none of 'reads', 'us' and 'speed'");
    complains(R"({"shape": "10x1000", "us": "few"})", "'us' is \"few\"; wanted: a number");
    stage.bars("[");
    CHECK_THROWS_WITH(stage.table("bars"), ContainsSubstring("not JSON"));
}

TEST_CASE("the committed bars of every stage can be read, and its records answer them") {
    const std::filesystem::path repository = STAGES_SOURCE_DIRECTORY;
    int stages = 0;
    for (const std::string& stage : records::stage_folders(repository)) {
        if (!std::filesystem::exists(records::expected_of(repository, stage) / "bars.json"))
            continue;
        INFO(stage);
        CHECK_THAT(report::table_named("bars", {repository, stage, true}).value(),
                   ContainsSubstring("| holds |"));
        ++stages;
    }
    CHECK(stages > 0);
}
