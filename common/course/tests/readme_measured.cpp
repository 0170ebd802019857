// SPDX-License-Identifier: MIT
#include <nlohmann/json.hpp>

#include "common/course/readme_parts.hpp"
#include "common/operations/attention/operation.hpp"
#include "common/operations/gemm/operation.hpp"
#include "common/operations/tokens/operation.hpp"
#include "common/operations/topk/operation.hpp"
#include "common/testing/catch.hpp"
#include "common/testing/folder.hpp"

using course::lesson_part;
using course::measured_part;
using json = nlohmann::ordered_json;
using runner::DType;

namespace {

namespace attention = operations::attention;
namespace gemm = operations::gemm;
namespace tokens = operations::tokens;

constexpr const char* kStage = "08_encoder_fusions";

runner::Variant variant(const std::string& name, const runner::Operation* operation,
                        bool further = false) {
    runner::Variant made;
    made.name = name;
    made.operation = operation;
    made.further = further;
    made.traffic = {1, 1};
    made.dtypes = {DType::float16, DType::float32};
    return made;
}

// As `run` writes one. Of all that x and y hold the roof moves 1000 bytes a nanosecond.
json record(const runner::Variant& variant, const json& shape, double us,
            const std::string& dtype = "float16", double tflops = 0, const std::string& roof = "") {
    json made = {{"stage", kStage},  {"variant", variant.name}, {"op", variant.operation->name()},
                 {"dtype", dtype},   {"shape", shape},          {"bytes", 4000000},
                 {"us_median", us},  {"us_empty", 2},           {"gbps", 4000 / us},
                 {"roof_gbps", 1000}};
    if (variant.operation->shown_as() != variant.operation->name())
        made["shown_as"] = variant.operation->shown_as();
    if (tflops > 0) made["tflops"] = tflops;
    if (!roof.empty()) made["roof"] = roof;
    return made;
}

json rows(int64_t tokens, int64_t hidden) {
    return {{"tokens", tokens}, {"hidden", hidden}};
}
json heads(int64_t queries, double causal = 0) {
    json shape = {
        {"batch", 2}, {"heads", 4}, {"queries", queries}, {"keys", queries}, {"size", 64}};
    if (causal > 0) shape["causal"] = causal;
    return shape;
}

// Records of a stage of these variants.
struct Measured : Folder {
    runner::Stage stage;
    std::vector<json> records;

    explicit Measured(const std::vector<runner::Variant>& variants) {
        stage.name = kStage;
        stage.variants = variants;
    }
    const runner::Variant& operator[](const std::string& name) const {
        for (const runner::Variant& each : stage.variants) {
            if (each.name == name) return each;
        }
        throw std::runtime_error("no variant " + name);
    }
    void write(const char* name = records::kOwn) const {
        const json document = {{"gpu", "Some GPU"},  {"driver", "1.2"}, {"cuda", "13.0"},
                               {"nvcc", "13.0.1"},   {"commit", "abc"}, {"date", "2026-01-02T03"},
                               {"records", records}, {"schema", 1}};
        Folder::write(name, document.dump());
    }
    void add(const runner::Variant& each, const json& shape, double us, const std::string& role) {
        records.push_back(record(each, shape, us));
        records.back()["role"] = role;
    }
    std::string peers() const {
        write(records::kPeers);
        return course::peers_part(path, stage);
    }
    std::string lesson() const {
        write();
        return lesson_part(path, stage);
    }
    std::string further() const {
        write();
        return measured_part(path, stage);
    }
};

constexpr const char* kStamp =
    "\nSome GPU, driver 1.2, CUDA 13.0, nvcc 13.0.1, commit abc, 2026-01-02.\n";

const runner::Operation* fused() {
    return tokens::operation_of(tokens::Kind::add_bias_activation, tokens::Rounding::once);
}
const runner::Operation* chain() {
    return tokens::operation_of(tokens::Kind::add_bias_activation, tokens::Rounding::each_step);
}
const runner::Operation* norm() {
    return tokens::operation_of(tokens::Kind::add_bias_residual_layernorm, tokens::Rounding::once);
}

}  // namespace

TEST_CASE("a lesson of one operation has one table, and its rows name their types") {
    Measured measured({variant("first", fused()), variant("second", fused())});
    for (int64_t tokens = 1; tokens <= 10; ++tokens)
        measured.records.push_back(record(measured["first"], rows(tokens, 8), 8));
    measured.records.push_back(record(measured["second"], rows(2, 8), 5));
    const std::string text = measured.lesson();
    CHECK_THAT(text, StartsWith("| us expected → measured (of the roof) | `first` | `second` |\n"));
    CHECK_THAT(text, ContainsSubstring("→ 8.0 (0.50) | - |\n| 2 x 8, float16 |"));
    CHECK_THAT(text, ContainsSubstring("→ 5.0 (0.80) |\n| 3 x 8"));
    CHECK_THAT(text, ContainsSubstring("| 8 x 8, float16 |"));
    CHECK_THAT(text, !ContainsSubstring("| 9 x 8, float16 |"));  // eight rows are a table
    CHECK_THAT(text, EndsWith(kStamp));
}

TEST_CASE("a lesson of several operations has a table for each, of its own shapes and variants") {
    Measured measured({variant("steps", chain()), variant("fused", fused()),
                       variant("norm", norm()), variant("beyond", norm(), true)});
    for (const int64_t tokens : {10, 20, 30, 40}) {
        for (const char* name : {"steps", "fused"}) {
            for (const char* dtype : {"float16", "float32"})
                measured.records.push_back(record(measured[name], rows(tokens, 8), 8, dtype));
        }
    }
    measured.records.push_back(record(measured["norm"], rows(50, 8), 16));
    measured.records.push_back(record(measured["beyond"], rows(50, 8), 4));
    const std::string text = measured.lesson();
    // The chain's operation has a name of its own, and is shown as that which it takes the place of.
    CHECK_THAT(
        text,
        StartsWith("`add_bias_activation`, float16: us expected → measured (of the "
                   "roof)\n\n| tokens x hidden | `steps` | `fused` |\n|---|---|---|\n| 10 x 8 |"));
    CHECK_THAT(text, ContainsSubstring("\n\n`add_bias_residual_layernorm`, float16: us") &&
                         ContainsSubstring("| tokens x hidden | `norm` |\n|---|---|\n| 50 x 8 |"));
    CHECK_THAT(text, ContainsSubstring("| 30 x 8 |") && !ContainsSubstring("| 40 x 8 |"));
    CHECK_THAT(text, !ContainsSubstring("float32") && !ContainsSubstring("beyond") &&
                         !ContainsSubstring("| - |"));
    CHECK_THAT(text, EndsWith(kStamp));
}

TEST_CASE("what goes beyond a lesson stands beside the lesson's fastest") {
    Measured measured(
        {variant("slow", norm()), variant("fast", norm()), variant("beyond", norm(), true)});
    measured.records = {
        record(measured["slow"], rows(50, 8), 16), record(measured["fast"], rows(50, 8), 8),
        record(measured["fast"], rows(60, 8), 8), record(measured["beyond"], rows(50, 8), 5),
        record(measured["beyond"], rows(70, 8), 5)};
    const std::string text = measured.further();
    CHECK_THAT(text, ContainsSubstring("| tokens x hidden | best of the lesson | `beyond` |\n"));
    CHECK_THAT(text, ContainsSubstring("→ 8.0 (0.50) `fast` |") && !ContainsSubstring("slow"));
    CHECK_THAT(text, ContainsSubstring("\n| 70 x 8 | - |") && !ContainsSubstring("60 x 8"));
}

TEST_CASE("operations beside a roof that moves bytes have times and TFLOP/s, and no share of it") {
    const runner::Operation* op = attention::operation_of(attention::Kind::attention);
    const runner::Operation* sum = attention::operation_of(attention::Kind::attention_with_sum);
    Measured measured(
        {variant("plain", op, true), variant("mma", op, true), variant("shared", sum, true)});
    measured.records = {record(measured["plain"], heads(384), 700, "float16", 2.54, "join"),
                        record(measured["mma"], heads(384), 60, "float16", 219.6, "join"),
                        record(measured["mma"], heads(512), 50, "float16", 300, "join"),
                        record(measured["mma"], heads(512, 1), 30, "float16", 250, "join"),
                        record(measured["mma"], heads(1024), 99, "float16", 99, "join"),
                        record(measured["plain"], heads(384), 900, "float32", 2, "join"),
                        record(measured["shared"], heads(1), 9, "float32", 0.5, "join")};
    // Every second length of a sweep; the type in the line above; no table that is mostly empty.
    CHECK(measured.further() ==
          std::string(
              "`attention`, float16: us (TFLOP/s)\n\n"
              "| batch x heads x queries x keys x size | `plain` | `mma` |\n|---|---|---|\n"
              "| 2 x 4 x 384 x 384 x 64 | 700.0 (2.5) | 60.0 (220) |\n"
              "| 2 x 4 x 512 x 512 x 64 | - | 50.0 (300) |\n"
              "| 2 x 4 x 512 x 512 x 64 causal=1 | - | 30.0 (250) |\n"
              "\n`attention`: us (TFLOP/s)\n\n"
              "| batch x heads x queries x keys x size | `plain` | `shared` |\n|---|---|---|\n"
              "| 2 x 4 x 384 x 384 x 64 | 900.0 (2.0) | - |\n"
              "| 2 x 4 x 1 x 1 x 64 | - | 9.0 (0.5) |\n") +
              kStamp);
}

TEST_CASE("rows of few variants have a table of their own") {
    const runner::Operation* op = attention::operation_of(attention::Kind::attention);
    Measured measured({variant("a", op, true), variant("b", op, true), variant("c", op, true)});
    for (const char* name : {"a", "b", "c"})
        measured.records.push_back(record(measured[name], heads(384), 5, "float16", 20, "join"));
    measured.records.push_back(record(measured["c"], heads(512), 5, "float16", 20, "join"));
    CHECK_THAT(
        measured.further(),
        ContainsSubstring(
            "| batch x heads x queries x keys x size | `a` | `b` | `c` |\n|---|---|---|---|\n"
            "| 2 x 4 x 384 x 384 x 64 | 5.0 (20) | 5.0 (20) | 5.0 (20) |\n\n"
            "| batch x heads x queries x keys x size | `c` |\n|---|---|\n"
            "| 2 x 4 x 512 x 512 x 64 | 5.0 (20) |\n"));
}

TEST_CASE("operations beside a roof that computes have their share of it") {
    Measured measured({variant("product", gemm::operation())});
    const json shape = {{"batch", 2}, {"m", 512}, {"n", 512}, {"k", 512}};
    measured.records = {record(measured["product"], shape, 8, "float16", 40, "own")};
    CHECK(measured.lesson() == std::string("| TFLOP/s (of the roof) | `product` |\n|---|---|\n"
                                           "| 2 x 512 x 512 x 512, float16 | 40 (0.50) |\n") +
                                   kStamp);
}

TEST_CASE("what was not measured says so") {
    Measured measured({variant("first", fused()), variant("second", norm(), true)});
    CHECK(lesson_part(measured.path, measured.stage) == "Not measured on a GPU yet.\n");
    CHECK(measured.lesson() == "Not measured on a GPU yet.\n");
    CHECK(measured.further() == "Not measured on a GPU yet.\n");
}

TEST_CASE("beside peers many of ours have one column, which names the fastest") {
    const runner::Operation* op = attention::operation_of(attention::Kind::attention);
    std::vector<runner::Variant> variants;
    for (const char* name : {"a", "b", "c", "d", "e", "f"}) variants.push_back(variant(name, op));
    Measured measured(variants);
    double us = 10;
    for (const runner::Variant& each : variants) measured.add(each, heads(384), us++, "ours");
    measured.add(variant("theirs", op), heads(384), 9, "peer");
    CHECK_THAT(measured.peers(),
               StartsWith("| us of `attention` | `a` | `b` | `c` | `d` | `e` | `f` | "
                          "`theirs` |\n"));
    measured.add(variant("g", op), heads(384), 8, "ours");
    CHECK_THAT(measured.peers(),
               StartsWith("| us of `attention` | `ours, best of 7` | `theirs` |\n|---|---|---|\n"
                          "| 2 x 4 x 384 x 384 x 64, float16 | **8.0** `g` | 9.0 |\n"));

    // What computes something else is not shown; what does a part of the work, by itself, and never as the fastest.
    measured.add(variant("wrong", op), heads(384), 1, "invalid");
    measured.add(variant("half/one", op), heads(384), 2, "part");
    measured.records.back()["part"] = "scores";
    CHECK(measured.peers() ==
          std::string("| us of `attention` | `ours, best of 7` | `theirs` |\n|---|---|---|\n"
                      "| 2 x 4 x 384 x 384 x 64, float16 | **8.0** `g` | 9.0 |\n\n"
                      "| us of a part of `attention` alone | `ours, best of 7` | `half/one` "
                      "(scores) |\n|---|---|---|\n"
                      "| 2 x 4 x 384 x 384 x 64, float16 | 8.0 | 2.0 |\n") +
              kStamp);
}

TEST_CASE("beside peers every list is shown, of a sweep of widths a few") {
    const runner::Operation* lists =
        operations::topk::operation_of(operations::topk::Kind::softmax_topk);
    Measured measured({variant("ours", lists)});
    for (const int64_t cols : {25000, 128256}) {
        for (const int64_t k : {5, 32})
            measured.records.push_back(
                record(measured["ours"], {{"rows", 4000}, {"cols", cols}, {"k", k}}, 8, "float32"));
    }
    for (json& each : measured.records) each["role"] = "ours";
    const std::string text = measured.peers();
    CHECK_THAT(text, ContainsSubstring("| 4000 x 25000 k=32 | **8.0** |\n"));
    CHECK_THAT(text, ContainsSubstring("| 4000 x 128256 k=5 | **8.0** |\n"));
}

TEST_CASE("at the paper's widths a ladder is held to its own first step") {
    const runner::Operation* lists =
        operations::topk::operation_of(operations::topk::Kind::softmax_topk);
    Measured measured({variant("slow", lists), variant("middle", lists), variant("fast", lists)});
    const auto add = [&](const char* name, int64_t rows, int64_t cols, double us) {
        measured.records.push_back(
            record(measured[name], {{"rows", rows}, {"cols", cols}, {"k", 5}}, us, "float32"));
    };
    for (const int64_t rows : {4000, 10}) {
        add("fast", rows, 1008, 10);
        add("middle", rows, 1008, 12);
        add("slow", rows, 1008, rows == 10 ? 15 : 30);
        add("fast", rows, 1024, 10);
        add("slow", rows, 1024, 10);
        add("slow", rows, 2016, 10);
    }
    measured.write();
    CHECK(course::paper_part(measured.path, measured.stage) ==
          std::string("| columns | speed-up with 4000 rows | speed-up with 10 rows |\n"
                      "|---|---|---|\n| 1,008 | 3.00 | 1.50 |\n| 2,016 | - | - |\n") +
              kStamp);
}

TEST_CASE("beside peers a library has one column where it has many ways to compute the same") {
    const runner::Operation* const exact = gemm::operation();
    const runner::Operation* const rounding = gemm::operation(gemm::Kind::half_sums);
    Measured measured({variant("ours", exact), variant("half", rounding)});
    const json shape = {{"batch", 2}, {"m", 512}, {"n", 512}, {"k", 512}};
    measured.add(measured["ours"], shape, 8, "ours");
    double us = 9;
    for (const char* name : {"lib/a", "lib/b", "lib/c", "lib/d"})
        measured.add(variant(name, exact), shape, us++, "peer");
    measured.add(measured["half"], shape, 8, "ours");
    measured.add(variant("lib/half", rounding), shape, 7, "peer");
    const std::string text = measured.peers();
    CHECK_THAT(text, StartsWith("| us of `batched_gemm` | `ours` | `lib, best of 4` |\n"));
    CHECK_THAT(text,
               ContainsSubstring("| us of `batched_gemm_half_sums` | `half` | `lib/half` |\n"));
}
