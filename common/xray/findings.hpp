// SPDX-License-Identifier: MIT
//
// What of a kernel's accesses to look at first, in sentences: of kernels that somebody is still at work on.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "counted.hpp"

namespace xray {

// What accesses are counted by, and how many of them are enough.
struct Enough {
    int64_t bytes = 0;  // of all elements; 0: accesses are counted by nothing
    double loads = 0;   // per element
    double stores = 0;
};

// Loads and stores beyond what is enough, global memory that is moved in vain, banks that lanes collide in: each
// with its line, the worst first. Empty where there is nothing to say.
std::vector<std::string> findings(const Counted& counted, const Enough& enough = {});

// The same as the end of a page, at most 80 columns.
std::string findings_text(const Counted& counted, const Enough& enough = {});

}  // namespace xray
