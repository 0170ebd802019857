// SPDX-License-Identifier: MIT
// Two generated parts of stage 08's READMEs: a layer before and after fusion, and the memory of attention.
#pragma once
#include <string>
#include <vector>

#include "common/records/counters.hpp"
#include "common/runner/stage.hpp"

namespace course {

// The kernels and the accesses of a layer's chains and of what they are fused to, as counted here and as a GPU's
// counters had them.
std::string layer_part(const runner::Stage& stage,
                       const std::vector<records::Recording>& recordings);

// What attention keeps beside its operands, and what scores in memory would take.
std::string memory_part(const runner::Stage& stage);

}  // namespace course
