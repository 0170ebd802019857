// SPDX-License-Identifier: MIT
#pragma once
#include "common/cpu_device/translate/edits.hpp"
#include "common/cpu_device/translate/lexer.hpp"

namespace translate {

// g++ takes members and lambdas without __device__ in kernels, nvcc does not: an error for the token's line. Seen are
// members of classes of this file, of objects whose type stands before their name, and what a launch gets as an
// argument.
void refuse_host_members(const Region& region, Edits& edits);

}  // namespace translate
