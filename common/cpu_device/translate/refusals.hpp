// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <vector>

#include "common/cpu_device/translate/edits.hpp"
#include "common/cpu_device/translate/lexer.hpp"

namespace translate {

// What the CPU device does not have ends here, at its line and in words: textures, the driver API, memory
// allocated by kernels, libraries of the toolkit's. Instructions of PTX that it knows become calls; before
// others stands what stops the compiler, unless an #if takes them away.
void refuse_what_is_missing(const Region& region, Edits& edits);

// A kernel that calls a function of the host's, which g++ would let it. (Functions of this file alone, and
// what of the standard library allocates or prints.)
void refuse_host_functions(const Region& region, Edits& edits);

// The other way round: the host calls a function of the device's, or asks which thread it is.
void refuse_device_functions(const Region& region, Edits& edits);

// #include of a header that only the toolkit has becomes an #error that says so.
void refuse_headers(const std::string& source, Edits& edits);

}  // namespace translate
