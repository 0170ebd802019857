// SPDX-License-Identifier: MIT
// The tables of what was timed beside others.
#include "common/report/tests/committed.hpp"
#include "common/testing/catch.hpp"

namespace {

using Json = Committed::Json;

const Json kShape = {{"m", 512}, {"n", 8}}, kPeer = {{"role", "peer"}};

}  // namespace

TEST_CASE("beside peers many of ours have one column, which names the fastest") {
    Committed stage("08_made_up");
    const auto add_six = [&] {
        double us = 10;
        for (const char* name : {"a", "b", "c", "d", "e", "f"})
            stage.add(name, "attention", kShape, us++);
        stage.add("theirs", "attention", kShape, 9, kPeer);
        stage.add("theirs", "attention", {{"m", 9}}, 9, {{"role", "peer"}, {"swept", true}});
    };
    add_six();
    stage.commit(records::kPeers);
    CHECK_THAT(
        stage.table("peers"),
        StartsWith("| us of `attention` | `a` | `b` | `c` | `d` | `e` | `f` | `theirs` |\n"));
    // What computes something else is not shown; what does a part of the work, by itself, and never as the fastest.
    add_six();
    stage.add("copy", "attention", kShape, 1, {{"role", "roof"}});
    stage.add("g", "attention", kShape, 8);
    stage.add("wrong", "attention", kShape, 1, {{"role", "invalid"}});
    stage.add("half/one", "attention", kShape, 2, {{"role", "part"}, {"part", "scores"}});
    stage.commit(records::kPeers);
    CHECK(stage.table("peers") ==
          "| us of `attention` | `ours, best of 7` | `theirs` | `copy` |\n|---|---|---|---|\n"
          "| 512 x 8 | **8.0** `g` | 9.0 | 1.0 |\n\n"
          "| us of a part of `attention` alone | `ours, best of 7` | `half/one` (scores) |\n"
          "|---|---|---|\n| 512 x 8 | 8.0 | 2.0 |\n" +
              kStamp);
}

TEST_CASE("beside peers a library has one column where it has many ways to compute the same") {
    Committed stage("07_made_up");
    stage.add("ours", "gemm", kShape, 8);
    double us = 9;
    for (const char* name : {"lib/a", "lib/b", "lib/c", "lib/d"})
        stage.add(name, "gemm", kShape, us++, kPeer);
    stage.add("half", "gemm_half_sums", kShape, 8);
    stage.add("lib/half", "gemm_half_sums", kShape, 7, kPeer);
    stage.commit(records::kPeers);
    const std::string text = stage.table("peers");
    CHECK_THAT(text, StartsWith("| us of `gemm` | `ours` | `lib, best of 4` |\n"));
    CHECK_THAT(text, ContainsSubstring("| us of `gemm_half_sums` | `half` | `lib/half` |\n"));
}

TEST_CASE("the comparison shows times, ratios to OneFlow's, and who is wrong") {
    Committed stage("04_made_up");
    const auto add = [&](const char* variant, const char* role, int64_t length,
                         double us) -> Json& {
        return stage.add(variant, "softmax", {{"rows", 2048 * length}, {"cols", length}}, us,
                         {{"role", role}, {"max_rel_err", us == 160 ? 54.3 : 2e-7}});
    };
    add("row_groups", "ours", 16, 5)["shape"]["rows"] = 4000;
    add("row_groups", "ours", 16, 5)["dtype"] = "float16";
    stage.commit(records::kPeers);
    CHECK(stage.table("comparison") == "Not measured on a GPU yet.\n");
    add("row_groups", "ours", 16, 5.25);
    add("row_groups", "ours", 64, 32);
    add("oneflow_warp_softmax/softmax", "peer", 64, 64);
    add("fastertransformer_softmax/v1", "peer", 64, 192);
    add("fastertransformer_softmax/v5", "peer", 64, 128);
    add("invalid_fastertransformer/input_unused", "invalid", 64, 160);
    add("copy", "roof", 64, 16);
    stage.commit(records::kPeers);
    const std::string text = stage.table("comparison");
    CHECK_THAT(text, ContainsSubstring("\n| 16 | - | 5.2 | - | - | - | - | 9.7 (1.00) |"));
    CHECK_THAT(text, ContainsSubstring("\n| 64 | 16.0 (0.25) | 32.0 (0.50) | 64.0 (1.00) | 192.0 "
                                       "(3.00) | 128.0 (2.00) | 160.0 (2.50) | 59.6 (1.00) | 120.2 "
                                       "(2.01) |\n"));
    CHECK_THAT(text, ContainsSubstring("\n| largest relative error |  | 2e-07 | 2e-07 | 2e-07 | "
                                       "2e-07 | 5e+01 |  |  |\n"));
}

TEST_CASE("the values of algo are shown where more than the defaults were timed") {
    Committed stage("07_made_up");
    const auto add = [&](const char* variant, int64_t m, double us) {
        stage.add(variant, "batched_gemm", {{"m", m}, {"n", 8}}, us,
                  {{"us_p10", us - 1}, {"us_p90", us + 1}});
    };
    const auto add_defaults = [&] {
        for (const char* variant : {"cublas/default", "cublas/default_tensor_op"})
            add(variant, 4, 9);
        add("torch_matmul", 4, 2);
    };
    add_defaults();
    stage.commit(records::kPeers);
    CHECK(stage.table("algorithms") == "Not measured on a GPU yet.\n");
    add_defaults();
    add("cublas/default", 16, 20);
    add("cublas/algo3", 16, 21.5);
    add("cublas/algo7_tensor_op", 16, 19.5);
    stage.commit(records::kPeers);
    const std::string text = stage.table("algorithms");
    CHECK_THAT(text, ContainsSubstring("| 16 x 8, float32 | 39 | 20.0 | 19.0 to 21.0 | 19.5 "
                                       "`algo7_tensor_op` | 21.5 `algo3` |\n"));
    CHECK_THAT(text, !ContainsSubstring("| 4 x 8"));
}
