// SPDX-License-Identifier: MIT
#pragma once
#include <set>
#include <string>

#include "common/cpu_device/translate/edits.hpp"
#include "common/cpu_device/translate/host_variables.hpp"
#include "common/cpu_device/translate/lexer.hpp"
#include "common/cpu_device/translate/sides.hpp"

namespace translate {

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

// A kernel that calls a function of the host's, which g++ would let it: one of this file's, of `included` or of the
// libraries'. And a launch of what is no kernel.
void refuse_host_functions(const Region& region, const Functions& included, Edits& edits);

// The other way round: the host calls a function of the device's, or asks which thread it is.
void refuse_device_functions(const Region& region, const Functions& included, Edits& edits);

}  // namespace translate
