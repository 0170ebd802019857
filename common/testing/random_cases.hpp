// SPDX-License-Identifier: MIT
// Random cases of what a stage's variants take, widths, addresses, strides, types, inputs: always the
// same for a seed. A stage's test runs some hundreds; thousands more run on request, by the tag [more].
#pragma once
#include <cstdint>
#include <string>

#include "common/runner/fuzz.hpp"
#include "common/testing/catch.hpp"

namespace testing {

// Cases first to last - 1; elements(number): the most that x may have.
template <class Elements>
void passes_random_cases(const runner::Stage& stage, uint64_t seed, int64_t first, int64_t last,
                         Elements elements) {
    int64_t judged = 0;
    for (int64_t number = first; number < last; ++number) {
        const runner::FuzzCase one =
            runner::fuzz_case({&stage}, "", seed, number, elements(number));
        bool is_judged = false;
        const std::string wrong = runner::run_case(one, &is_judged);
        judged += is_judged;
        if (wrong.empty()) continue;
        FAIL("case " << number << ": " << runner::text_of(one) << ": " << wrong);
    }
    CHECK(judged > (last - first) / 2);
}

}  // namespace testing
