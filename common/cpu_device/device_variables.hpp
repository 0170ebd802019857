// SPDX-License-Identifier: MIT
//
// The __device__, __constant__ and __managed__ variables of the program, as the translation of its files
// names them: to the host all but the last are not variables, and nothing lies behind their ends.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cpu_device {

struct DeviceVariable {
    uintptr_t low;
    size_t bytes;
    const char* name;
    bool managed;        // the host's as well
    bool known_to_host;  // by cudaGetSymbolAddress

    uintptr_t high() const { return low + bytes; }
    bool holds(uintptr_t address, size_t size) const {
        return address >= low && address + size <= high();
    }
};

// The one that begins at `address` or nearest before it; null if there is none.
const DeviceVariable* device_variable_before(uintptr_t address);

// The one that begins there and whose address the host has no business to know; null if there is none.
const DeviceVariable* hidden_variable_at(uintptr_t address);
// The one that holds `address`, which the host may have: by cudaGetSymbolAddress, or because the variable is
// managed. Else null.
const DeviceVariable* variable_known_at(uintptr_t address);
void make_known_to_host(uintptr_t address);

// Whether `address` lies in the gap that the translation leaves behind each variable (see
// translate/device_variables.cpp): then it is this variable's end that was passed.
bool is_just_behind(const DeviceVariable& variable, uintptr_t address);

}  // namespace cpu_device
