// SPDX-License-Identifier: MIT
// The contract of the front calls of softmax.cuh and cross_entropy.cuh, included by the stage's test.cu.
#pragma once
#include "common/testing/front_contract.hpp"
#include "further/cross_entropy.cuh"
#include "further/softmax.cuh"

namespace front_tests {

// One row long enough for a workspace, and columns along another axis.
template <class Call, class Bytes, class Plan, class Inputs>
void softmax_holds(Call call, Bytes bytes, Plan plan, const Inputs& inputs) {
    const struct { int64_t rows, cols, inner; } shapes[] = {{1, 240000, 1}, {2, 77, 5}};
    for (const auto& shape : shapes) {
        std::tuple outputs{testing::FrontOutput<float>(
            static_cast<size_t>(shape.rows * shape.cols * shape.inner))};
        testing::FrontContract(call, bytes, plan, inputs, outputs,
                               std::array<int64_t, 2>{shape.rows, shape.cols},
                               softmax_stages::SoftmaxOptions{shape.inner},
                               softmax_stages::this_chip(), {{}, {}, {0, 1}})
            .holds();
    }
}

}  // namespace front_tests

TEST_CASE("softmax, log_softmax and their gradients keep the contract of front calls") {
    using namespace softmax_stages;
    const runner::DeviceBuffer<float> x = testing::front_input<float>(240000);
    const float* const in = x.data();
    front_tests::softmax_holds(softmax<float>, softmax_workspace_bytes<float>, softmax_plan<float>,
                               std::tuple{in});
    front_tests::softmax_holds(log_softmax<float>, log_softmax_workspace_bytes<float>,
                               log_softmax_plan<float>, std::tuple{in});
    front_tests::softmax_holds(softmax_backward<float>, softmax_backward_workspace_bytes<float>,
                               softmax_backward_plan<float>, std::tuple{in, in});
    front_tests::softmax_holds(log_softmax_backward<float>,
                               log_softmax_backward_workspace_bytes<float>,
                               log_softmax_backward_plan<float>, std::tuple{in, in});
}

TEST_CASE("cross_entropy and cross_entropy_loss keep the contract of front calls") {
    using namespace softmax_stages;
    constexpr int64_t kRows = 3, kCols = 2000;
    const runner::DeviceBuffer<float> x = testing::front_input<float>(kRows * kCols);
    const runner::DeviceBuffer<int64_t> targets(std::vector<int64_t>{5, 1999, 0});
    runner::DeviceBuffer<float> totals(3);
    for (const Reduction reduction : {Reduction::none, Reduction::mean}) {
        CrossEntropyOptions<float> options;
        options.reduction = reduction;
        options.label_smoothing = 0.1f;
        options.totals = totals.data();
        std::tuple both{testing::FrontOutput<float>(kRows),
                        testing::FrontOutput<float>(kRows * kCols)};
        testing::FrontContract(cross_entropy<float, int64_t>, cross_entropy_workspace_bytes<float>,
                               cross_entropy_plan<float>, std::tuple{x.data(), targets.data()},
                               both, std::array<int64_t, 2>{kRows, kCols}, options, this_chip(),
                               {{}, {}, {0, 1}})
            .holds();
        std::tuple alone{testing::FrontOutput<float>(kRows)};
        testing::FrontContract(
            cross_entropy_loss<float, int64_t>, cross_entropy_loss_workspace_bytes<float>,
            cross_entropy_loss_plan<float>, std::tuple{x.data(), targets.data()}, alone,
            std::array<int64_t, 2>{kRows, kCols}, options, this_chip(), {{}, {}, {0, 1}})
            .holds();
    }
}
