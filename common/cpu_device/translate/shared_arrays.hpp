// SPDX-License-Identifier: MIT
#pragma once
#include "common/cpu_device/translate/edits.hpp"
#include "common/cpu_device/translate/lexer.hpp"

namespace translate {

// `extern __shared__ T name[];` becomes an alias of the one array that holds a launch's dynamic
// shared memory: in a namespace by the name that the linker sees, in a function as a reference.
// Of another __shared__ variable the type is made known, for its padding; an initial value is refused.
void rewrite_shared_arrays(const Region& region, Edits& edits);

}  // namespace translate
