// SPDX-License-Identifier: MIT
// What becomes of a command line that asks for help or makes no sense.
#pragma once
#include <sstream>

#include <CLI/CLI.hpp>

#include "common/io/standard_output.hpp"

namespace io {

// Prints help to standard output, or what is wrong to standard error. Exit code 0 or 2.
inline int explained(const CLI::App& app, const CLI::ParseError& error) {
    std::ostringstream help, wrong;
    const int status = app.exit(error, help, wrong);
    constexpr size_t kDescriptions = 30;  // the column in which those of flags begin
    say(stdout, help.str(), kDescriptions);
    say(stderr, wrong.str());
    return status == 0 ? 0 : 2;
}

}  // namespace io
