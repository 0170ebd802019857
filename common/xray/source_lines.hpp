// SPDX-License-Identifier: MIT
//
// What was counted of each line of the source.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "counted.hpp"

namespace xray {

// All lines of a kernel, file by file, each with the calls that lead to it.
std::string source_lines(const KernelCounts& kernel, const Counted& counted);

// The lines of all kernels that take the most sectors and wavefronts, the most first: as many as
// `most` lines of text have room for, at least one.
std::string busiest_lines(const Counted& counted, size_t most);

// The first of them, with those of its accesses that take the most.
struct BusiestLine {
    std::string place;  // "kernel.cuh:12"
    AccessKind kind;
    Counts counts;
    int64_t work;  // sectors, wavefronts, or of other kinds of memory requests
};
std::optional<BusiestLine> busiest_line(const Counted& counted);

}  // namespace xray
