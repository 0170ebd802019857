// SPDX-License-Identifier: MIT
// Tests the front call of gemm.cuh against its contract. test.cu includes this file.
#pragma once
#include "common/runner/build_info.hpp"
#include "common/testing/front_contract.hpp"
#include "further/gemm.cuh"

TEST_CASE("gemm keeps the contract of front calls, whichever kernel it takes") {
    using namespace softmax_stages;
    const auto hold = [](auto of, int64_t m, int64_t n, int64_t k) {
        using T = decltype(of);
        const runner::DeviceBuffer<T> a = testing::front_input<T>(static_cast<size_t>(2 * m * k));
        const runner::DeviceBuffer<T> b = testing::front_input<T>(static_cast<size_t>(2 * k * n));
        std::tuple outputs{testing::FrontOutput<T>(static_cast<size_t>(2 * m * n))};
        testing::FrontContract(
            gemm<T>, gemm_workspace_bytes<T>, gemm_plan<T>, std::tuple{a.data(), b.data()}, outputs,
            std::array<int64_t, 4>{2, m, n, k}, GemmOptions{}, this_chip(), {{}, {}, {0, 1, 2}})
            .holds();
    };
    hold(__half{}, 5, 24, 136);  // blocks that share k
    // Hopper's kernel, where there is one; too much for the CPU device.
    if (runner::on_gpu()) hold(__half{}, 4096, 4096, 512);
    hold(__half{}, 5, 23, 9);
    hold(__half{}, 20, 71, 1201);  // copies with aligned lines, on Hopper
    hold(float{}, 17, 20, 9);
}

TEST_CASE("gemm copies lines that TMA cannot load, if it has a workspace and the copies pay") {
    using namespace softmax_stages;
    const Chip hopper{132, 227 * 1024, 16, 3e6, 9}, ampere{108, 160 * 1024, 0, 1.5e6, 8};
    const auto plan = [](const Chip& chip, int64_t m, int64_t n, int64_t k, size_t bytes,
                         bool aligned = true) {
        return gemm_plan<__half>(2, m, n, k, {}, chip, bytes, aligned);
    };
    const size_t both = 2 * 2 * (2001 * 2008 + 2003 * 2000);  // A is 2001 x 2003, B 2003 x 1999
    const GemmPlan with = plan(hopper, 2001, 1999, 2003, both);
    CHECK(with.way == GemmWay::hopper);
    CHECK(with.workspace_bytes == both);
    const GemmPlan without = plan(hopper, 2001, 1999, 2003, both - 1);
    CHECK(without.way == GemmWay::tensor_core);
    CHECK(without.more_workspace_bytes == both);
    CHECK(plan(ampere, 2001, 1999, 2003, both).way == GemmWay::tensor_core);
    CHECK(plan(ampere, 2001, 1999, 2003, both).more_workspace_bytes == 0);
    CHECK(plan(hopper, 100, 99, 33, SIZE_MAX).way == GemmWay::tensor_core);
    CHECK(plan(hopper, 2048, 2048, 2048, 0).way == GemmWay::hopper);
    CHECK(plan(hopper, 2048, 2048, 2048, 0, false).way == GemmWay::tensor_core);
    CHECK(plan(hopper, 2048, 2048, 2048, SIZE_MAX, false).workspace_bytes ==
          2 * 2 * 2 * 2048 * 2048);
    GemmOptions transposed;
    transposed.transpose_b = true;  // only C has odd lines
    CHECK(gemm_plan<__half>(2, 2048, 1999, 2048, transposed, hopper, 0).way == GemmWay::hopper);
}

TEST_CASE("gemm: alpha defaults to 1, and options describe the layout of matrices") {
    using namespace softmax_stages;
    const std::vector<float> of_a = {1, 2, 3, 4, 5, 6}, of_b = {1, 0, 0, 1, 1, 1};
    const runner::DeviceBuffer<float> a(of_a), b(of_b);
    runner::DeviceBuffer<float> c(std::vector<float>{1, 1, 1, 1});
    const auto product = [&](const float* of, const GemmOptions& options) {
        REQUIRE(gemm(of, b.data(), c.data(), 1, 2, 2, 3, options, nullptr, 0, nullptr) ==
                cudaSuccess);
        REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
        return c.download();
    };
    GemmOptions options;
    options.beta = 1;
    CHECK(product(a.data(), options) == std::vector<float>{5, 6, 11, 12});
    CHECK(product(a.data(), {}) == std::vector<float>{4, 5, 10, 11});
    const runner::DeviceBuffer<float> turned(std::vector<float>{1, 4, 0, 2, 5, 0, 3, 6, 0});
    options = {};
    options.transpose_a = true;
    options.ld_a = 3;
    options.alpha = 2;
    CHECK(product(turned.data(), options) == std::vector<float>{8, 10, 20, 22});
}
