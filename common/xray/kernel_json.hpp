// SPDX-License-Identifier: MIT
//
// What was counted of one kernel, as JSON.
#pragma once

#include <nlohmann/json.hpp>

#include "counts.hpp"
#include "source_map.hpp"

namespace xray {

using Json = nlohmann::ordered_json;

Json to_json(const KernelCounts& kernel, const SourceMap& sources);

}  // namespace xray
