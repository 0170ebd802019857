// SPDX-License-Identifier: MIT
// Other programs, run by the shell.
#pragma once
#include <string>

namespace io {

// A word as the shell takes it, whatever it holds.
std::string quoted(const std::string& word);

// Runs a command, adds what it writes to its standard output to `output` and returns its status as of wait(): 0 where it
// ended well. std::runtime_error where none can be run.
int run(const std::string& command, std::string& output);

}  // namespace io
