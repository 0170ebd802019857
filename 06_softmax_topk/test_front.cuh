// SPDX-License-Identifier: MIT
// The contract of the front calls of topk.cuh and sample.cuh, included by the stage's test.cu.
#pragma once
#include "common/testing/front_contract.hpp"
#include "further/sample.cuh"

TEST_CASE("topk keeps the contract of front calls") {
    using namespace softmax_stages;
    constexpr int64_t kRows = 1, kCols = 12001, kBest = 40;  // too short for a cluster
    const runner::DeviceBuffer<float> x = testing::front_input<float>(kRows * kCols);
    std::tuple outputs{testing::FrontOutput<float>(kRows * kBest),
                       testing::FrontOutput<int32_t>(kRows * kBest)};
    testing::FrontContract(topk<float, int32_t>, topk_workspace_bytes<float>, topk_plan<float>,
                           std::tuple{x.data()}, outputs,
                           std::array<int64_t, 3>{kRows, kCols, kBest}, TopkOptions<float>{},
                           this_chip(), {{1, 2}, {}, {0, 2}})
        .holds();
}

TEST_CASE("sample keeps the contract of front calls") {
    using namespace softmax_stages;
    constexpr int64_t kRows = 3, kCols = 2000;
    const runner::DeviceBuffer<float> x = testing::front_input<float>(kRows * kCols);
    std::tuple outputs{testing::FrontOutput<int64_t>(kRows), testing::FrontOutput<float>(kRows)};
    SampleOptions options;
    options.top_k = 50;  // found in a list, which has a workspace
    testing::FrontContract(sample<float, int64_t>, sample_workspace_bytes<float>,
                           sample_plan<float>, std::tuple{x.data()}, outputs,
                           std::array<int64_t, 2>{kRows, kCols}, options, this_chip(),
                           {{2}, {}, {0, 1}})
        .holds();
}
