// SPDX-License-Identifier: MIT
// The clock, on work of known cost. Without a GPU there is nothing to time.
#include "common/runner/timing.hpp"

#include <chrono>
#include <thread>

#include "common/runner/build_info.hpp"
#include "common/testing/catch.hpp"

TEST_CASE("the clock times the GPU and not the host that queues the work") {
    if (runner::build_info().backend != "cuda") return;
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

TEST_CASE("the clock refuses work that waits for the GPU") {
    if (runner::build_info().backend != "cuda") return;
    CHECK_THROWS_AS(
        runner::time_alternately({[](cudaStream_t stream) { cudaStreamSynchronize(stream); }}),
        std::runtime_error);
}
