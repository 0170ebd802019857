// SPDX-License-Identifier: MIT
// A learner's launcher as a stage: whatever it is to compute, one that does nothing is wrong, and one that is called is
// given what the operation has.
#include "common/course/my/try.hpp"

#include <algorithm>
#include <cstdlib>

#include "common/operations/all.hpp"
#include "common/runner/build_info.hpp"
#include "common/runner/run.hpp"
#include "common/testing/catch.hpp"
#include "common/testing/folder.hpp"
#include "common/testing/redirected.hpp"

namespace {

using runner::DType;
using runner::Operation;

// What a launcher takes that knows no options.
runner::Stage stage_of(const Operation& operation) {
    setenv("STAGES_MY_OPERATION", operation.name().c_str(), 1);
    my::Way way;
    way.call = [](const runner::Call&) { return cudaSuccess; };
    way.dtype = operation.dtypes().front();
    return my::stage_of("99_my_launcher", {way}, my::asked_for());
}

struct Outcome {
    runner::ExitCode code;
    std::string text;
};

Outcome outcome_of(const runner::Stage& stage) {
    const Folder folder;
    runner::RunOptions options;
    options.quick = true;
    options.out = folder.path / "results";
    Outcome outcome{};
    {
        const Redirected redirected(folder.path / "printed");
        outcome.code = runner::run({stage}, options);
    }
    outcome.text = folder.read("printed");
    return outcome;
}

}  // namespace

TEST_CASE("a launcher that does nothing is wrong, whatever it is to compute") {
    for (const Operation* operation : operations::all()) {
        runner::Stage stage = stage_of(*operation);
        size_t calls = 0;
        stage.variants.front().launch = [&](const runner::Call&) {
            ++calls;
            return cudaSuccess;
        };
        const Outcome outcome = outcome_of(stage);
        INFO(operation->name() << "\n" << outcome.text);
        CHECK(calls >= operation->inputs().size());
        CHECK(outcome.code == runner::kWrong);
        CHECK_THAT(outcome.text, ContainsSubstring("WRONG launch: ") &&
                                     ContainsSubstring("Something is WRONG") &&
                                     ContainsSubstring("records: none, of what is wrong"));
    }
}

TEST_CASE("what is counted of a launcher is what is checked and measured of it") {
    for (const Operation* operation : operations::all()) {
        const runner::Stage stage = stage_of(*operation);
        const runner::Variant& variant = stage.variants.front();
        INFO(operation->name());
        const runner::Shape counted = runner::usual_shape_of(variant);
        CHECK(runner::obstacle_of(variant, counted, variant.dtypes.front()) == "");
        if (runner::on_gpu()) continue;
        const std::vector<runner::Shape> measured = variant.measured_at.empty()
                                                        ? operation->measured_at({false, false})
                                                        : variant.measured_at;
        CHECK(std::find(measured.begin(), measured.end(), counted) != measured.end());
    }
}
