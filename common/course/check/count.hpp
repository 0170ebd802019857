// SPDX-License-Identifier: MIT
//
// What one launch of a variant does, as an exercise is graded by it.
#pragma once
#include <cstdint>

#include "common/course/check/measures.hpp"
#include "common/runner/stage.hpp"

namespace course {

// Launches the variant once, on the usual input of its operation from this seed, and counts. CudaError where the launch
// fails, LauncherError where not all that it does is done by kernels.
Counts count_launch(const runner::Variant& variant, const runner::Shape& shape, runner::DType dtype,
                    uint64_t seed);

}  // namespace course
