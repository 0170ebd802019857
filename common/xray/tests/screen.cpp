// SPDX-License-Identifier: MIT
// What is printed without --all, of counts that are made up.
#include <string>
#include <vector>

#include "common/operations/softmax/operation.hpp"
#include "common/testing/catch.hpp"
#include "common/testing/page.hpp"
#include "common/xray/kernel_page.hpp"
#include "common/xray/report.hpp"
#include "common/xray/report_words.hpp"

using namespace xray;

namespace {

runner::Variant variant_named(const std::string& name) {
    runner::Variant variant;
    variant.operation = operations::softmax::operation_of(operations::softmax::Kind::softmax);
    variant.name = name;
    return variant;
}

// `sites` lines are unknown, and one after the other takes more sectors.
KernelCounts kernel_of(const std::string& name, uintptr_t sites) {
    KernelCounts kernel;
    kernel.name = name;
    kernel.launches = kernel.blocks = 1;
    for (uintptr_t i = 0; i < sites; ++i) {
        Counts& counts = kernel.sites[{i, AccessKind::global_load}];
        counts.requests = 1;
        counts.bytes = 128;
        counts.sectors = static_cast<int64_t>(4 + i);
    }
    return kernel;
}

CountedVariant counted_of(const runner::Variant& variant,
                          const std::vector<KernelCounts>& kernels) {
    return {{kernels, SourceMap(kernels)}, "99_none", &variant, {1, 32}, runner::DType::float32};
}

Hazard hazard_of_global_memory() {
    Hazard hazard;
    hazard.global = hazard.between_blocks = true;
    hazard.times = 7;
    hazard.second.block = {1, 0, 0};
    return hazard;
}

}  // namespace

TEST_CASE("of a place that is too long for a line the end is shown, where its number stands") {
    const std::string place = std::string(300, 'f') + "/kernels.cu:12345";
    CHECK(place_of_page(6, "a.cu:1") == "      a.cu:1\n");
    const std::string line = place_of_page(6, place);
    CHECK(line.size() <= kPageWidth);
    CHECK_THAT(line, StartsWith("      ..fff") && EndsWith("/kernels.cu:12345\n"));
}

TEST_CASE("a row per variant says what is wrong, and how to see the rest") {
    std::vector<runner::Variant> variants;
    for (int i = 0; i < 60; ++i) variants.push_back(variant_named("variant_" + std::to_string(i)));
    std::vector<CountedVariant> all;
    for (const runner::Variant& variant : variants)
        all.push_back(counted_of(variant, {kernel_of("kernel", 1)}));
    // The last, so that it would be the first to go.
    all.back().kernels.front().races = {hazard_of_global_memory()};
    all.back().kernels.front().uninitialized_reads = {hazard_of_global_memory()};
    all[58].kernels.front().sites.begin()->second.bytes = 128 * 5;
    for (const bool lines : {false, true}) {
        const std::string text = summary_of(all, lines);
        INFO(text);
        testing::expect_80_columns(text);
        CHECK_THAT(text, ContainsSubstring("99_none/variant_59") &&
                             ContainsSubstring("RACE in global memory, 7 times") &&
                             ContainsSubstring("READ of global memory"));
        CHECK_THAT(text, ContainsSubstring("99_none/variant_58") && ContainsSubstring("DIFFERS"));
        CHECK_THAT(text, ContainsSubstring("--variant") && ContainsSubstring("--all"));
    }
}

TEST_CASE("a page that fits a screen is complete, a longer one has its hazards") {
    const runner::Variant variant = variant_named("variant");
    const CountedVariant one = counted_of(variant, {kernel_of("kernel", 1)});
    CHECK(page_of(one, true, kScreenHeight) == page_of(one, true));

    std::vector<KernelCounts> kernels;
    for (int i = 0; i < 30; ++i) kernels.push_back(kernel_of("kernel_" + std::to_string(i), 3));
    const CountedVariant clean = counted_of(variant, kernels);
    CHECK(height_of(page_of(clean, false)) > 2 * kScreenHeight);
    for (const bool lines : {false, true}) {
        const std::string page = page_of(clean, lines, kScreenHeight);
        INFO(page);
        CHECK(height_of(page) <= kScreenHeight);
        testing::expect_80_columns(page);
        CHECK_THAT(page, ContainsSubstring("--all"));
        CHECK_THAT(page, ContainsSubstring("kernel_1") && ContainsSubstring("declared"));
    }
    kernels.back().races = {hazard_of_global_memory()};
    const std::string page = page_of(counted_of(variant, kernels), false, kScreenHeight);
    CHECK_THAT(page, ContainsSubstring("kernel kernel_29\n  RACE in global memory"));
}
