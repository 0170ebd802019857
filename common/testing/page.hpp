// SPDX-License-Identifier: MIT
// What a program prints.
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

inline int count_of(const std::string& what, const std::string& text) {
    int count = 0;
    for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1))
        ++count;
    return count;
}

}  // namespace testing
