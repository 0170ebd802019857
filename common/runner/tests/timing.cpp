// SPDX-License-Identifier: MIT
// The clock, on work of known cost. Without a GPU there is nothing to time.
#include "common/runner/timing.hpp"

#include <chrono>
#include <cmath>
#include <thread>

#include "common/runner/build_info.hpp"
#include "common/runner/device.hpp"
#include "common/testing/catch.hpp"
#include "common/testing/skip.hpp"

TEST_CASE("the clock times the GPU and not the host that queues the work") {
    if (!runner::on_gpu()) return testing::skip("only a GPU has a clock");
    const runner::Work prompt = [](cudaStream_t stream) { runner::spin_for(200000, stream); };
    const runner::Work slow_to_queue = [&](cudaStream_t stream) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        prompt(stream);
    };
    const std::vector<runner::Timing> timings = runner::time_alternately({prompt, slow_to_queue});
    REQUIRE(timings.size() == 2);
    CHECK(timings[0].us_median >= 200);  // the clock may run below its highest rate, not above
    CHECK(timings[0].us_median < 400);
    CHECK(timings[1].us_median < 1.05 * timings[0].us_median);
}

TEST_CASE("in blocks each has the GPU for a while, and its time is what it is alternately") {
    if (!runner::on_gpu()) return testing::skip("only a GPU has a clock");
    const runner::Work one = [](cudaStream_t stream) { runner::spin_for(200000, stream); };
    const runner::Work two = [&](cudaStream_t stream) { one(stream), one(stream); };
    const auto start = std::chrono::steady_clock::now();
    const std::vector<runner::Timing> timings = runner::time_in_blocks({one, two}, 50);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    REQUIRE(timings.size() == 2);
    CHECK(took.count() >= 4 * 0.05);
    CHECK(timings[0].repeats >= 64);  // queued several at a time
    CHECK(timings[0].us_median >= 200);
    CHECK(timings[0].us_median < 400);
    CHECK(timings[1].us_median > 1.9 * timings[0].us_median);
    CHECK(timings[1].us_median < 2.1 * timings[0].us_median);
}

TEST_CASE("the clock refuses work that waits for the GPU") {
    if (!runner::on_gpu()) return testing::skip("only a GPU has a clock");
    CHECK_THROWS_AS(
        runner::time_alternately({[](cudaStream_t stream) { cudaStreamSynchronize(stream); }}),
        std::runtime_error);
}

TEST_CASE(
    "the clock's time grows by what the work grows, and starts where an empty kernel's does") {
    if (!runner::on_gpu()) return testing::skip("only a GPU has a clock");
    const auto spin = [](long long us) {
        return [us](cudaStream_t stream) { runner::spin_for(1000 * us, stream); };
    };
    const std::vector<runner::Timing> t =
        runner::time_alternately({spin(0), spin(50), spin(100), spin(200)});
    const double fifty = t[1].us_median - t[0].us_median;
    CHECK(fifty >= 49);  // a spin of nothing takes its own few cycles
    CHECK(std::fabs(t[2].us_median - t[1].us_median - fifty) < 0.03 * fifty);
    CHECK(std::fabs(t[3].us_median - t[2].us_median - 2 * fifty) < 0.06 * fifty);
    CHECK(t[0].us_median < 10);
}

TEST_CASE("what is read comes from DRAM, although it was read a moment ago and would fit the L2") {
    if (!runner::on_gpu()) return testing::skip("only a GPU has a clock");
    const auto read_gbps = [](size_t bytes) {
        runner::DeviceBuffer<float> x(bytes / sizeof(float));
        runner::RoofWork roof;
        roof.roof = runner::Roof::read;
        roof.first = x.data();
        roof.first_bytes = static_cast<int64_t>(bytes);
        const runner::TimedVariant timed = runner::time_with_roof([](cudaStream_t) {}, roof);
        return static_cast<double>(bytes) / (timed.roof.us_median - timed.empty.us_median) / 1e3;
    };
    CHECK(read_gbps(size_t{16} << 20) < 1.1 * read_gbps(size_t{2} << 30));
}

TEST_CASE("a copy of two inputs takes as long as one of an input that is as long as both") {
    if (!runner::on_gpu()) return testing::skip("only a GPU has a clock");
    constexpr size_t kBytes = size_t{256} << 20;
    runner::DeviceBuffer<float> x(2 * kBytes / sizeof(float));
    const auto us = [&](size_t first_bytes, size_t second_bytes) {
        runner::RoofWork roof;
        roof.first = x.data();
        roof.first_bytes = static_cast<int64_t>(first_bytes);
        roof.second = x.data() + first_bytes / sizeof(float);
        roof.second_bytes = static_cast<int64_t>(second_bytes);
        return runner::time_with_roof([](cudaStream_t) {}, roof).roof.us_median;
    };
    const double one = us(2 * kBytes, 0);
    CHECK(std::fabs(us(kBytes, kBytes) - one) < 0.05 * one);
    CHECK(us(kBytes, 4) < 0.6 * one);  // what is next to nothing is left out
}

TEST_CASE("a time below its roof or of wide spread is called odd") {
    const runner::Timing steady{100, 99, 99.5, 101, 50};
    const runner::Timing roof{90, 89, 89.5, 91, 50};
    CHECK(runner::oddities({steady, roof, {}}).empty());
    CHECK(runner::oddities({steady, {103, 102, 102, 104, 50}, {}}) ==
          std::vector<std::string>{"is faster than its roof"});
    CHECK(runner::oddities({{100, 80, 90, 113, 50}, roof, {}}) ==
          std::vector<std::string>{"varies: 90.0 to 113.0 us"});
}
