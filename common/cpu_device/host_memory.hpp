// SPDX-License-Identifier: MIT
//
// How much of the host's memory a copy may touch, as far as that is known.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace cpu_device {

struct HostRoom {
    size_t bytes;      // from the address to the end
    const char* what;  // "a block of malloc or new"
};

// Of a block that the program's own code allocated, of one of its variables, or of a function's local variables, of
// which the function's end is known alone. Nothing where none of that is there.
std::optional<HostRoom> host_room(uintptr_t address);

}  // namespace cpu_device
