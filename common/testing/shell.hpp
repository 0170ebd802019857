// SPDX-License-Identifier: MIT
// A command of the shell, and what came of it.
#pragma once
#include <sys/wait.h>

#include <filesystem>
#include <string>

#include "common/io/command.hpp"

namespace testing {

struct Ran {
    bool exited = false;  // by itself, not by a signal
    int exit_code = -1;
    std::string text;  // standard output and standard error
};

inline Ran ran_in(const std::filesystem::path& folder, const std::string& command) {
    Ran ran;
    const int status =
        io::run("cd " + io::quoted(folder.string()) + " && { " + command + "; } 2>&1", ran.text);
    ran.exited = WIFEXITED(status);
    ran.exit_code = WEXITSTATUS(status);
    return ran;
}

}  // namespace testing
