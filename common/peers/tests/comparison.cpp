// SPDX-License-Identifier: MIT
#include "common/peers/comparison.hpp"

#include <filesystem>

#include <nlohmann/json.hpp>

#include "common/testing/catch.hpp"
#include "common/testing/folder.hpp"

using course::comparison_part;
using nlohmann::json;

namespace {

constexpr const char* kStage = "04_warp_softmax";

// A folder of records.
struct Records : Folder {
    void write(const std::vector<json>& records) const {
        const json document = {{"schema", 1},        {"gpu", "Some GPU"},
                               {"driver", "1.2"},    {"cuda", "13.0"},
                               {"nvcc", "13.0.1"},   {"commit", "abc"},
                               {"records", records}, {"date", "2026-01-02T03:04:05Z"}};
        Folder::write("peers.json", document.dump());
    }
};

json record(const std::string& variant, const std::string& role, int64_t length, double us) {
    return {
        {"stage", kStage}, {"variant", variant}, {"role", role},
        {"op", "softmax"}, {"dtype", "float32"}, {"rows", 2048 * length},
        {"cols", length},  {"us_median", us},    {"max_rel_err", role == "invalid" ? 54.3 : 2e-7}};
}

}  // namespace

TEST_CASE("without records the comparison says how to make them") {
    const Records folder;
    CHECK_THAT(comparison_part(folder.path, kStage),
               ContainsSubstring("`./stages run 04 --peers`"));
    json other = record("row_groups", "ours", 16, 5);
    other["rows"] = 4000;
    json half = record("row_groups", "ours", 16, 5);
    half["dtype"] = "float16";
    folder.write({other, half});
    CHECK_THAT(comparison_part(folder.path, kStage), ContainsSubstring("Not recorded yet"));
}

TEST_CASE("the comparison shows times, ratios to OneFlow's, and who is wrong") {
    const Records folder;
    std::vector<json> records;
    for (const int64_t length : {64, 256}) {
        const auto add = [&, us = static_cast<double>(length)](const char* variant,
                                                               const char* role, double factor) {
            records.push_back(record(variant, role, length, factor * us));
        };
        add("row_groups", "ours", 0.5);
        add("oneflow_warp_softmax/softmax", "peer", 1);
        add("fastertransformer_softmax/v1", "peer", 3);
        if (length == 64) add("fastertransformer_softmax/v5", "peer", 2);
        add("invalid_fastertransformer/input_unused", "invalid", 2.5);
        add("copy", "roof", 0.25);
    }
    folder.write(records);
    const std::string text = comparison_part(folder.path, kStage);
    CHECK_THAT(text,
               ContainsSubstring("| S | a copy | 04 `row_groups` | OneFlow | FasterTransformer "
                                 "1.0 | FasterTransformer 5 | **invalid**"));
    CHECK_THAT(text, ContainsSubstring("\n| 64 | 16.0 (0.25) | 32.0 (0.50) | 64.0 (1.00) | 192.0 "
                                       "(3.00) | 128.0 (2.00) | 160.0 (2.50) | 59.6 (1.00) | 120.2 "
                                       "(2.01) |\n"));
    CHECK_THAT(text, ContainsSubstring("\n| 256 | 64.0 (0.25) | 128.0 (0.50) | 256.0 (1.00) | "
                                       "768.0 (3.00) | - | 640.0 (2.50) | - | - |\n"));
    CHECK_THAT(text, ContainsSubstring("\n| largest relative error |  | 2e-07 | 2e-07 | 2e-07 | "
                                       "2e-07 | 5e+01 |  |  |\n"));
    CHECK_THAT(text, ContainsSubstring("\nSome GPU, driver 1.2, CUDA 13.0, nvcc 13.0.1, commit "
                                       "abc, 2026-01-02.\n"));
}

TEST_CASE("a comparison without OneFlow has times and no ratios") {
    const Records folder;
    folder.write({record("row_groups", "ours", 16, 5.25)});
    CHECK_THAT(comparison_part(folder.path, kStage),
               ContainsSubstring("\n| 16 | - | 5.2 | - | - | - | - | 9.7 (1.00) |"));
}
