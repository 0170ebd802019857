// SPDX-License-Identifier: MIT
// The stage's variants beyond its lesson. They have files of their own, to be compiled side by side.
#pragma once
#include <vector>

#include "common/runner/stage.hpp"

namespace softmax_topk {

// The fast ways of further/, each by itself, and the front call.
std::vector<runner::Variant> fast_variants();

// The next token of a language model: the ways to draw it, and the front call.
std::vector<runner::Variant> sampling_variants();

}  // namespace softmax_topk
