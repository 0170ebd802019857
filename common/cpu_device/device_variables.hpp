// SPDX-License-Identifier: MIT
//
// The __device__ and __constant__ variables of the program, as the translation of its files names them:
// to the host they are not variables, and nothing lies behind their ends.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cpu_device {

struct DeviceVariable {
    uintptr_t low;
    size_t bytes;
    const char* name;

    uintptr_t high() const { return low + bytes; }
    bool holds(uintptr_t address, size_t size) const {
        return address >= low && address + size <= high();
    }
};

// The one that begins at `address` or nearest before it; null if there is none.
const DeviceVariable* device_variable_before(uintptr_t address);

// Whether `address` lies in the gap that the translation leaves behind each variable (see
// translate/device_variables.cpp): then it is this variable's end that was passed.
bool is_just_behind(const DeviceVariable& variable, uintptr_t address);

}  // namespace cpu_device
