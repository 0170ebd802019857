// SPDX-License-Identifier: MIT
// The variants of stage 06 beyond its lesson, in separate files that compile in parallel.
#pragma once
#include <vector>

#include "common/runner/stage.hpp"

namespace softmax_topk {

// Returns the fast kernels of further/, each as a variant, and the front call.
std::vector<runner::Variant> fast_variants();

// Returns each kernel of sampling as a variant, and the front call of sampling.
std::vector<runner::Variant> sampling_variants();

}  // namespace softmax_topk
