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
std::string record(const std::string& k, double us) {
    return R"({"variant": "front", "op": "softmax_topk", "dtype": "float32", "bytes": 40000, "roof_gbps": 4,)"
           R"( "shape": {"rows": 10, "cols": 1000, "k": )" +
           k + R"(}, "us_median": )" + std::to_string(us) + "}";
}

}  // namespace

TEST_CASE("bars stand beside what came out, in reads or in microseconds") {
    const Folder folder;
    const std::filesystem::path records = folder.path, bars = records / "bars.json";
    folder.write("bars.json", R"({"variant": "front", "bars": [
        {"shape": "10x1000,k=5", "reads": 1.5}, {"shape": "10x1000,k=8", "reads": 1.5},
        {"shape": "10x1000,k=9", "us": 15}, {"shape": "10x1000,k=10", "us": 15},
        {"shape": "10x1000,k=11", "us": 15}]})");
    const runner::Stage stage = stage_with_front_call();
    CHECK(course::bars_part(records, stage, bars) == "Not measured on a GPU yet.\n");

    folder.write("97_made_up.json",
                 R"({"gpu": "G", "driver": "1", "cuda": "2", "nvcc": "3", "commit": "c",)"
                 R"( "date": "2026-01-01T00:00:00Z", "records": [)" +
                     record("5.0", 15) + "," + record("8", 15.5) + "," + record("9", 15) + "," +
                     record("10.0", 15.5) + "]}");
    CHECK(course::bars_part(records, stage, bars) ==
          "| shape | one read, us | measured us | in reads | bar |  |\n"
          "|---|---|---|---|---|---|\n"
          "| 10 x 1000 k=5 | 10.0 | 15.0 | 1.50 | 1.50 | holds |\n"
          "| 10 x 1000 k=8 | 10.0 | 15.5 | 1.55 | 1.50 | **missed** |\n"
          "| 10 x 1000 k=9 | 10.0 | 15.0 | 1.50 | 15 us | holds |\n"
          "| 10 x 1000 k=10 | 10.0 | 15.5 | 1.55 | 15 us | **missed** |\n"
          "| 10 x 1000 k=11 | - | - | - | - | not measured |\n"
          "\nG, driver 1, CUDA 2, nvcc 3, commit c, 2026-01-01.\n");
}

TEST_CASE("k is the same number, written as a whole one or not") {
    const runner::Stage stage = stage_with_front_call();
    for (const char* k : {"5", "5.0"}) {
        CHECK(course::shape_text(nlohmann::ordered_json::parse(record(k, 1)), stage) ==
              "10 x 1000 k=5");
    }
}
