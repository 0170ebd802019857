// SPDX-License-Identifier: MIT
#include "device_variables.hpp"

#include <algorithm>
#include <vector>

#include "cpu_device/core.h"
#include "memory.hpp"

namespace cpu_device {
namespace {

// By address. Complete before main() begins.
std::vector<DeviceVariable>& variables() {
    static auto* const all = new std::vector<DeviceVariable>;
    return *all;
}

bool begins_behind(uintptr_t address, const DeviceVariable& variable) {
    return address < variable.low;
}

}  // namespace

const DeviceVariable* device_variable_before(uintptr_t address) {
    const std::vector<DeviceVariable>& all = variables();
    const auto above = std::upper_bound(all.begin(), all.end(), address, begins_behind);
    return above == all.begin() ? nullptr : &*std::prev(above);
}

const DeviceVariable* hidden_variable_at(uintptr_t address) {
    const DeviceVariable* const found = device_variable_before(address);
    const bool hidden =
        found != nullptr && found->low == address && !found->managed && !found->known_to_host;
    return hidden ? found : nullptr;
}

const DeviceVariable* variable_known_at(uintptr_t address) {
    const DeviceVariable* const found = device_variable_before(address);
    const bool known =
        found != nullptr && found->holds(address, 1) && (found->managed || found->known_to_host);
    return known ? found : nullptr;
}

void make_known_to_host(uintptr_t address) {
    for (DeviceVariable& variable : variables()) {
        if (variable.low == address) variable.known_to_host = true;
    }
}

bool is_just_behind(const DeviceVariable& variable, uintptr_t address) {
    const uintptr_t gap_end =
        (variable.high() + kVariableAlignment - 1) / kVariableAlignment * kVariableAlignment;
    return address < gap_end;
}

KnownVariable::KnownVariable(const volatile void* address, size_t bytes, const char* name,
                             bool managed) {
    const auto low = reinterpret_cast<uintptr_t>(address);
    std::vector<DeviceVariable>& all = variables();
    all.insert(std::upper_bound(all.begin(), all.end(), low, begins_behind),
               {low, bytes, name, managed, false});
}

}  // namespace cpu_device
