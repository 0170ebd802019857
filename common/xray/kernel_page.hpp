// SPDX-License-Identifier: MIT
//
// What was counted of one kernel, as a page for a reader.
#pragma once

#include <string>

#include "counted.hpp"

namespace xray {

constexpr size_t kPageWidth = 80;

// At most 80 columns. bytes_of_x: what accesses are counted by, "per element"; 0: by nothing. `lines`: also
// each source line.
std::string page_of_kernel(const Counted& counted, const KernelCounts& kernel, int64_t bytes_of_x,
                           bool lines);

// Its races and reads of what nobody has written; empty where there are none.
std::string hazards_text(const KernelCounts& kernel, const SourceMap& sources);

}  // namespace xray
