// SPDX-License-Identifier: MIT
// `list`: what there is to choose from.
#pragma once
#include <string>
#include <vector>

#include "common/runner/stage.hpp"

namespace course {

// The stages with their variants, then what they have in common: the named inputs.
std::string list_of(const std::vector<const runner::Stage*>& stages);

// What list_of all stages consists of is committed, so that nothing need be built for it: each stage's paragraph as
// NN_name/expected/list.txt, and what they have in common. The paragraph ends with a line "  inputs: NAME...", by which
// those of some stages are chosen from what all have.
std::string kept_paragraph_of(const runner::Stage& stage);
std::string in_common(const std::vector<const runner::Stage*>& stages);
inline constexpr const char* kListInCommon = "common/course/list.txt";

}  // namespace course
