// SPDX-License-Identifier: MIT
// `list`: what there is to choose from.
#pragma once
#include <string>
#include <vector>

#include "common/runner/stage.hpp"

namespace course {

// The stages with their variants, then the named inputs.
std::string list_of(const std::vector<const runner::Stage*>& stages);

// list_of all stages is committed here (a path from the repository), so that nothing need be built for it.
inline constexpr const char* kCommittedList = "common/course/list.txt";

}  // namespace course
