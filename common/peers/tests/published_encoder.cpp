// SPDX-License-Identifier: MIT
#include "common/peers/published_encoder.hpp"

#include <filesystem>

#include <nlohmann/json.hpp>

#include "common/testing/catch.hpp"
#include "common/testing/folder.hpp"

using course::published_part;
using nlohmann::json;

namespace {

constexpr const char* kStage = "08_encoder_fusions";

json record(const std::string& variant, double us, const json& more = {}) {
    json shape = {
        {"batch", 32}, {"seq", 384}, {"heads", 12}, {"size_per_head", 64}, {"layers", 12.0}};
    shape.update(more.is_null() ? json::object() : more);
    return {{"stage", kStage},    {"variant", variant}, {"op", "encoder"},
            {"dtype", "float16"}, {"shape", shape},     {"us_median", us}};
}

std::string part_with(const std::vector<json>& records) {
    const Folder folder;
    const json document = {{"gpu", "Some GPU"},  {"driver", "1.2"}, {"cuda", "13.0"},
                           {"nvcc", "13.0.1"},   {"commit", "abc"}, {"date", "2026-01-02T03"},
                           {"records", records}, {"schema", 1}};
    folder.write("own.json", document.dump());
    return published_part(folder.path, kStage);
}

}  // namespace

TEST_CASE("without records of these shapes the published table says how to make them") {
    CHECK_THAT(published_part("nowhere", kStage), ContainsSubstring("`./stages run 08`"));
    CHECK_THAT(part_with({}), ContainsSubstring("Not recorded yet"));
    json floats = record("encoder_tuned", 5000);
    floats["dtype"] = "float32";
    for (const json& other :
         {floats, record("encoder_tuned", 5000, {{"layers", 6.0}}),
          record("encoder_tuned", 5000, {{"prenorm", 1.0}}),
          record("encoder_tuned", 5000, {{"seq", 385}}), record("layernorm", 5000)}) {
        INFO(other);
        CHECK_THAT(part_with({other}), ContainsSubstring("Not recorded yet"));
    }
}

TEST_CASE("the published table has ours beside theirs, packed where half the tokens are there") {
    const std::string text = part_with(
        {record("encoder_tuned", 4660), record("encoder_tuned", 4453, {{"tokens", 6144.0}}),
         record("encoder_tuned_packed", 4668),
         record("encoder_tuned_packed", 2590, {{"tokens", 6144.0}})});
    CHECK_THAT(text,
               ContainsSubstring(
                   "| 32 x 384 | 27.80 | 14.67 | 7.71 | 97.66 | 48.60 | - | 4.66 | - | 2.59 |\n"));
    CHECK_THAT(
        text, ContainsSubstring("| 1 x 32 | 2.08 | 0.90 | 0.96 | 1.92 | 2.33 | - | - | - | - |\n"));
    CHECK_THAT(text, ContainsSubstring("bert_guide.md") && ContainsSubstring("Some GPU"));
}
