// SPDX-License-Identifier: MIT
// A launcher that writes to its input, or reads its output before it has written it, is named wherever results
// are checked.
#include <cmath>

#include "common/runner/device.hpp"
#include "common/runner/overwritten.hpp"
#include "common/runner/tests/made_up.hpp"

namespace {

using namespace made_up;

// A row a thread. kept: x stays as it is; otherwise the maximum is subtracted there.
__global__ void softmax_rows(float* x, float* y, int64_t rows, int64_t cols, bool kept) {
    const int64_t row = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    x += row * cols;
    y += row * cols;
    float max = -INFINITY;
    for (int64_t col = 0; col < cols; ++col) max = fmaxf(max, x[col]);
    if (!kept) {
        for (int64_t col = 0; col < cols; ++col) x[col] -= max;
        max = 0;
    }
    float sum = 0;
    for (int64_t col = 0; col < cols; ++col) sum += expf(x[col] - max);
    for (int64_t col = 0; col < cols; ++col) y[col] = expf(x[col] - max) / sum;
}

// A row a thread, that takes what lies in y for something.
enum class Reads { nothing, larger, nan };
__global__ void softmax_that_reads(const float* x, float* y, int64_t rows, int64_t cols,
                                   Reads reads) {
    const int64_t row = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    x += row * cols;
    y += row * cols;
    float max = -INFINITY, sum = 0;
    for (int64_t col = 0; col < cols; ++col) max = fmaxf(max, x[col]);
    for (int64_t col = 0; col < cols; ++col) sum += expf(x[col] - max);
    for (int64_t col = 0; col < cols; ++col) {
        const float p = expf(x[col] - max) / sum;
        y[col] = reads == Reads::larger ? fmaxf(y[col], p)
                 : reads == Reads::nan  ? (isnan(y[col]) ? p : 7)
                                        : p;
    }
}

Variant reading(const std::string& name, Reads reads) {
    return variant_named(name, [=](const SoftmaxCall& call) {
        softmax_that_reads<<<static_cast<unsigned>((call.rows + 31) / 32), 32, 0, call.stream>>>(
            call.input<float>(), call.output<float>(), call.rows, call.cols, reads);
        return cudaGetLastError();
    });
}

Variant softmax(const std::string& name, bool kept) {
    return variant_named(name, [=](const SoftmaxCall& call) {
        softmax_rows<<<static_cast<unsigned>((call.rows + 31) / 32), 32, 0, call.stream>>>(
            const_cast<float*>(call.input<float>()), call.output<float>(), call.rows, call.cols,
            kept);
        return cudaGetLastError();
    });
}

}  // namespace

TEST_CASE("a variant that overwrites its input is wrong, and the next has the input as it was") {
    const Outcome outcome =
        outcome_of(stage_of({softmax("subtracts", false), softmax("careful", true)}));
    INFO(outcome.text);
    const std::string text = joined(outcome.text);
    CHECK(outcome.code == kWrong);
    CHECK_THAT(text, ContainsSubstring("WRONG subtracts: uniform, float32, 4 x 33: x, an input, "
                                       "was overwritten: 132 of 132 elements, first at (0, 0): "));
    CHECK_THAT(text, ContainsSubstring(" before, -") && ContainsSubstring("more like it"));
    if (on_cpu()) CHECK_THAT(text, ContainsSubstring("kept.cu:"));
    CHECK_THAT(text, ContainsSubstring("careful 11 of 11") && !ContainsSubstring("WRONG careful"));
    CHECK(outcome_of(stage_of({softmax("careful", true)})).code == kGood);
}

TEST_CASE("what has become of an operand is said by element, whatever its type") {
    const Operand picks{"picks", Role::in, ElementType::int32, {2, 3}};
    const DeviceBuffer<int32_t> before(std::vector<int32_t>{1, 2, 3, 4, 5, 6});
    const DeviceBuffer<int32_t> now(std::vector<int32_t>{1, 2, 3, 4, -7, 8});
    CHECK_FALSE(overwritten(picks, before.data(), before.data()).has_value());
    const auto found = overwritten(picks, before.data(), now.data());
    REQUIRE(found.has_value());
    CHECK(found->first == 4);
    CHECK(found->text ==
          "picks, an input, was overwritten: 2 of 6 elements, first at (1, 1): 5 before, -7 now");
    // NaN is as good as any other value; every byte counts, those behind the last whole word, too.
    const std::vector<float> nans(7, NAN);
    std::vector<float> other = nans;
    other.back() = 0;
    const DeviceBuffer<float> a(nans), b(nans), c(other);
    CHECK(digest_of(a.data(), a.bytes()) == digest_of(b.data(), b.bytes()));
    CHECK(digest_of(a.data(), a.bytes()) != digest_of(c.data(), c.bytes()));
}

TEST_CASE("a variant that reads its output before it writes it is wrong, though NaN hides it") {
    for (const Reads reads : {Reads::larger, Reads::nan}) {
        const Outcome outcome = outcome_of(stage_of({reading("reads", reads)}));
        INFO(outcome.text);
        CHECK(outcome.code == kWrong);
        CHECK_THAT(joined(outcome.text),
                   ContainsSubstring("WRONG reads: uniform, float32, 4 x 33: the result depends on "
                                     "what lay in the output before"));
    }
    CHECK(outcome_of(stage_of({reading("careful", Reads::nothing)})).code == kGood);
}
