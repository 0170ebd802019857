// SPDX-License-Identifier: MIT
#pragma once
#include <stdexcept>

namespace report {

// The command line or a file makes no sense: says what is wrong and what would be right. Exit code 2.
class InputError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

}  // namespace report
