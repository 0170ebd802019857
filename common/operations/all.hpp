// SPDX-License-Identifier: MIT
// Every operation of the course, for who is given one by its name.
#pragma once
#include <vector>

#include "common/runner/operation.hpp"

namespace operations {

std::vector<const runner::Operation*> all();

}  // namespace operations
