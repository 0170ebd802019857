// SPDX-License-Identifier: MIT
//
// What was counted, as a page for a reader and as JSON for a program.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/records/counters.hpp"
#include "counted_variant.hpp"

namespace xray {

// What accesses are counted by: "per element".
int64_t bytes_of_elements(const CountedVariant& counted);

// At most 80 columns. `lines`: also each source line. `most`: lines that it may have, or as few as
// pages_of_kernels can make; 0: any number.
std::string page_of(const CountedVariant& counted, bool lines, size_t most = 0);

// Of several variants one row each: what they move, their bank conflicts or, with `lines`, the line that takes
// the most; more variants than a screen has rows are named, or else summed up by stage. Races, reads of what
// nobody has written and counts that are not the declared ones are all said. Ends with what prints the rest.
std::string summary_of(const std::vector<CountedVariant>& all, bool lines);

// The accesses that were declared and those that were counted, and whether they differ.
std::string declared_text(const CountedVariant& counted);

// What a GPU's own counters said of the same variant and shape; empty where nothing is recorded.
std::string recorded_text(const CountedVariant& counted,
                          const std::vector<records::Recording>& recordings);

// The words used, and what is not seen. held_to_a_gpu: by test, as the course's own variants are.
std::string legend(bool held_to_a_gpu = true);

// The words used, in two lines.
std::string short_legend();

std::string json_of(const std::vector<CountedVariant>& all);

}  // namespace xray
