// SPDX-License-Identifier: MIT
#pragma once
#include <map>
#include <set>
#include <string>

#include "common/cpu_device/translate/edits.hpp"
#include "common/cpu_device/translate/lexer.hpp"

namespace translate {

// Variables of namespaces, and static ones of classes, that exist on the host alone. Device code may use the
// value of a constant whose initializer the compiler knows, and nothing that has an address.
struct HostVariables {
    enum class Kind {
        value,    // a constant: by its value, not by its address
        array,    // and a constant pointer: not at all
        run_time  // not constant, or initialized when the program runs: not at all
    };
    std::map<std::string, Kind> known;  // "name", or "Class::name" of a static member
    std::set<std::string> others;  // what else is called so: then it is not known which is meant

    void add(const HostVariables& more);
};
HostVariables host_variables_of(const Region& region);

// Device code that uses such a variable, where nvcc says "undefined in device code": g++ would let it, and take the
// host's. included: those of the headers that the file includes.
void refuse_host_variables(const Region& region, const HostVariables& included, Edits& edits);

}  // namespace translate
