// SPDX-License-Identifier: MIT
//
// Vectors for what the runtime does while a lane runs. A std::vector of a common type is instantiated by kernels' code as
// well, where it carries hooks, and the linker keeps one of the two: the runtime would be judged as if it were a kernel.
#pragma once

#include <memory>
#include <vector>

namespace cpu_device {

template <class T>
struct OwnAllocator : std::allocator<T> {
    OwnAllocator() = default;
    template <class U>
    explicit OwnAllocator(const OwnAllocator<U>&) {}
    template <class U>
    struct rebind {
        using other = OwnAllocator<U>;
    };
};

template <class T>
using OwnVector = std::vector<T, OwnAllocator<T>>;

}  // namespace cpu_device
