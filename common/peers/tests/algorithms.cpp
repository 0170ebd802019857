// SPDX-License-Identifier: MIT
#include "common/peers/algorithms.hpp"

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "common/testing/catch.hpp"
#include "common/testing/folder.hpp"

using course::algorithms_part;
using nlohmann::json;

namespace {

constexpr const char* kStage = "07_batched_gemm";

struct Records : Folder {
    void write(const std::vector<json>& records) const {
        const json document = {
            {"schema", 1},     {"gpu", "Some GPU"},  {"driver", "1.2"},
            {"cuda", "13.0"},  {"cublas", "13.1.0"}, {"nvcc", "13.0.1"},
            {"commit", "abc"}, {"records", records}, {"date", "2026-01-02T03:04:05Z"}};
        Folder::write("peers.json", document.dump());
    }
};

json record(const std::string& variant, int64_t m, double us) {
    const nlohmann::ordered_json shape = {{"batch", 16}, {"m", m}, {"n", 8}, {"k", 8}};
    return {{"stage", kStage}, {"variant", variant}, {"op", "batched_gemm"}, {"dtype", "float16"},
            {"shape", shape},  {"us_median", us},    {"us_p10", us - 1},     {"us_p90", us + 1}};
}

}  // namespace

TEST_CASE("the values of algo are shown where more than the defaults were timed") {
    const Records folder;
    CHECK_THAT(algorithms_part(folder.path, kStage),
               ContainsSubstring("`./stages run 07 --peers`"));
    const std::vector<json> defaults = {
        record("cublas/default", 4, 9), record("cublas/default_tensor_op", 4, 9),
        record("cublas_lt/candidate_0", 4, 2), record("torch_matmul", 4, 2)};
    folder.write(defaults);
    CHECK_THAT(algorithms_part(folder.path, kStage), ContainsSubstring("Not recorded yet"));
    std::vector<json> records = defaults;
    records.push_back(record("cublas/default", 8, 20));
    records.push_back(record("cublas/algo3", 8, 21.5));
    records.push_back(record("cublas/algo7_tensor_op", 8, 19.5));
    folder.write(records);
    const std::string text = algorithms_part(folder.path, kStage);
    CHECK_THAT(text, ContainsSubstring(", float16 | 39 | 20.0 | 19.0 to 21.0 | 19.5 "
                                       "`algo7_tensor_op` | 21.5 `algo3` |\n"));
    CHECK_THAT(text, ContainsSubstring("cublas 13.1.0"));
    CHECK_THAT(text, !ContainsSubstring("4 x 8 x 8"));  // where only the defaults were timed
}
