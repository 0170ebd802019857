// SPDX-License-Identifier: MIT
//
// From addresses in the running program to functions and source lines.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "addr2line.hpp"

namespace cpu_device {

// For each return address the chain of source lines, innermost inlined function first. Empty where
// nothing is known.
std::vector<std::vector<SourceLine>> source_lines(const std::vector<uintptr_t>& return_addresses);

// Whether the file is part of the CPU device or of the system's headers, not the user's.
bool is_ours_or_the_systems(const std::string& file);

// A path, perhaps with a line, relative to the working directory if it lies below.
std::string short_path(const std::string& path);

// "file:line" of the innermost line that is not part of the CPU device or of the system's headers,
// or what can be said instead. The addresses are a call stack, innermost first.
std::string user_line(const std::vector<uintptr_t>& return_addresses);

// The same, with the lines that called that function: "a.cuh:22, called at a.cu:99". What kernels do by instructions
// stands in functions of one instruction, of which the line alone says little.
std::string user_lines(const std::vector<uintptr_t>& return_addresses);

// "file:line" of the kernel's own line in that call stack, where user_line() is in another file: in a library's wrapper,
// which was inlined. Else empty.
std::string line_in_kernel(const std::vector<uintptr_t>& return_addresses,
                           const std::string& kernel);

// The demangled name of the function that holds `address`, without its parameters. Empty if
// unknown.
std::string function_name(uintptr_t address);

}  // namespace cpu_device
