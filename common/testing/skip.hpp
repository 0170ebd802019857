// SPDX-License-Identifier: MIT
// Tests that cannot run here: ctest calls them skipped, not passed.
#pragma once
#include <cstdio>
#include <string>

#include "common/runner/build_info.hpp"
#include "common/testing/catch.hpp"

namespace testing {

// Says so in words that ctest knows (common/cmake/course_tests.cmake). To be called before anything is checked, or
// after REQUIRE alone: what failed before would be called skipped as well.
inline void skip(const std::string& why) {
    std::printf("SKIPPED: %s\n", why.c_str());
    std::fflush(stdout);
    SUCCEED(why);  // a test that checks nothing fails
}

// Of what the CPU device always has: fails there.
inline void skip_on_gpu(const std::string& why) {
    REQUIRE(runner::build_info().backend == "cuda");
    skip(why);
}

}  // namespace testing
