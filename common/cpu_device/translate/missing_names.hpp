// SPDX-License-Identifier: MIT
#pragma once
#include "common/cpu_device/translate/edits.hpp"
#include "common/cpu_device/translate/lexer.hpp"

namespace translate {

// What the CPU device does not have ends here, at its line and in words: texture references, the driver API, memory
// allocated by kernels, libraries of the toolkit's.
void refuse_what_is_missing(const Region& region, Edits& edits);

}  // namespace translate
