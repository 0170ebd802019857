// SPDX-License-Identifier: MIT
// The first screen of every stage, of counts that are made up: nothing is launched.
#include <string>
#include <vector>

#include "common/runner/stage.hpp"
#include "common/testing/catch.hpp"
#include "common/testing/page.hpp"
#include "common/xray/report.hpp"
#include "common/xray/report_words.hpp"

using namespace xray;

namespace {

// As many loads and stores as it declares, and more conflicts than any has.
CountedVariant made_up(const runner::Stage& stage, const runner::Variant& variant,
                       int64_t conflicts) {
    const runner::Shape shape = runner::usual_shape_of(variant);
    const runner::DType dtype = variant.dtypes.front();
    const auto bytes = static_cast<double>(variant.operation->elements(shape)) *
                       static_cast<double>(runner::size_of(dtype));
    const runner::Traffic declared = runner::traffic_of(variant, shape, dtype);
    KernelCounts kernel;
    kernel.name = variant.name;
    kernel.launches = 1;
    const auto add = [&](AccessKind kind, double per_element) {
        Counts& counts = kernel.sites[{0, kind}];
        counts.bytes = static_cast<int64_t>(per_element * bytes);
        counts.requests = 1 + counts.bytes / 128;
        counts.sectors = counts.bytes / 32;
    };
    add(AccessKind::global_load, declared.loads);
    add(AccessKind::global_store, declared.stores);
    Counts& shared = kernel.sites[{0, AccessKind::shared_load}];
    shared.requests = shared.fused_requests = 1;
    shared.wavefronts = shared.fused_wavefronts = conflicts + 1;
    shared.conflicts = shared.fused_conflicts = conflicts;
    const std::vector<KernelCounts> kernels = {kernel};
    return {{kernels, SourceMap(kernels)}, stage.name, &variant, shape, dtype};
}

std::vector<CountedVariant> made_up(const runner::Stage& stage, int64_t conflicts) {
    std::vector<CountedVariant> all;
    for (const runner::Variant& variant : stage.variants)
        all.push_back(made_up(stage, variant, conflicts));
    return all;
}

void expect_one_screen(const std::string& text) {
    INFO(text);
    CHECK(height_of(text) <= 40);
    testing::expect_80_columns(text);
}

}  // namespace

TEST_CASE("the first screen of each stage, and of all, has room for what it says") {
    const std::vector<runner::Stage> stages = runner::all_stages();
    std::vector<CountedVariant> all;
    size_t rows = 0;
    for (const runner::Stage& stage : stages) {
        for (const int64_t conflicts : {0, 99'999'999}) {
            const std::vector<CountedVariant> counted = made_up(stage, conflicts);
            if (counted.size() < 2) continue;
            for (const bool lines : {false, true}) {
                const std::string text = summary_of(counted, lines);
                expect_one_screen(text);
                CHECK_THAT(text, ContainsSubstring("--variant") && ContainsSubstring("--all"));
                // Each is named, even where there is no row for it.
                for (const CountedVariant& each : counted) {
                    CHECK_THAT(text, ContainsSubstring(each.variant->name));
                    ++rows;
                }
            }
        }
        for (const CountedVariant& each : made_up(stage, 1)) all.push_back(each);
    }
    CHECK(rows > 0);
    for (const bool lines : {false, true}) {
        const std::string text = summary_of(all, lines);
        expect_one_screen(text);
        for (const CountedVariant& each : all) CHECK_THAT(text, ContainsSubstring(each.stage));
    }
}
