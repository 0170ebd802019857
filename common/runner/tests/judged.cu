// SPDX-License-Identifier: MIT
// Nothing judged is not good; what is left open is counted, with its reason.
#include "common/runner/npy.hpp"
#include "common/runner/tests/made_up.hpp"
#include "common/runner/validation.hpp"

namespace {

using namespace made_up;

// exp(x) and its sum as they are.
__global__ void naive_rows(const float* x, float* y, int64_t rows, int64_t cols) {
    const int64_t row = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float sum = 0;
    for (int64_t col = 0; col < cols; ++col) sum += expf(x[row * cols + col]);
    for (int64_t col = 0; col < cols; ++col) y[row * cols + col] = expf(x[row * cols + col]) / sum;
}

Variant naive() {
    Variant variant = variant_named("naive", [](const SoftmaxCall& call) {
        naive_rows<<<static_cast<unsigned>((call.rows + 31) / 32), 32, 0, call.stream>>>(
            call.input<float>(), call.output<float>(), call.rows, call.cols);
        return cudaGetLastError();
    });
    variant.overflows = true;
    variant.traffic = {2, 1};
    return variant;
}

// Rows of a file: of the first `border` the sum is subnormal.
Outcome outcome_with_border(int64_t rows, int64_t border) {
    const Folder folder;
    std::vector<double> x(static_cast<size_t>(rows) * 2, 1);
    std::fill_n(x.begin(), border * 2, -90.);
    RunOptions options;
    options.input_file = folder.path / "x.npy";
    write_npy(options.input_file, {rows, 2}, x, ElementType::float32);
    return outcome_of(stage_of({naive()}), options);
}

Report report_of(int64_t checked, int64_t unchecked) {
    Report report;
    report.checked = checked;
    report.unchecked = unchecked;
    report.why_unchecked = "a sum may overflow";
    return report;
}

}  // namespace

TEST_CASE("a run of which nothing was judged is not good, and says what was left open and why") {
    const Outcome none = outcome_with_border(3, 3);
    INFO(none.text);
    CHECK(none.code == kWrong);
    CHECK_THAT(joined(none.text),
               ContainsSubstring("naive 0 of 1") && ContainsSubstring("NOT JUDGED naive: ") &&
                   ContainsSubstring("6 of 6 elements (100 %) are left open: exp(x)") &&
                   ContainsSubstring("Nothing was checked: see above.") &&
                   !ContainsSubstring("ood."));

    const Outcome part = outcome_with_border(4, 1);
    INFO(part.text);
    CHECK(part.code == kGood);
    CHECK_THAT(joined(part.text),
               ContainsSubstring("naive 1 of 1") && ContainsSubstring("partly open in 1 case") &&
                   ContainsSubstring("2 of 8 elements (25 %) are left open: exp(x)"));
}

TEST_CASE("a case that is all open is missing among those that are good") {
    Validation validation;
    validation.add("first", report_of(10, 0));
    CHECK(validation.verdict() == Verdict::good);
    validation.add("second", report_of(5, 5));
    CHECK(validation.verdict() == Verdict::good);
    CHECK(validation.open().at("a sum may overflow").all == 10);
    validation.add("third", report_of(0, 10));
    CHECK(validation.verdict() == Verdict::incomplete);
    CHECK(validation.count() == "2 of 3");
    CHECK_THAT(validation.remarks("x").front(), ContainsSubstring("NOT JUDGED x: third: "));
    CHECK_FALSE(report_of(0, 10).good());
    CHECK_FALSE(Report().good());
}

TEST_CASE("what changes no result is said after all that does") {
    Validation validation;
    validation.add_failure("first", "a race of equal values", "race", true);
    validation.add_failure("second", "the result is wrong", "result");
    validation.add_failure("third", "a race of equal values", "another race", true);
    validation.add_failure("fourth", "the input is overwritten", "input");
    std::vector<std::string> causes;
    for (const Validation::Failure& failure : validation.failures())
        causes.push_back(failure.cause);
    CHECK(causes == std::vector<std::string>{"result", "input", "race", "another race"});
}
