// SPDX-License-Identifier: MIT
//
// What was counted of one kernel, as a page for a reader.
#pragma once

#include <string>

#include "counted.hpp"

namespace xray {

// At most 80 columns. bytes_of_x: what accesses are counted by, "per element"; 0: by nothing. `lines`: also
// each source line.
std::string page_of_kernel(const Counted& counted, const KernelCounts& kernel, int64_t bytes_of_x,
                           bool lines);

// All of these pages, if they have no more lines than `most` (0: any number). Otherwise what fits: the pages
// without source lines, or a row for each kernel and its hazards; with `lines` those that are busiest; and a word
// on what prints the rest. Hazards are never left out.
std::string pages_of_kernels(const Counted& counted, int64_t bytes_of_x, bool lines, size_t most);

// Its races and reads of what nobody has written; empty where there are none.
std::string hazards_text(const KernelCounts& kernel, const SourceMap& sources);

}  // namespace xray
