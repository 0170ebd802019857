// SPDX-License-Identifier: MIT
#pragma once
#include <sstream>
#include <string>

#include "common/testing/catch.hpp"

namespace testing {

// Every line of what a program prints.
inline void expect_80_columns(const std::string& page) {
    std::istringstream lines(page);
    for (std::string line; std::getline(lines, line);) {
        INFO(line);
        CHECK(line.size() <= 80);
    }
}

}  // namespace testing
