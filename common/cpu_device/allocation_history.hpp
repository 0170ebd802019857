// SPDX-License-Identifier: MIT
//
// Calls that gave no memory, for when a null pointer is used: a program that does not check what
// they return finds out only then. And where memory was freed that is used again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "cpu_device/types.h"

namespace cpu_device {

// Notes that the calling code's `call` asked for so many bytes, where `result` is an error or the
// bytes are none. Returns the result.
cudaError_t noted_allocation(const char* call, size_t bytes, cudaError_t result);

// "; cudaMalloc of 8000000000000 bytes at my/x.cu:12 gave none: out of memory ...": of the latest
// calls that gave none. Empty if all gave what was asked for.
std::string failed_allocations_text();

// Notes where the calling code frees the allocation at `low`: of a learner's program, some latest.
void note_freed(uintptr_t low);

// " (freed at my/x.cu:12)"; empty where that is not known.
std::string freed_text(uintptr_t low);

}  // namespace cpu_device
