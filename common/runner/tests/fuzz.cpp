// SPDX-License-Identifier: MIT
// `fuzz` finds what is wrong with a kernel, says where, and finds it again.
#include "common/runner/fuzz.hpp"

#include <algorithm>
#include <set>

#include "common/operations/softmax/call.hpp"
#include "common/runner/device.hpp"
#include "common/testing/catch.hpp"

namespace {

using namespace runner;
using operations::softmax::Kind;
using operations::softmax::launch;
using SoftmaxCall = operations::softmax::Call;

// Log-sum-exp of rows of one column, which is x itself: a kernel that needs no kernel.
Variant copy_of_x() {
    Variant variant;
    variant.name = "copy";
    variant.operation = operations::softmax::operation_of(Kind::log_sum_exp);
    variant.dtypes = all_dtypes();
    variant.obstacle = [](const operations::softmax::Shape& shape, DType) {
        return shape.cols > 1 ? "one column" : "";
    };
    variant.partial_sums = [](const Shape&, DType) { return 1; };
    variant.launch = [](const SoftmaxCall& call) {
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
        const FuzzCase one = fuzz_case({&stage}, "", 3, number, 4096);
        if (one.input == "special") continue;  // what computes nothing knows nothing of NaN
        const std::string wrong = run_case(one);
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
        CHECK(one.variant->operation->elements(one.shape) <= 4096);
        texts.insert(text_of(one));
        dtypes.insert(one.dtype);
        offsets.insert(one.place("x").offset);
    }
    CHECK(texts.size() > 190);
    CHECK(dtypes.size() == 4);
    CHECK(offsets.size() == 17);
}

TEST_CASE("fuzz passes what is right and finds what is wrong") {
    const Variant right = copy_of_x();
    CHECK(first_fault(right, 60) == "");

    Variant forgets = right;  // the last row of many
    forgets.launch = [&](const SoftmaxCall& call) {
        SoftmaxCall fewer = call;
        fewer.rows -= call.rows > 100;
        return launch(right, fewer);
    };
    CHECK_THAT(first_fault(forgets, 200), ContainsSubstring("1 of"));

    Variant overruns = right;  // one element behind the result
    overruns.launch = [&](const SoftmaxCall& call) {
        cudaMemset(
            static_cast<char*>(call.y) + static_cast<size_t>(call.rows) * size_of(call.dtype), 0,
            1);
        return launch(right, call);
    };
    CHECK(first_fault(overruns, 3) == "memory beside y was written to");

    Variant scribbles = right;  // over its input, behind its back
    scribbles.launch = [&](const SoftmaxCall& call) {
        const cudaError_t status = launch(right, call);
        cudaMemset(const_cast<void*>(call.x), 0x11, 1);
        return status;
    };
    CHECK_THAT(first_fault(scribbles, 3), ContainsSubstring("x, an input, was overwritten: 1 of"));

    // Rows that lie apart: the logarithm of a row's only probability is 0.
    const auto strided = [](int64_t most, bool apart) {
        Variant variant = copy_of_x();
        variant.operation = operations::softmax::operation_of(Kind::log_softmax);
        variant.takes_strides = true;
        variant.launch = [=](const SoftmaxCall& call) {
            const size_t size = size_of(call.dtype);
            const int64_t stride = apart ? std::max<int64_t>(1, call.y_stride) : 1;
            for (int64_t row = 0; row < call.rows; ++row) {
                cudaMemset(static_cast<char*>(call.y) + static_cast<size_t>(row * stride) * size, 0,
                           static_cast<size_t>(std::min(most, stride)) * size);
            }
            return cudaSuccess;
        };
        return variant;
    };
    CHECK(first_fault(strided(1, true), 60) == "");
    CHECK_THAT(first_fault(strided(2, true), 60), ContainsSubstring("memory beside "));
    CHECK_THAT(first_fault(strided(1, false), 60), ContainsSubstring("elements wrong"));

    Variant fails = right;
    fails.launch = [](const Call&) { return cudaErrorInvalidValue; };
    CHECK(first_fault(fails, 3) == "the launch: cudaErrorInvalidValue");
}

TEST_CASE("a case that fails fails again alone, and no other does") {
    const Variant right = copy_of_x();
    Variant forgets = right;
    std::vector<bool> fails;  // in the order of the cases
    forgets.launch = [&](const SoftmaxCall& call) {
        fails.push_back(call.rows > 100);
        SoftmaxCall fewer = call;
        fewer.rows -= call.rows > 100;
        return launch(right, fewer);
    };
    const Stage stage = stage_of(forgets);
    FuzzOptions options;
    CHECK(fuzz({stage}, options) == kWrong);
    const auto first = static_cast<int64_t>(fails.size()) - 1;
    CHECK(std::count(fails.begin(), fails.end(), true) == 1);
    for (options.only = 0; *options.only <= first; ++*options.only)
        CHECK(fuzz({stage}, options) == (*options.only == first ? kWrong : kGood));
}
