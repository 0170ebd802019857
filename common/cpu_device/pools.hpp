// SPDX-License-Identifier: MIT
//
// Memory pools: whose an allocation is, and what a pool counts.
#pragma once

#include <cstdint>
#include <optional>

namespace cpu_device {

// Whether the pool of the allocation that begins there lets the device use it; nothing where it is no pool's.
std::optional<bool> pool_lets_use(uintptr_t low, int device);

// An allocation is freed, by whatever call: if it is a pool's, the pool counts it no longer.
void note_freed_to_pool(uintptr_t low);

}  // namespace cpu_device
