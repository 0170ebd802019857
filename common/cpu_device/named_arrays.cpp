// SPDX-License-Identifier: MIT
#include "named_arrays.hpp"

#include <utility>

namespace cpu_device {
namespace {

std::vector<NamedArray>& all() {
    static std::vector<NamedArray> arrays;
    return arrays;
}

uintptr_t distance(uintptr_t a, uintptr_t b) {
    return a < b ? b - a : a - b;
}

}  // namespace

void name_arrays(std::vector<NamedArray> arrays) {
    all() = std::move(arrays);
}

const NamedArray* named_array(uintptr_t low, uintptr_t high, uintptr_t address) {
    const NamedArray* nearest = nullptr;
    for (const NamedArray& each : all()) {
        if (each.low < low || each.low > high) continue;
        if (nearest == nullptr || distance(each.low, address) < distance(nearest->low, address))
            nearest = &each;
    }
    return nearest;
}

}  // namespace cpu_device
