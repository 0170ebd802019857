// SPDX-License-Identifier: MIT
// What `run --quick` takes of every stage: little, and something of everything.
#include "common/runner/quick.hpp"

#include <algorithm>
#include <set>

#include "common/testing/catch.hpp"

using namespace runner;

TEST_CASE("a quick run checks every variant with every input, in few cases, and counts it once") {
    RunOptions options;
    options.quick = true;
    const std::optional<Array> no_file;
    constexpr size_t kMostCases = 500;
    constexpr int64_t kMostElements = 256 * 1024;
    for (const Stage& stage : all_stages()) {
        StageRun run{stage, options, "--quick", no_file, {}};
        for (const Variant& variant : stage.variants) run.chosen.push_back(&variant);
        const Sample sample(run);
        size_t all = 0;
        for (const Variant& variant : stage.variants) {
            INFO(stage.name << "/" << variant.name);
            std::set<std::string> inputs;
            size_t counted = 0;
            for (const DType dtype : measured_dtypes(run)) {
                for (const Case& one : validation_cases(run, *variant.operation)) {
                    if (!takes(variant, dtype) || !sample.has(variant, dtype, one)) continue;
                    CHECK(obstacle_of(variant, one.shape, dtype).empty());
                    inputs.insert(one.input);
                    ++all;
                }
                if (on_gpu()) continue;  // there nothing is counted
                for (const Shape& shape : counted_shapes(run, variant, dtype)) {
                    CHECK(variant.operation->elements(shape) <= kMostElements);
                    ++counted;
                }
            }
            CHECK(inputs.size() == variant.operation->inputs().size());
            if (on_gpu()) continue;
            CHECK(counted >= 1);
            CHECK(counted <= 2);
        }
        INFO(stage.name << ": " << all << " cases");
        CHECK(all <= kMostCases);
    }
}
