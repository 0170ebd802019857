// SPDX-License-Identifier: MIT
// Stages made up for a test, and what `run` says of them.
#pragma once
#include <functional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "common/operations/softmax/call.hpp"
#include "common/runner/build_info.hpp"
#include "common/runner/run.hpp"
#include "common/testing/catch.hpp"
#include "common/testing/folder.hpp"
#include "common/testing/page.hpp"
#include "common/testing/redirected.hpp"

namespace made_up {

using namespace runner;
using SoftmaxCall = operations::softmax::Call;

inline bool on_cpu() {
    return std::string(build_info().backend) == "cpu";
}

inline Variant variant_named(const std::string& name,
                             std::function<cudaError_t(const Call&)> launch) {
    Variant variant;
    variant.name = name;
    variant.summary = "a row a thread";
    variant.traffic = {3, 1};
    variant.launch = std::move(launch);
    variant.operation = operations::softmax::operation_of(operations::softmax::Kind::softmax);
    variant.partial_sums = [](const Shape&, DType) { return int64_t{1}; };
    return variant;
}

inline Stage stage_of(std::vector<Variant> variants) {
    Stage stage;
    stage.name = "97_made_up";
    stage.title = "for this test";
    stage.variants = std::move(variants);
    return stage;
}

struct Outcome {
    ExitCode code;
    std::string text;
};

inline Outcome outcome_of(const Stage& stage, RunOptions options = {}) {
    const Folder folder;
    options.out = folder.path / "results";
    if (options.shapes.empty() && options.input_file.empty()) options.shapes = {{4, 33}};
    Outcome outcome{};
    {
        const Redirected redirected(folder.path / "printed");
        outcome.code = run({stage}, options);
    }
    outcome.text = folder.read("printed");
    testing::expect_80_columns(outcome.text);
    return outcome;
}

// The text on one line: where it is broken depends on what stands before.
inline std::string joined(const std::string& text) {
    std::istringstream words(text);
    std::string line;
    for (std::string word; words >> word;) line += word + " ";
    return line;
}

}  // namespace made_up
