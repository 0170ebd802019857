// SPDX-License-Identifier: MIT
// `fuzz` finds what is wrong with a kernel, says where, and finds it again.
#include "common/runner/fuzz.hpp"

#include <algorithm>
#include <set>

#include "common/runner/device.hpp"
#include "common/testing/catch.hpp"

namespace {

using namespace runner;

// Log-sum-exp of rows of one column, which is x itself: a kernel that needs no kernel.
Variant copy_of_x() {
    Variant variant;
    variant.name = "copy";
    variant.operation = Operation::log_sum_exp;
    variant.dtypes = all_dtypes();
    variant.obstacle = [](Shape shape, DType) { return shape.cols > 1 ? "one column" : ""; };
    variant.threads_per_row = [](Shape, DType) { return 1; };
    variant.launch = [](const Call& call) {
        return cudaMemcpyAsync(call.y, call.x, static_cast<size_t>(call.rows) * size_of(call.dtype),
                               cudaMemcpyDeviceToDevice, call.stream);
    };
    return variant;
}

Stage stage_of(const Variant& variant) {
    Stage stage;
    stage.name = "99_copy";
    stage.variants = {variant};
    return stage;
}

std::string first_fault(const Variant& variant, int64_t cases) {
    const Stage stage = stage_of(variant);
    for (int64_t number = 0; number < cases; ++number) {
        const std::string wrong = run_case(fuzz_case({&stage}, "", 3, number, 4096));
        if (!wrong.empty()) return wrong;
    }
    return "";
}

}  // namespace

TEST_CASE("a case is a function of seed and number, and cases differ in everything") {
    const Stage stage = stage_of(copy_of_x());
    std::set<std::string> texts;
    std::set<DType> dtypes;
    std::set<int64_t> offsets;
    for (int64_t number = 0; number < 200; ++number) {
        const FuzzCase one = fuzz_case({&stage}, "", 3, number, 4096);
        CHECK(text_of(one) == text_of(fuzz_case({&stage}, "", 3, number, 4096)));
        CHECK(elements(one.shape) <= 4096);
        texts.insert(text_of(one));
        dtypes.insert(one.dtype);
        offsets.insert(one.x_offset);
    }
    CHECK(texts.size() > 190);
    CHECK(dtypes.size() == 4);
    CHECK(offsets.size() == 17);
}

TEST_CASE("fuzz passes what is right and finds what is wrong") {
    const Variant right = copy_of_x();
    CHECK(first_fault(right, 60) == "");

    Variant forgets = right;  // the last row of many
    forgets.launch = [&](const Call& call) {
        Call fewer = call;
        fewer.rows -= call.rows > 100;
        return right.launch(fewer);
    };
    CHECK_THAT(first_fault(forgets, 200), ContainsSubstring("1 of"));

    Variant overruns = right;  // one element behind the result
    overruns.launch = [&](const Call& call) {
        cudaMemset(
            static_cast<char*>(call.y) + static_cast<size_t>(call.rows) * size_of(call.dtype), 0,
            1);
        return right.launch(call);
    };
    CHECK(first_fault(overruns, 3) == "memory beside x or y was written to");

    Variant scribbles = right;  // over its input, behind its back
    scribbles.launch = [&](const Call& call) {
        const cudaError_t status = right.launch(call);
        cudaMemset(const_cast<void*>(call.x), 0x11, 1);
        return status;
    };
    CHECK(first_fault(scribbles, 3) == "x was written to");

    // Rows that lie apart.
    const auto strided = [](size_t most) {
        Variant variant = copy_of_x();
        variant.takes_strides = true;
        variant.launch = [most](const Call& call) {
            const size_t size = size_of(call.dtype);
            const auto x_stride = static_cast<size_t>(std::max<int64_t>(1, call.x_stride));
            const auto y_stride = static_cast<size_t>(std::max<int64_t>(1, call.y_stride));
            return cudaMemcpy2D(call.y, y_stride * size, call.x, x_stride * size,
                                std::min({most, x_stride, y_stride}) * size,
                                static_cast<size_t>(call.rows), cudaMemcpyDeviceToDevice);
        };
        return variant;
    };
    CHECK(first_fault(strided(1), 60) == "");
    CHECK(first_fault(strided(2), 60) == "memory beside x or y was written to");
    Variant ignores = right;  // the strides
    ignores.takes_strides = true;
    CHECK_THAT(first_fault(ignores, 60), ContainsSubstring("elements wrong"));

    Variant fails = right;
    fails.launch = [](const Call&) { return cudaErrorInvalidValue; };
    CHECK(first_fault(fails, 1) == "the launch: cudaErrorInvalidValue");
}

TEST_CASE("a case that fails fails again alone, and no other does") {
    const Variant right = copy_of_x();
    Variant forgets = right;
    std::vector<bool> fails;  // in the order of the cases
    forgets.launch = [&](const Call& call) {
        fails.push_back(call.rows > 100);
        Call fewer = call;
        fewer.rows -= call.rows > 100;
        return right.launch(fewer);
    };
    const Stage stage = stage_of(forgets);
    FuzzOptions options;
    CHECK(fuzz({stage}, options) == kWrong);
    const auto first = static_cast<int64_t>(fails.size()) - 1;
    CHECK(std::count(fails.begin(), fails.end(), true) == 1);
    for (options.only = 0; *options.only <= first; ++*options.only)
        CHECK(fuzz({stage}, options) == (*options.only == first ? kWrong : kGood));
}
