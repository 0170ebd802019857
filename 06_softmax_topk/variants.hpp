// SPDX-License-Identifier: MIT
// The variants of stage 06 beyond its lesson, in files of their own that compile side by side.
#pragma once
#include <vector>

#include "common/runner/stage.hpp"

namespace softmax_topk {

// The fast ways of further/, each alone, and the front call.
std::vector<runner::Variant> fast_variants();

// Each way of sampling, and its front call.
std::vector<runner::Variant> sampling_variants();

}  // namespace softmax_topk
