// SPDX-License-Identifier: MIT
// Tests of the front call's plan, included by the stage's test.cu.
#pragma once
#include <random>
#include <vector>

#include "05_smem_softmax/variants.hpp"
#include "common/operations/softmax/properties.hpp"
#include "further/softmax.cuh"

namespace plan_tests {

using softmax_stages::Chip;
using softmax_stages::SoftmaxPlan;
using softmax_stages::Tier;

// An H200, an A100, a gaming GPU, and small ones.
inline const std::vector<Chip> kChips = {{132, 231424, 16, 4.27e6},
                                         {108, 166912, 0, 1.7e6},
                                         {128, 100352, 0, 0.9e6},
                                         {20, 48128, 8, 0.2e6},
                                         {1, 48128, 0, 0.1e6}};

// Empty, or why no launch could run this plan.
template <class T>
std::string wrong_with(const SoftmaxPlan& plan, int64_t rows, int64_t cols, const Chip& chip,
                       size_t workspace_bytes) {
    if (!(plan.us > 0)) return "no time";
    if (plan.reason == nullptr || *plan.reason == '\0') return "no reason";
    if (plan.workspace_bytes > workspace_bytes) return "more workspace than there is";
    if (plan.more_workspace_bytes > 0 && !(plan.us_with_more < plan.us)) return "no gain by more";
    if (plan.tier == Tier::lanes) {
        return cols <= warp_softmax::kMaxCols<T> ? "" : "lanes have not the registers";
    }
    if (plan.tier == Tier::tile) {
        if (cols > plan.tile.cols()) return "a tile too small";
        const bool in_packs = plan.tile.threads == 1 && plan.tile.pack % cols == 0;
        return in_packs || cols % plan.tile.pack == 0 ? "" : "packs over the end of a row";
    }
    const smem_softmax::Slice& slice = plan.cut.slice;
    const int64_t packs = smem_softmax::packs_of<T>(cols);
    if (plan.cut.blocks < 1) return "no blocks";
    const int64_t in_slices = slice.packs * plan.cut.blocks * smem_softmax::kWidest<T>;
    if (cols - in_slices > slice.threads) return "columns left over";
    if (plan.cut.blocks > 1 && slice.packs * (plan.cut.blocks - 1) >= packs) return "idle blocks";
    if (slice.threads < 32 || slice.threads > 1024 || slice.threads % 32 != 0) return "threads";
    if (static_cast<int64_t>(slice.shared()) > chip.room) return "more shared memory than there is";
    if (plan.cut.rows_at_once < 1) return "no rows";
    if (plan.tier == Tier::block && plan.cut.blocks != 1) return "a block of several";
    if (plan.tier == Tier::cluster && plan.cut.blocks > chip.largest_cluster) return "no cluster";
    if (plan.tier == Tier::grid) {
        const int64_t blocks = std::min(rows, plan.cut.rows_at_once) * plan.cut.blocks;
        const int64_t of_one = smem_softmax::divided_up(blocks, chip.multiprocessors);
        if (of_one > 2)
            return "more blocks than there is room";  // all blocks must run at the same time
        constexpr int64_t kReserved =
            1024;  // bytes reserved per block; chip.room excludes those of one block
        if (of_one * (static_cast<int64_t>(slice.shared()) + kReserved) > chip.room + kReserved)
            return "shared memory of the grid";
    }
    return "";
}

template <class T>
void hold_for(std::mt19937_64& random, int count) {
    // Small numbers are as frequent as large ones.
    const auto up_to = [&](int bits) {
        const auto most = int64_t{1} << (1 + random() % static_cast<unsigned>(bits));
        return 1 + static_cast<int64_t>(random() % static_cast<uint64_t>(most));
    };
    for (int i = 0; i < count; ++i) {
        const Chip& chip = kChips[random() % kChips.size()];
        const int64_t rows = up_to(32);
        const int64_t cols = std::min<int64_t>(up_to(31), INT32_MAX);
        const size_t workspace = random() % 2 == 0 ? 0 : size_t{1} << (random() % 24);
        const SoftmaxPlan plan = softmax_stages::softmax_plan<T>(rows, cols, {}, chip, workspace);
        const std::string wrong = wrong_with<T>(plan, rows, cols, chip, workspace);
        if (!wrong.empty())
            FAIL(rows << " x " << cols << ", workspace " << workspace << ": " << wrong);

        // More work never takes less time, and a larger workspace never takes more.
        const auto us = [&](int64_t of_rows, size_t with) {
            return softmax_stages::softmax_plan<T>(of_rows, cols, {}, chip, with).us;
        };
        if (us(rows, workspace) > us(2 * rows, workspace))
            FAIL(rows << " x " << cols << ": twice the rows");
        if (us(rows, SIZE_MAX) > us(rows, 0)) FAIL(rows << " x " << cols << ": with workspace");
    }
}

// Splits rows as if there were enough of them to fill a GPU, but launches the kernel on two rows only. They start
// `shift` elements past a cache line.
template <class T>
smem_softmax::Cut cut_for_many_rows_holds(const runner::Variant& softmax, int64_t cols,
                                          int64_t shift) {
    const operations::softmax::Shape shape{2, cols};
    const smem_softmax::Cut cut =
        smem_softmax::cut_for(int64_t{1} << 20, smem_softmax::packs_of<T>(cols),
                              smem_softmax::kWidest<T>, 1, softmax_stages::this_chip(), false);
    INFO(cols << " columns, " << cut.blocks << " blocks of " << cut.slice.threads << " threads, "
              << cut.slice.held << " packs each");
    const std::vector<T> values =
        testing::named_values<T>(operations::softmax::Input::masked, shape);
    const auto before = static_cast<size_t>(shift);
    std::vector<T> shifted(before);
    shifted.insert(shifted.end(), values.begin(), values.end());
    const runner::DeviceBuffer<T> x(shifted);
    runner::DeviceBuffer<T> y(shifted.size() + 1);
    y.poison();
    const smem_softmax::SoftmaxOf<smem_softmax::Algorithm::softmax, T> softmax_of{
        {x.data() + shift}, y.data() + shift};
    CHECK(smem_softmax::launch_as(cut, softmax_of, shape.rows, cols, nullptr, nullptr) ==
          cudaSuccess);
    const std::vector<T> around = y.download();
    testing::expect_good(softmax, values, {around.begin() + shift, around.end() - 1}, shape);
    for (size_t i = 0; i < before; ++i) CHECK(std::isnan(runner::to_double(around[i])));
    CHECK(std::isnan(runner::to_double(around.back())));
    return cut;
}

template <class T>
void cuts_for_many_rows_hold(const runner::Variant& softmax) {
    bool has_held[1 + smem_softmax::kHeld] = {};
    bool leaves_over = false;
    for (const int64_t cols :
         {4097, 6657, 8192, 13313, 18433, 20480, 26625, 36865, 50257, 73729, 90113, 151936}) {
        for (const int64_t shift : {0, 1, 31}) {
            const smem_softmax::Cut cut = cut_for_many_rows_holds<T>(softmax, cols, shift);
            has_held[cut.slice.held] = true;
            leaves_over =
                leaves_over || cut.blocks * cut.slice.packs < smem_softmax::packs_of<T>(cols);
        }
    }
    if constexpr (sizeof(T) == 2) {
        for (const int held :
             {smem_softmax::kSomeHeld, smem_softmax::kMostHeld, smem_softmax::kHeld}) {
            CHECK(has_held[held]);
        }
        CHECK(leaves_over);
    }
}

// Rows that take turns on a chip too small to hold them side by side.
template <class T>
void rows_in_turn_hold(const Chip& chip, int64_t cols) {
    using smem_softmax::Algorithm;
    using smem_softmax::Cut;
    int held = 0;
    for (const runner::Variant& variant : smem_softmax::on_chip_variants()) {
        const bool is_gradient = variant.name == "softmax_backward";
        const bool is_log = variant.name == "front_log_softmax";
        if (!is_gradient && !is_log && variant.name != "front_softmax") continue;
        ++held;
        const operations::softmax::Shape shape{7, cols};
        const int tensors = is_gradient ? 2 : 1;
        const Cut cut = smem_softmax::turns_cut(shape.rows, smem_softmax::packs_of<T>(cols),
                                                smem_softmax::kWidest<T>, tensors, chip)
                            .value();
        CHECK(cut.rows_at_once < shape.rows);
        runner::Variant in_turn = variant;
        in_turn.workspace_bytes = [&](operations::softmax::Shape, runner::DType) {
            return smem_softmax::workspace_bytes_of(cut, shape.rows);
        };
        in_turn.launch = [&](const operations::softmax::Call& call) {
            const auto run = [&](auto operation) {
                return smem_softmax::launch_as(cut, operation, call.rows, call.cols, call.workspace,
                                               call.stream);
            };
            using smem_softmax::GradientOf;
            using smem_softmax::SoftmaxOf;
            using smem_softmax::operation_on;
            if (is_gradient) return run(operation_on<GradientOf<Algorithm::softmax, T>>(call));
            return is_log ? run(operation_on<SoftmaxOf<Algorithm::log_softmax, T>>(call))
                          : run(operation_on<SoftmaxOf<Algorithm::softmax, T>>(call));
        };
        for (const operations::softmax::Input input : operations::softmax::all_inputs()) {
            if (sizeof(T) != 4 && input != operations::softmax::Input::masked) continue;
            INFO(variant.name << " of " << name_of(input) << ", " << cols
                              << " columns: " << cut.rows_at_once << " rows of " << cut.blocks
                              << " blocks, " << cut.slice.packs << " packs each");
            const std::vector<T> values = testing::operand_values<T>(variant, input, shape);
            testing::expect_good(variant, values, testing::result_of(in_turn, values, shape),
                                 shape);
        }
    }
    CHECK(held == 3);
}

}  // namespace plan_tests

TEST_CASE("rows in turn are right, with packs that the chip cannot keep as well") {
    // Several blocks per row that hold it in registers; and one block alone, with more than fits into registers.
    const auto hold = [](auto of, int64_t cols) {
        using T = decltype(of);
        plan_tests::rows_in_turn_hold<T>({3, 231424, 16, 4.27e6}, cols);
        plan_tests::rows_in_turn_hold<T>({1, 100352, 0, 0.1e6}, 2 * cols);
    };
    hold(float{}, 20003);
    hold(__half{}, 40009);
    hold(__nv_bfloat16{}, 40009);
    hold(double{}, 10001);
}

TEST_CASE("rows are right for every number of blocks, and of packs per thread") {
    for (const runner::Variant& variant : smem_softmax::on_chip_variants()) {
        if (variant.name != "front_softmax") continue;
        plan_tests::cuts_for_many_rows_hold<float>(variant);
        plan_tests::cuts_for_many_rows_hold<__half>(variant);
        plan_tests::cuts_for_many_rows_hold<__nv_bfloat16>(variant);
        plan_tests::cuts_for_many_rows_hold<double>(variant);
        return;
    }
    FAIL("no variant front_softmax");
}

TEST_CASE("a million plans: each can run and gives a reason, and more work never takes less time") {
    std::mt19937_64 random(2018);
    plan_tests::hold_for<float>(random, 250000);
    plan_tests::hold_for<__half>(random, 250000);
    plan_tests::hold_for<__nv_bfloat16>(random, 250000);
    plan_tests::hold_for<double>(random, 250000);
    CHECK(softmax_stages::softmax_plan<float>(4, 0, {}, plan_tests::kChips[0]).us >
          0);  // nothing to do
    CHECK(softmax_stages::softmax_plan<float>(0, 300000, {}, plan_tests::kChips[0], SIZE_MAX).us >
          0);
}

TEST_CASE(
    "the front calls of gradients and of any axis return the bits of the kernels they choose") {
    using testing::same_bits;
    constexpr int64_t kRows = 5;
    for (const int64_t cols : {7, 1000, 5000}) {
        const auto count = static_cast<size_t>(kRows * cols);
        const runner::DeviceBuffer<float> x(
            testing::named_values<float>(operations::softmax::Input::normal, {kRows, cols}));
        const runner::DeviceBuffer<float> dy(
            testing::named_values<float>(operations::softmax::Input::uniform, {kRows, cols}));
        runner::DeviceBuffer<float> y(count);
        runner::DeviceBuffer<float> front(count);
        runner::DeviceBuffer<float> direct(count);
        REQUIRE(softmax_stages::softmax(x.data(), y.data(), kRows, cols, {}, nullptr, 0, nullptr) ==
                cudaSuccess);
        REQUIRE(softmax_stages::softmax_backward(y.data(), dy.data(), front.data(), kRows, cols, {},
                                                 nullptr, 0, nullptr) == cudaSuccess);
        const bool in_lanes = cols <= 1024;
        REQUIRE((in_lanes ? warp_softmax::softmax_backward(y.data(), dy.data(), direct.data(),
                                                           kRows, cols, nullptr)
                          : smem_softmax::launch_rows(
                                smem_softmax::GradientOf<warp_softmax::Algorithm::softmax, float>{
                                    {y.data(), dy.data()}, direct.data()},
                                kRows, cols, nullptr, 0, nullptr)) == cudaSuccess);
        CHECK(same_bits(front.download(), direct.download()));
        REQUIRE(softmax_stages::log_softmax(x.data(), front.data(), 1, kRows, {cols}, nullptr, 0,
                                            nullptr) == cudaSuccess);
        const smem_softmax::SoftmaxOf<warp_softmax::Algorithm::log_softmax, float> log_softmax{
            {x.data()}, direct.data()};
        REQUIRE(smem_softmax::any_axis::launch(log_softmax, {1, kRows, cols}, nullptr, 0,
                                               nullptr) == cudaSuccess);
        CHECK(same_bits(front.download(), direct.download()));
    }
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
}
