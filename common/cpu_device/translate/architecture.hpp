// SPDX-License-Identifier: MIT
// __CUDA_ARCH__ and its like, which nvcc defines where it compiles for the device. Here one compilation is for both
// sides: for it they are not defined, which is the host's view, and DEVICE_ARCH__ and its like are
// (cpu_device/architecture.h). Where the device's view holds, the one name becomes the other, which is as long.
#pragma once
#include <string>
#include <vector>

#include "common/cpu_device/translate/edits.hpp"
#include "common/cpu_device/translate/notes.hpp"
#include "common/cpu_device/translate/sides.hpp"

namespace translate {

// In functions of the device, at namespace scope and in macros the device's view holds, and in functions of the host
// the host's. The body of a function for both, where it asks, stands twice, each side's view in its own half. A
// block without #else around functions of the host stays for either view. `path` is for #line.
void take_sides(const std::string& source, const std::vector<Region>& regions, const Macros& macros,
                const std::string& path, Edits& edits);

// The region without what functions for the device, or for both sides, have for the host alone, as in the #else of an
// #ifdef __CUDA_ARCH__: what the device compiles of it.
Region without_the_hosts(const Region& region, const Macros& macros);

// Where a block outside of functions has something for each side, of which the device's holds.
std::vector<Note> notes_on_sides(const std::string& source);

}  // namespace translate
