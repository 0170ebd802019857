// SPDX-License-Identifier: MIT
//
// Objects with virtual functions hold the address of a table, that of the host's where the host made them. On a GPU a
// call by it faults; here both sides have one table. Looked at where a learner's program is run.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cpu_device {

// The host wrote these bytes, by a copy: whatever in them points to a table is the host's.
void note_objects_of_host(uintptr_t low, size_t bytes);

// A constructor sets the pointer at `address`.
void note_constructed(uintptr_t address, bool by_host);

// A kernel reads 8 bytes of memory that kernels share: perhaps such a pointer.
void note_pointer_read(uintptr_t address);

// A kernel reads 8 bytes of the program's own: fails where that is an entry of a table, and the pointer that led there
// is the host's.
void judge_table_read(uintptr_t address);

}  // namespace cpu_device
