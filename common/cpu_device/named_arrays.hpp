// SPDX-License-Identifier: MIT
//
// Arrays in device memory whose names are known, so that a bad address is said as an element: "x[99]".
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace cpu_device {

struct NamedArray {
    uintptr_t low;
    size_t element_bytes;
    std::string name;
    std::string size;  // "3 x 33 = 99 elements"
};

// Replaces those named before. Not to be called while a kernel runs.
void name_arrays(std::vector<NamedArray> arrays);

// The one that begins in [low, high] and, of those, next to the address; null where there is none. Takes no lock.
const NamedArray* named_array(uintptr_t low, uintptr_t high, uintptr_t address);

}  // namespace cpu_device
