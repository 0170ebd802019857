// SPDX-License-Identifier: MIT
//
// What a shuffle returns that reads a lane which gives no value: one outside the mask, one that has
// exited, one that the block does not have. On a GPU that is undefined and no fault, and right code
// may do it where it drops the value. Here the lane gets a pattern that is NaN in every floating
// type and is followed as far as it can be: to the lanes that read it from there, to what they
// store in global memory. Stored, it ends the launch; a store that may depend on it is noted.
#pragma once

#include <cstddef>
#include <cstdint>

#include "worker.hpp"

namespace cpu_device {

// The element of an exchange's values that has a bit for each lane whose value may be undefined.
constexpr unsigned kUndefinedLanes = kWarpSize;

// Returns the pattern to the running lane, whose shuffle at `place` reads lane `source` in vain.
uint64_t undefined_value(unsigned mask, int source, uintptr_t place);

// Makes the running lane's values as undefined as those of lane `source` of its warp.
void inherit_undefined(unsigned source);

// Called for each access, while a lane of the block has an undefined value: checks what the lane
// stored before, and remembers this store.
void follow_access(uintptr_t address, unsigned bytes, bool is_store, uintptr_t place);

// Checks what the running lane stored last.
void check_last_store();

// Whether the bytes at `address` hold the pattern, or what arithmetic makes of it.
bool holds_undefined(uintptr_t address, unsigned bytes);

}  // namespace cpu_device
