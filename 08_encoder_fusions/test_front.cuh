// SPDX-License-Identifier: MIT
// The contract of the front calls in attention.cuh, layernorm.cuh and encoder.cuh. The stage's test.cu includes this.
#pragma once
#include "common/testing/front_contract.hpp"
#include "further/encoder.cuh"
#include "further/layernorm.cuh"

TEST_CASE("attention keeps the contract of front calls") {
    using namespace softmax_stages;
    constexpr int64_t kHeads = 2, kKeys = 1024,
                      kSize = 32;  // few queries, so that blocks share keys
    const runner::DeviceBuffer<__half> x = testing::front_input<__half>(kHeads * kKeys * kSize);
    const __half* const in = x.data();
    std::tuple outputs{testing::FrontOutput<__half>(kHeads * kSize)};
    testing::FrontContract(attention<__half>, attention_workspace_bytes<__half>,
                           attention_plan<__half>, std::tuple{in, in, in}, outputs,
                           std::array<int64_t, 5>{1, kHeads, 1, kKeys, kSize}, AttentionOptions{},
                           this_chip(), {{}, {}, {0, 1, 2, 4}})
        .holds();
}

TEST_CASE("layernorm keeps the contract of front calls, whatever it adds first") {
    using namespace softmax_stages;
    constexpr int64_t kRows = 3, kCols = 70;
    const runner::DeviceBuffer<float> x = testing::front_input<float>(kRows * kCols);
    for (const bool adds : {false, true}) {
        std::tuple outputs{testing::FrontOutput<float>(kRows * kCols)};
        LayernormOptions<float> options;
        if (adds) options.residual = x.data();
        testing::FrontContract(layernorm<float>, layernorm_workspace_bytes<float>,
                               layernorm_plan<float>, std::tuple{x.data(), x.data(), x.data()},
                               outputs, std::array<int64_t, 2>{kRows, kCols}, options, this_chip(),
                               {{}, {}, {0, 1}})
            .holds();
    }
}

TEST_CASE("encoder keeps the contract of front calls") {
    using namespace softmax_stages;
    constexpr int64_t kBatch = 2, kSeq = 3, kHeads = 2, kSize = 8, kInner = 16;
    constexpr int64_t kCount = kBatch * kSeq * kHeads * kSize;
    const runner::DeviceBuffer<float> memory = testing::front_input<float>(48 * 16);
    const runner::DeviceBuffer<int32_t> lengths(std::vector<int32_t>{2, 1});
    const float* const p = memory.data();
    const EncoderLayer<float> layer{{p, p}, {p, p}, {p, p}, {p, p}, {p, p}, {p, p}};
    const EncoderLayer<float>* const weights = &layer;
    const int32_t* const of = lengths.data();
    std::tuple outputs{testing::FrontOutput<float>(kCount)};
    testing::FrontContract(encoder<float>, encoder_workspace_bytes<float>, encoder_plan<float>,
                           std::tuple{p, of, weights}, outputs,
                           std::array<int64_t, 6>{kBatch, kSeq, kHeads, kSize, kInner, 1},
                           EncoderOptions{}, this_chip(), {{1}, {2}, {0, 1, 2, 3}, true})
        .holds();
    // The call checks every weight before it launches anything.
    EncoderLayer<float> incomplete = layer;
    incomplete.outer.bias = nullptr;
    runner::DeviceBuffer<unsigned char> workspace(size_t{1} << 16);
    CHECK(encoder(p, of, &incomplete, std::get<0>(outputs).data(), kBatch, kSeq, kHeads, kSize,
                  kInner, 1, {}, workspace.data(), workspace.size(),
                  nullptr) == cudaErrorInvalidValue);
}
