// SPDX-License-Identifier: MIT
// What is said of bad input: one line that controls no terminal and is short enough to be read.
#pragma once
#include <stdexcept>
#include <string>

#include "common/io/files.hpp"
#include "common/io/text.hpp"
#include "common/report/records.hpp"
#include "common/testing/catch.hpp"

// The line with which `call` refuses; empty where it does not. Any other exception is a failure.
template <class Call>
std::string refusal_of(Call call) {
    std::string said;
    try {
        call();
        return "";
    } catch (const io::FileError& error) {
        said = error.what();
    } catch (const report::InputError& error) {
        said = error.what();
    }
    REQUIRE(!said.empty());
    REQUIRE(said.size() <= 1000);
    REQUIRE(io::printable(said, 1000) == said);
    return said;
}
