// SPDX-License-Identifier: MIT
//
// What lies between the members of the program's classes: nobody writes it, and who copies an object whole
// reads it all the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

namespace cpu_device {

// Whether one of those classes has 16 bytes and is aligned to 8: g++ takes 8 for enough where it copies 16 bytes.
bool copies_of_16_may_lie_at_8();

// Whether the bytes of an access of at most 32 that nobody has written, bit i for the one at address + i, may
// be padding of a class that core.h's padding_is_known was asked for. Not if that are all of its bytes.
bool is_padding(uintptr_t address, unsigned bytes, uint32_t unwritten);

// The same of objects one behind the other, as a copy reads them: the padding of the first is not written either.
bool is_padding_of_objects(uintptr_t low, size_t bytes,
                           const std::function<bool(size_t)>& is_unwritten);

}  // namespace cpu_device
