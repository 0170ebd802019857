// SPDX-License-Identifier: MIT
#pragma once
#include <set>
#include <string>
#include <vector>

#include "common/cpu_device/translate/edits.hpp"
#include "common/cpu_device/translate/host_variables.hpp"
#include "common/cpu_device/translate/lexer.hpp"
#include "common/cpu_device/translate/sides.hpp"

namespace translate {

// What the CPU device does not have ends here, at its line and in words: texture references, the driver API, memory
// allocated by kernels, libraries of the toolkit's.
void refuse_what_is_missing(const Region& region, Edits& edits);

// Functions by their names: those that are defined for the host alone or for the device alone, those that are also
// for the other side, and all that are declared. And the host's variables, and macros.
struct Functions {
    std::set<std::string> host, device, for_device, for_host, declared;
    HostVariables variables;
    Macros macros;
    std::set<std::string>
        found;  // headers that the file includes and the program has, as they are written

    void add(const Functions& others);
};
Functions functions_of(const std::string& source);

// What a file includes, in its order: each name behind the < or " that it is written with.
std::vector<std::string> included_by(const std::string& source);

// A kernel that calls a function of the host's, which g++ would let it: one of this file's, of `included` or of the
// libraries'. And a launch of what is no kernel.
void refuse_host_functions(const Region& region, const Functions& included, Edits& edits);

// The other way round: the host calls a function of the device's, or asks which thread it is.
void refuse_device_functions(const Region& region, const Functions& included, Edits& edits);

// #include of a header that only the toolkit has becomes an #error that says so, unless `folder` has one that is
// called so. `found`: see Functions. What nvcc includes by itself goes away.
void refuse_headers(const std::string& source, const std::string& folder,
                    const std::set<std::string>& found, Edits& edits);

}  // namespace translate
