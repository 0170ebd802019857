// SPDX-License-Identifier: MIT
// Bars beside what was measured, and that records written before k was a whole number are read as those since.
#include "common/course/readme_parts.hpp"
#include "common/operations/topk/operation.hpp"
#include "common/testing/catch.hpp"
#include "common/testing/folder.hpp"

namespace {

runner::Stage stage_with_front_call() {
    runner::Stage stage;
    stage.name = "97_made_up";
    stage.variants.resize(1);
    stage.variants.front().name = "front";
    stage.variants.front().operation =
        operations::topk::operation_of(operations::topk::Kind::softmax_topk);
    return stage;
}

// A read of all bytes takes 10 us.
std::string record(const std::string& variant, const std::string& k, double us) {
    return R"({"stage": "97_made_up", "variant": ")" + variant +
           R"(", "op": "softmax_topk", "dtype": "float32", "bytes": 40000, "roof_gbps": 4,)"
           R"( "shape": {"rows": 10, "cols": 1000, "k": )" +
           k + R"(}, "us_median": )" + std::to_string(us) + "}";
}

}  // namespace

TEST_CASE("bars stand beside what came out") {
    const Folder folder;
    folder.write("97_made_up/expected/bars.json", R"([{"variant": "front", "bars": [
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
    const runner::Stage stage = stage_with_front_call();
    CHECK(course::bars_part(folder.path, stage) == "Not measured on a GPU yet.\n");

    const auto in_blocks = [](std::string one, double us) {
        return one.insert(one.size() - 1, R"(, "us_in_blocks": )" + std::to_string(us));
    };
    const std::string head =
        R"({"schema": 1, "gpu": "G", "driver": "1", "cuda": "2", "nvcc": "3", "date": "2026-01-01T00:00:00Z", "commit": )";
    folder.write("97_made_up/recorded/nvidia_h200/own.json",
                 head + R"("c", "records": [)" + record("front", "5.0", 15) + "," +
                     record("front", "8", 15.5) + "," + record("front", "9", 15) + "," +
                     record("front", "10.0", 15.5) + "]}");
    // There the front call was timed anew, and of the library's two the faster counts.
    folder.write(
        "97_made_up/recorded/nvidia_h200/peers.json",
        head + R"("p", "records": [)" + record("front", "5", 20) + "," + record("lib/a", "5", 25) +
            "," + record("lib/b", "5", 15) + "," + record("other", "5", 1) + "," +
            record("sum/a", "5", 13) + "," + record("sum/b", "5", 12.5) + "," +
            R"({"stage": "97_made_up", "variant": "lib/c", "op": "topk", "dtype": "float32", "us_median": 1, "shape": {"rows": 10,)"
            R"( "cols": 1000, "k": 5}})" +
            "," + record("lib/a", "9", 1) + "," + in_blocks(record("front", "12", 20), 24) + "," +
            in_blocks(record("lib/a", "12", 19), 21) + "," +
            in_blocks(record("lib/b", "12", 18), 22) + "," + record("lib/c", "12", 10) + "," +
            record("other", "12", 21) + "]}");
    CHECK(course::bars_part(folder.path, stage) ==
          "| variant | type | shape | us | beside | its us | ratio | bar |  |\n"
          "|---|---|---|---|---|---|---|---|---|\n"
          "| `front` | float32 | 10 x 1000 k=5 | 15.0 | one read | 10.0 | 1.500 | at most 1.50 | "
          "holds |\n"
          "| `front` | float32 | 10 x 1000 k=8 | 15.5 | one read | 10.0 | 1.550 | at most 1.50 | "
          "**missed** |\n"
          "| `front` | float32 | 10 x 1000 k=9 | 15.0 | - | - | - | at most 15 us | holds |\n"
          "| `front` | float32 | 10 x 1000 k=10 | 15.5 | - | - | - | at most 15 us | **missed** |\n"
          "| `front` | float32 | 10 x 1000 k=11 | - | - | - | - | - | not measured |\n"
          "| `front` | float32 | 10 x 1000 k=8 | 15.5 | the roof | 10.0 | 0.645 | at least 0.65 | "
          "**missed** |\n"
          "| `front` | float32 | 10 x 1000 k=9 | 15.0 | the roof | 10.0 | 0.667 | at least 0.65 | "
          "holds |\n"
          "| `front` | float32 | 10 x 1000 k=5 | 20.0 | `lib/b` | 15.0 | 0.750 | at least 0.80 | "
          "**missed** |\n"
          "| `front` | float32 | 10 x 1000 k=8 | - | - | - | - | - | not measured |\n"
          "| `front` | float16 | 10 x 1000 k=5 | - | - | - | - | - | not measured |\n"
          "| `front` | float32 | 10 x 1000 k=12 | 24.0, in blocks | `lib/a` | 21.0 | 0.875 | at "
          "least 0.80 | holds |\n"
          "| `front` | float32 | 10 x 1000 k=12 | 20.0 | `other` | 21.0 | 1.050 | at least 1.00 | "
          "holds |\n"
          "| `front` | float32 | 10 x 1000 k=5 | 20.0 | `sum/b` | 12.5 | 1.600 | at most 1.60 | "
          "holds |\n"
          "| `front` | float32 | 10 x 1000 k=9 | - | - | - | - | - | not measured |\n"
          "\nG, driver 1, CUDA 2, nvcc 3, commit c, 2026-01-01.\n"
          "\nG, driver 1, CUDA 2, nvcc 3, commit p, 2026-01-01.\n");
}

TEST_CASE("a bar beside a name means that one, also where it computes in several steps") {
    const Folder folder;
    runner::Stage stage = stage_with_front_call();
    runner::Variant chain = stage.variants.front();
    chain.name = "chain";
    chain.operation = operations::topk::operation_of(operations::topk::Kind::topk_of_softmax);
    stage.variants.push_back(chain);
    folder.write(
        "97_made_up/recorded/nvidia_h200/own.json",
        R"({"schema": 1, "gpu": "G", "driver": "1", "cuda": "2", "nvcc": "3", "date": "2026-01-01T00:00:00Z", "commit": "c",)"
        R"( "records": [)" +
            record("front", "5", 20) +
            R"(, {"stage": "97_made_up", "variant": "chain", "op": "topk_of_softmax", "shown_as": "softmax_topk", "dtype": "float32",)"
            R"( "us_median": 30, "shape": {"rows": 10, "cols": 1000, "k": 5}}]})");
    const auto beside = [&](const std::string& than) {
        folder.write("97_made_up/expected/bars.json",
                     R"([{"variant": "front", "speed": 1, "than": ")" + than +
                         R"(", "bars": [{"shape": "10x1000,k=5"}]}])");
        return course::bars_part(folder.path, stage);
    };
    CHECK_THAT(beside("chain"), ContainsSubstring("| 20.0 | `chain` | 30.0 | 1.500 |"));
    CHECK_THAT(beside("chai"), ContainsSubstring("not measured"));  // begins so, and is another
}

TEST_CASE("of another GPU there are the bars that were measured there") {
    const Folder folder;
    const auto document = [](const std::string& gpu, const std::string& records) {
        return R"({"schema": 1, "gpu": ")" + gpu +
               R"(", "driver": "1", "cuda": "2", "nvcc": "3", "date": "2026-01-01T00:00:00Z", "commit": "c",)"
               R"( "records": [)" +
               records + "]}";
    };
    folder.write("97_made_up/expected/bars.json", R"([{"variant": "front", "bars": [
        {"shape": "10x1000,k=5", "us": 18}, {"shape": "10x1000,k=8", "us": 15}]}])");
    folder.write("98_another/recorded/nvidia_g/own.json", "no JSON");
    folder.write("97_made_up/recorded/nvidia_g/own.json", document("G", record("front", "5", 20)));
    const auto part = [&] { return course::bars_part(folder.path, stage_with_front_call()); };
    const std::string head =
        "| variant | type | shape | us | beside | its us | ratio | bar |  |\n"
        "|---|---|---|---|---|---|---|---|---|\n";
    const std::string elsewhere =
        "\nThe same, measured on another GPU:\n\n" + head +
        "| `front` | float32 | 10 x 1000 k=5 | 20.0 | - | - | - | at most 18 us | "
        "**missed** |\n"
        "\nG, driver 1, CUDA 2, nvcc 3, commit c, 2026-01-01.\n";
    CHECK(part() == "Not measured on a GPU yet.\n" + elsewhere);
    folder.write("97_made_up/recorded/nvidia_h200/own.json",
                 document("H", record("front", "8", 15)));
    CHECK(part() ==
          head +
              "| `front` | float32 | 10 x 1000 k=5 | - | - | - | - | - | not measured |\n"
              "| `front` | float32 | 10 x 1000 k=8 | 15.0 | - | - | - | at most 15 us | holds |\n"
              "\nH, driver 1, CUDA 2, nvcc 3, commit c, 2026-01-01.\n" +
              elsewhere);
}

TEST_CASE("k is the same number, written as a whole one or not") {
    const runner::Stage stage = stage_with_front_call();
    const Folder folder;
    for (const char* k : {"5", "5.0"}) {
        folder.write("97_made_up.json",
                     R"({"schema": 1, "records": [)" + record("front", k, 1) + "]}");
        const records::File file = records::read(folder.path / "97_made_up.json");
        CHECK(course::shape_text(file.records.at(0), stage) == "10 x 1000 k=5");
    }
}
