// SPDX-License-Identifier: MIT
// What a stage measured, and what it gains: the tables of its own runs.
#include "common/report/tests/committed.hpp"
#include "common/testing/catch.hpp"

namespace {

using Json = Committed::Json;

const Json kFurther = {{"further", true}};

Json tokens(int64_t count) {
    return {{"tokens", count}, {"hidden", 8}};
}

// What is about operations, beside a roof that only moves bytes.
Json computes(double tflops, const std::string& dtype = "float16") {
    return {{"dtype", dtype}, {"tflops", tflops}, {"roof", "join"}, {"further", true}};
}

}  // namespace

TEST_CASE("a lesson of one operation has one table, and its rows name their types") {
    Committed stage("08_made_up");
    for (int64_t count = 1; count <= 10; ++count)
        stage.add("first", "fuse", tokens(count), 8, {{"dtype", "float16"}, {"along", "tokens"}});
    stage.add("second", "fuse", tokens(2), 5, {{"dtype", "float16"}});
    stage.add("second", "fuse", tokens(20), 5, {{"dtype", "float16"}, {"swept", true}});
    stage.commit(records::kOwn);
    const std::string text = stage.table("measured");
    CHECK_THAT(text, StartsWith("| us expected → measured (of the roof) | `first` | `second` |\n"));
    // Two accesses of 2 bytes to each element of half, as the roof makes: half of its 4 us, of which a launch has 2.
    CHECK_THAT(text, ContainsSubstring("| 1 x 8, float16 | 3.0 → 8.0 (0.50) | - |\n"));
    CHECK_THAT(text, ContainsSubstring("→ 5.0 (0.80) |\n| 3 x 8"));
    // Eight rows are a table: the widest is left out, then the last.
    CHECK_THAT(text, ContainsSubstring("| 8 x 8") && !ContainsSubstring("| 9 x 8") &&
                         !ContainsSubstring("| 20 x 8"));
    CHECK_THAT(text, EndsWith(kStamp));
}

TEST_CASE("a lesson of several operations has a table for each, of its own shapes and variants") {
    Committed stage("08_made_up");
    for (const int64_t count : {10, 20, 30, 40}) {
        for (const char* dtype : {"float16", "float32"}) {
            stage.add("steps", "fuse_in_steps", tokens(count), 8,
                      {{"dtype", dtype}, {"shown_as", "fuse"}});
            stage.add("fused", "fuse", tokens(count), 8, {{"dtype", dtype}});
        }
    }
    stage.add("norm", "norm", tokens(50), 16);
    stage.add("beyond", "norm", tokens(50), 4, kFurther);
    stage.commit(records::kOwn);
    const std::string text = stage.table("measured");
    CHECK_THAT(text,
               StartsWith("`fuse`, float16: us expected → measured (of the roof)\n\n"
                          "| tokens x hidden | `steps` | `fused` |\n|---|---|---|\n| 10 x 8 |"));
    CHECK_THAT(text, ContainsSubstring("\n\n`norm`: us") &&
                         ContainsSubstring("| tokens x hidden | `norm` |\n|---|---|\n| 50 x 8 |"));
    CHECK_THAT(text, ContainsSubstring("| 30 x 8 |") && !ContainsSubstring("| 40 x 8 |") &&
                         !ContainsSubstring("float32") && !ContainsSubstring("beyond") &&
                         !ContainsSubstring("| - |"));
}

TEST_CASE("what goes beyond a lesson stands beside the lesson's fastest") {
    Committed stage("08_made_up");
    stage.add("slow", "norm", tokens(50), 16);
    stage.add("fast", "norm", tokens(50), 8);
    stage.add("fast", "norm", tokens(60), 8);
    stage.add("beyond", "norm", tokens(50), 5, kFurther);
    stage.add("beyond", "norm", tokens(70), 5, kFurther);
    stage.commit(records::kOwn);
    const std::string text = stage.table("measured", true);
    CHECK_THAT(text, ContainsSubstring("| tokens x hidden | best of the lesson | `beyond` |\n"));
    CHECK_THAT(text, ContainsSubstring("→ 8.0 (0.50) `fast` |") && !ContainsSubstring("slow"));
    CHECK_THAT(text, ContainsSubstring("\n| 70 x 8 | - |") && !ContainsSubstring("60 x 8"));
    CHECK(stage.table("shares", true) ==
          "| `norm` | `beyond` |\n|---|---|\n| 50 x 8 | **0.80** |\n"
          "| 70 x 8 | **0.80** |\n\n" +
              kStamp);
}

TEST_CASE(
    "beside a roof that moves bytes operations have times, and rows of few variants a table") {
    Committed stage("08_made_up");
    stage.add("plain", "attention", tokens(384), 700, computes(2.54));
    stage.add("mma", "attention", tokens(384), 60, computes(219.6));
    stage.add("mma", "attention", {{"tokens", 512}, {"hidden", 8}, {"causal", 1}}, 30,
              computes(250))["options"] = "causal";
    stage.add("mma", "attention", tokens(1024), 99, computes(99))["swept"] = true;
    stage.add("third", "attention", tokens(384), 5, computes(20));
    stage.add("plain", "attention", tokens(384), 900, computes(2, "float32"));
    stage.commit(records::kOwn);
    // The stage's order, which its counts have.
    for (const char* variant : {"mma", "plain", "third"})
        stage.add(variant, "attention", tokens(1), 1);
    stage.commit(records::kCounts, "");
    CHECK(stage.table("measured", true) ==
          "`attention`, float16: us (TFLOP/s)\n\n"
          "| tokens x hidden | `mma` | `plain` | `third` |\n|---|---|---|---|\n"
          "| 384 x 8 | 60.0 (220) | 700.0 (2.5) | 5.0 (20) |\n\n"
          "| tokens x hidden | `mma` |\n|---|---|\n"
          "| 512 x 8 causal=1 | 30.0 (250) |\n"
          "\n`attention`: us (TFLOP/s)\n\n"
          "| tokens x hidden | `plain` |\n|---|---|\n"
          "| 384 x 8 | 900.0 (2.0) |\n" +
              kStamp);
}

TEST_CASE("operations beside a roof that computes have their share of it") {
    Committed stage("07_made_up");
    stage.add("product", "gemm", {{"m", 512}}, 8, {{"tflops", 40}, {"roof", "own"}});
    stage.commit(records::kOwn);
    CHECK(stage.table("measured") ==
          "| TFLOP/s (of the roof) | `product` |\n|---|---|\n| 512 | 40 (0.50) |\n" + kStamp);
}

TEST_CASE("a page can show some of its variants") {
    Committed stage("07_made_up");
    const auto table_of = [&](std::vector<std::string> names) {
        for (const char* variant : {"first", "second", "third"})
            stage.add(variant, "best", {{"rows", 4}, {"cols", 8}}, 8, kFurther);
        stage.add("of_lesson", "best", {{"rows", 4}, {"cols", 8}}, 8);
        stage.commit(records::kOwn);
        return report::table_named(
                   "measured", {stage.path, stage.stage, true, records::kShown, std::move(names)})
            .value();
    };
    const auto has = [](const std::string& text, const char* name) {
        return text.find("`" + std::string(name) + "`") != std::string::npos;
    };
    const std::string two = table_of({"first", "third"});
    CHECK(has(two, "first"));
    CHECK(has(two, "third"));
    CHECK_FALSE(has(two, "second"));
    CHECK(has(table_of({}), "second"));
    for (const std::string operation : {"best", "other"}) {
        for (const char* ending : {"", "_in_graph"})
            stage.add(operation + "_of_ours" + ending, operation, {{"rows", 4}}, 8, kFurther);
        stage.add("theirs/" + operation, operation, {{"rows", 4}}, 6, {{"role", "peer"}});
    }
    stage.commit(records::kPeers);
    const std::string beside =
        report::table_named("peers",
                            {stage.path, stage.stage, true, records::kShown, {"best_of_ours"}})
            .value();
    CHECK(has(beside, "best_of_ours_in_graph"));  // whoever computes the same
    CHECK(has(beside, "theirs/best"));
    CHECK_FALSE(has(beside, "theirs/other"));
}

TEST_CASE("a table of variants that another GPU has more of shows that GPU") {
    Committed stage("07_made_up");
    const auto table = [&](std::vector<std::string> names) {
        return report::table_named(
                   "measured", {stage.path, stage.stage, true, records::kShown, std::move(names)})
            .value();
    };
    const auto has = [](const std::string& text, const std::string& part) {
        return text.find(part) != std::string::npos;
    };
    stage.add("old", "best", {{"rows", 4}, {"cols", 8}}, 8, kFurther);
    stage.commit(records::kOwn);
    stage.add("old", "best", {{"rows", 4}, {"cols", 8}}, 7, kFurther);
    stage.add("new", "best", {{"rows", 4}, {"cols", 8}}, 6, kFurther);
    stage.commit(records::kOwn, records::folder_of(records::kOtherGpu));
    CHECK(has(table({"old"}), " 8.0 "));
    CHECK(has(table({"old", "new"}), " 7.0 "));
    CHECK(has(table({"new"}), " 6.0 "));
    CHECK(has(table({}), " 8.0 "));
}

TEST_CASE("what was not measured says so") {
    Committed stage("07_made_up");
    for (const char* table : {"measured", "shares", "paper", "peers", "bars", "widths", "timeline",
                              "comparison", "algorithms", "published"})
        CHECK(stage.table(table) == "Not measured on a GPU yet.\n");
    stage.add("of_another_kind", "other", {{"m", 1}}, 8, kFurther);
    stage.commit(records::kOwn);
    CHECK(stage.table("measured") == "Not measured on a GPU yet.\n");
    CHECK(stage.table("published") == "Not measured on a GPU yet.\n");
    CHECK_FALSE(report::table_named("none", {stage.path, stage.stage}));
}

TEST_CASE("at the paper's widths a stage is held to the one before, a ladder to its first step") {
    Committed stage("06_made_up");
    const auto add = [&](const char* variant, int64_t rows, int64_t cols, double us) -> Json& {
        return stage.add(variant, "best", {{"rows", rows}, {"cols", cols}}, us);
    };
    for (const int64_t rows : {4000, 10}) {
        add("slow", rows, 1008, rows == 10 ? 15 : 30);
        add("middle", rows, 1008, 12);
        add("fast", rows, 1008, 10);
        add("slow", rows, 1024, 10);
        add("fast", rows, 1024, 10);
        add("slow", rows, 2016, 10);
    }
    stage.commit(records::kOwn);
    CHECK(stage.table("paper") ==
          "| columns | 4000 rows | the paper's kernels | 10 rows | the paper's kernels |\n"
          "|---|---|---|---|---|\n| 1,008 | 3.00 | - | 1.50 | - |\n| 2,016 | - | - | - | - |\n" +
              kStamp);
    for (const int64_t cols : {1000, 1900}) {  // the second is too far from 2016
        add("nvidia_online_softmax/safe_best", 4000, cols, 13);
        add("nvidia_online_softmax/online_best", 4000, cols, 10);
    }
    stage.commit(records::kPeers);
    add("only", 10, 2016, 5).update({{"baseline", "05_another/front"}, {"speedup", 1.25}});
    add("only", 4000, 1008, 5).update({{"baseline", "05_another/front"}, {"speedup", 2}});
    add("beyond", 10, 2016, 5).update({{"baseline", "06_made_up/only"}, {"speedup", 9}});
    stage.commit(records::kOwn);
    CHECK_THAT(
        stage.table("paper"),
        ContainsSubstring("| 1,008 | 2.00 | 1.30 | - | - |\n| 2,016 | - | - | 1.25 | - |\n"));
}

TEST_CASE("a grid of widths is shown by where it is farthest from the copy") {
    Committed stage("04_made_up");
    for (const auto& [cols, us] : {std::pair{7, 400.}, {8, 5.}, {1000, 8.}, {2000, 4.}})
        stage.add("front", "softmax", {{"rows", 1}, {"cols", cols}}, us);
    stage.commit(records::kWidths);
    CHECK_THAT(stage.table("widths"),
               ContainsSubstring("\n| float32 | `front` | 0.50 | 1,000 | 0.80 | 3 |\n"));
}

TEST_CASE("the published table has ours beside theirs, packed where half the tokens are there") {
    Committed stage("08_made_up");
    const auto add = [&](const char* variant, double us, const Json& more = {}) -> Json& {
        Json shape = {
            {"batch", 32}, {"seq", 384}, {"heads", 12}, {"size_per_head", 64}, {"layers", 12.0}};
        if (!more.is_null()) shape.update(more);
        return stage.add(variant, "encoder", shape, us, {{"dtype", "float16"}});
    };
    // None of these is that problem.
    add("encoder_tuned", 1)["dtype"] = "float32";
    add("encoder_tuned", 1)["op"] = "layernorm";
    add("encoder_tuned", 1, {{"layers", 6.0}});
    add("encoder_tuned", 1, {{"prenorm", 1.0}});
    add("encoder_tuned", 1, {{"seq", 385}});
    stage.commit(records::kOwn);
    CHECK(stage.table("published") == "Not measured on a GPU yet.\n");
    add("encoder_tuned", 4660);
    add("encoder_tuned", 4453, {{"tokens", 6144.0}});
    add("encoder_tuned_packed", 4668);
    add("encoder_tuned_packed", 2590, {{"tokens", 6144.0}});
    stage.commit(records::kOwn);
    const std::string text = stage.table("published");
    CHECK_THAT(text, ContainsSubstring("| 32 x 384 | 27.80 | 14.67 | 7.71 | 97.66 | 48.60 | - | "
                                       "4.66 | - | 2.59 |\n"));
    CHECK_THAT(text, ContainsSubstring("| 1 x 32 | 2.08 | 0.90 | 0.96 | 1.92 | 2.33 | - | - |"));
}
