// SPDX-License-Identifier: MIT
//
// What was counted, as a page for a reader and as JSON for a program.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "counted_variant.hpp"
#include "recorded.hpp"

namespace xray {

// What accesses are counted by: "per element".
int64_t bytes_of_elements(const CountedVariant& counted);

// At most 80 columns. `lines`: also each source line.
std::string page_of(const CountedVariant& counted, bool lines);

// What a GPU's own counters said of the same variant and shape; empty where nothing is recorded.
std::string recorded_text(const CountedVariant& counted, const std::vector<Recording>& recordings);

// The words used, and what is not seen. held_to_a_gpu: by test, as the course's own variants are.
std::string legend(bool held_to_a_gpu = true);

std::string json_of(const std::vector<CountedVariant>& all);

}  // namespace xray
