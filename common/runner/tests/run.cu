// SPDX-License-Identifier: MIT
// What `run` says of stages that are not as they should be, and what it leaves behind.
#include <cmath>
#include <csignal>

#include "common/runner/tests/made_up.hpp"
#include "common/testing/page.hpp"
#include "common/testing/skip.hpp"

namespace {

using namespace made_up;
using testing::count_of;

struct MaxAndSum {
    float max;
    float sum;
};

__device__ MaxAndSum max_and_sum(const float* x, int64_t cols) {
    float max = -INFINITY;
    for (int64_t col = 0; col < cols; ++col) max = fmaxf(max, x[col]);
    float sum = 0;
    for (int64_t col = 0; col < cols; ++col) sum += expf(x[col] - max);
    return {max, sum};
}

// A row a block of one thread; right where scale is 1 and beyond is 0.
__global__ void scaled_softmax(const float* x, float* y, int64_t cols, float scale,
                               int64_t beyond) {
    x += blockIdx.x * cols;
    y += blockIdx.x * cols;
    const MaxAndSum of_row = max_and_sum(x, cols);
    for (int64_t col = 0; col < cols + beyond; ++col)
        y[col] = expf(x[col % cols] - of_row.max) / of_row.sum * scale;
}

// A row a block of two warps, of which the second takes what the first has written.
template <bool kBarrier>
__global__ void shared_softmax(const float* x, float* y, int64_t cols) {
    __shared__ float sums[32];
    x += blockIdx.x * cols;
    y += blockIdx.x * cols;
    const MaxAndSum of_row = max_and_sum(x, cols);
    if (threadIdx.x < 32) sums[threadIdx.x] = of_row.sum;
    if (kBarrier) __syncthreads();
    const float sum = sums[threadIdx.x % 32];
    for (int64_t col = threadIdx.x; col < cols; col += 64) y[col] = expf(x[col] - of_row.max) / sum;
}

Variant scaled(const std::string& name, float scale, int64_t beyond = 0) {
    return variant_named(name, [=](const SoftmaxCall& call) {
        scaled_softmax<<<static_cast<unsigned>(call.rows), 1, 0, call.stream>>>(
            call.input<float>(), call.output<float>(), call.cols, scale, beyond);
        return cudaGetLastError();
    });
}

template <bool kBarrier>
Variant shared(const std::string& name) {
    Variant variant = variant_named(name, [](const SoftmaxCall& call) {
        shared_softmax<kBarrier><<<static_cast<unsigned>(call.rows), 64, 0, call.stream>>>(
            call.input<float>(), call.output<float>(), call.cols);
        return cudaGetLastError();
    });
    variant.traffic = {2 * 64 + 1, 1};  // each thread reads the row for itself
    return variant;
}

}  // namespace

TEST_CASE("a right variant behind a wrong one is not called wrong") {
    const Stage stage =
        stage_of({scaled("doubled", 2), scaled("careful", 1), scaled("same_again", 1)});
    const Outcome all = outcome_of(stage);
    INFO(all.text);
    CHECK(all.code == kWrong);
    const std::string text = joined(all.text);
    CHECK_THAT(text,
               ContainsSubstring("careful 11 of 11") && ContainsSubstring("same_again 11 of 11"));
    CHECK_THAT(text,
               ContainsSubstring("WRONG doubled: uniform, float32, 4 x 33: 132 of 132 elements"));
    CHECK_THAT(text, ContainsSubstring("and 7 more like it"));
    CHECK_THAT(text, ContainsSubstring("careful not compared in 10 cases: doubled is wrong"));
    CHECK_THAT(text, !ContainsSubstring("WRONG careful") && !ContainsSubstring("same_again not"));
    CHECK_THAT(text, ContainsSubstring("Something is WRONG"));

    RunOptions one;
    one.variant = "careful";
    const Outcome alone = outcome_of(stage, one);
    CHECK(alone.code == kWrong);
    CHECK_THAT(alone.text, ContainsSubstring("Nothing that was checked is wrong, but not all was"));

    one.variant = "same_again";
    CHECK(outcome_of(stage, one).code == kGood);
    CHECK_THAT(outcome_of(stage, one).text, ContainsSubstring("All good"));
}

TEST_CASE("shares of a bound that are absurd burst no column") {
    const Outcome outcome =
        outcome_of(stage_of({scaled("enormous", 1e30f), scaled("infinite", INFINITY)}));
    INFO(outcome.text);
    CHECK_THAT(outcome.text, ContainsSubstring("e+") && ContainsSubstring("inf"));
}

TEST_CASE("an error of a kernel is told once, and is no error of the next variant") {
    if (!on_cpu()) return testing::skip_on_gpu("a GPU's context does not survive one");
    const Outcome outcome =
        outcome_of(stage_of({scaled("beyond", 1, 1000000), scaled("careful", 1)}));
    INFO(outcome.text);
    const std::string text = joined(outcome.text);
    CHECK(outcome.code == kWrong);
    CHECK(count_of("WRONG beyond:", text) == 1);
    CHECK_THAT(text, ContainsSubstring("kernel ") && ContainsSubstring("run.cu:"));
    CHECK_THAT(text, ContainsSubstring("and 10 more like it"));
    CHECK_THAT(text, ContainsSubstring("careful not compared in 11 cases: beyond is wrong"));
    CHECK_THAT(text, ContainsSubstring("careful 4 x 33"));  // counted all the same
}

TEST_CASE("what could not be run for want of memory is not called wrong, nor good") {
    const Variant greedy =
        variant_named("greedy", [](const Call&) { return cudaErrorMemoryAllocation; });
    const Outcome outcome = outcome_of(stage_of({scaled("careful", 1), greedy}));
    INFO(outcome.text);
    const std::string text = joined(outcome.text);
    CHECK(outcome.code == kWrong);
    CHECK_THAT(text, ContainsSubstring("greedy 0 of 11"));
    CHECK_THAT(text,
               ContainsSubstring("not run: greedy: uniform, float32, 4 x 33: memory is short"));
    CHECK_THAT(text, ContainsSubstring("and 10 more like it"));
    CHECK_THAT(text, !ContainsSubstring("WRONG") && ContainsSubstring("but not all was"));
}

TEST_CASE("where nothing was checked nothing is good") {
    const Folder folder;
    Variant picky = scaled("picky", 1);
    picky.obstacle = [](const Shape&, DType) { return "is never content"; };
    RunOptions options;
    options.quick = true;
    options.out = folder.path / "results";
    {
        const Redirected redirected(folder.path / "printed");
        CHECK(run({stage_of({picky})}, options) == kWrong);
    }
    const std::string text = joined(folder.read("printed"));
    CHECK_THAT(text, ContainsSubstring("left out: picky: is never content"));
    CHECK_THAT(text, ContainsSubstring("Nothing was checked: see above."));
    CHECK_THAT(text, !ContainsSubstring("good"));
}

TEST_CASE("a shape that the memory has no room for is refused before anything runs") {
    int launches = 0;
    Variant counted = scaled("counted", 1);
    counted.launch = [&](const Call&) {
        ++launches;
        return cudaSuccess;
    };
    RunOptions options;
    options.shapes = {{int64_t{1} << 20, int64_t{1} << 20}};
    CHECK_THROWS_WITH(outcome_of(stage_of({counted}), options),
                      ContainsSubstring("counted needs 13194.1 GB of memory") ||
                          ContainsSubstring("of the GPU's memory"));
    Variant scratch = counted;
    scratch.workspace_bytes = [](const Shape&, DType) { return size_t{1} << 50; };
    CHECK_THROWS_AS(outcome_of(stage_of({scratch})), UsageError);
    CHECK_THROWS_AS(outcome_of(stage_of({scratch, counted})), UsageError);  // compared with it
    CHECK(launches == 0);
}

TEST_CASE("a barrier that is missing is found though the results are right") {
    if (!on_cpu()) return testing::skip_on_gpu("a GPU counts nothing");
    const Outcome good = outcome_of(stage_of({shared<true>("with_barrier")}));
    INFO(good.text);
    CHECK(good.code == kGood);
    CHECK_THAT(joined(good.text),
               ContainsSubstring("Races in shared memory, looked for in 1 launch: none."));

    const Outcome racing = outcome_of(stage_of({shared<false>("without_barrier")}));
    INFO(racing.text);
    const std::string text = joined(racing.text);
    CHECK(racing.code == kWrong);
    CHECK_THAT(text, ContainsSubstring("without_barrier 11 of 11"));
    CHECK_THAT(text, ContainsSubstring("WRONG without_barrier: ") &&
                         ContainsSubstring("race in shared memory"));
    CHECK_THAT(text, ContainsSubstring("written at") && ContainsSubstring("read at"));
    CHECK(count_of("run.cu:", text) == 2);
    CHECK_THAT(text, !ContainsSubstring("none."));
}

TEST_CASE("a run that is ended while it measures keeps what it has measured") {
    const Folder folder;
    const Variant first = scaled("first", 1);
    Variant ending = first;
    ending.name = "ending";
    bool has_ended = false;
    const auto handler = [] {
        struct sigaction now {};
        sigaction(SIGTERM, nullptr, &now);
        return now.sa_handler;
    };
    const auto before = handler();  // Catch2's own
    ending.launch = [&](const Call& call) {
        if (handler() != before) {  // it is measured, and not checked
            has_ended = true;
            std::raise(SIGTERM);
        }
        return first.launch(call);
    };
    RunOptions options;
    options.out = folder.path;
    options.shapes = {{4, 8}};
    {
        const Redirected redirected(folder.path / "printed");
        CHECK(run({stage_of({first, ending, scaled("last", 1)})}, options) == kWrong);
    }
    CHECK(has_ended);
    const std::string records = folder.read("97_made_up.partial.json");
    CHECK_THAT(records, ContainsSubstring("\"chosen\":\"--shape 4x8, ended by a signal\""));
    CHECK_THAT(records, ContainsSubstring("\"first\"") && !ContainsSubstring("\"last\""));
    CHECK_THAT(joined(folder.read("printed")),
               ContainsSubstring("ended by a signal") && ContainsSubstring("but not all was"));
    CHECK(handler() == before);
}

TEST_CASE("part of a run leaves the records of a full one alone") {
    if (!on_cpu()) return testing::skip_on_gpu("a full run takes rows of a million columns there");
    const Folder folder;
    const Stage stage = stage_of({scaled("careful", 1), scaled("same_again", 1)});
    const auto records_of = [&](RunOptions options) {
        options.out = folder.path;
        const Redirected redirected(folder.path / "printed");
        CHECK(run({stage}, options) == kGood);
    };
    records_of({});
    const std::string full = folder.read("97_made_up.json");
    CHECK_THAT(full, ContainsSubstring("same_again") && !ContainsSubstring("\"chosen\""));

    RunOptions part;
    part.variant = "careful";
    part.shapes = {{4, 8}};
    records_of(part);
    CHECK(folder.read("97_made_up.json") == full);
    CHECK_THAT(folder.read("97_made_up.partial.json"),
               ContainsSubstring("\"chosen\":\"--variant careful --shape 4x8\"") &&
                   ContainsSubstring("\"rows\":4"));
    RunOptions quick;
    quick.quick = true;
    quick.dtypes = {DType::float32};  // what a full run measures
    records_of(quick);
    CHECK(folder.read("97_made_up.json") == full);
    CHECK_THAT(folder.read("97_made_up.partial.json"), ContainsSubstring("\"chosen\":\"--quick\""));
}
