// SPDX-License-Identifier: MIT
//
// A block's shared memory: thread-local variables of the worker that runs it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "memory.hpp"
#include "program_image.hpp"

namespace cpu_device {

struct Worker;

constexpr size_t kSharedPerBlock = 48 * kKilobyte;        // without asking
constexpr size_t kSharedPerBlockOptIn = 227 * kKilobyte;  // with cudaFuncSetAttribute
// Behind the largest dynamic array lies room that nobody uses, so that running past it is seen.
constexpr size_t kDynamicSharedSlack = 16 * kKilobyte;

// In a shared address, the rank of the block in its cluster stands above the offset. Variables may lie before the dynamic
// array: offsets are signed.
constexpr unsigned kRankShift = 24;

// The calling worker's array of dynamic shared memory.
unsigned char* dynamic_shared_memory();

// The __shared__ variable with static size that holds offset `offset` of the thread-local block, or
// the nearest one below it; null if there is none.
const Symbol* nearest_shared_variable(uintptr_t offset);

// Static shared memory that the function `kernel` declares itself. Its callees' is not known.
size_t static_shared_bytes(uintptr_t kernel);

// "at byte 8 of `tiles`", or of the dynamic shared memory; for 8 bytes that are all of a variable "`barrier`".
std::string place_in_shared(const Worker& owner, uintptr_t address);

// Makes the next poisoning one of all variables: before its first block a worker's are zero.
void mark_all_shared_used(Worker& worker);

// Fills the block's shared memory with 0xFF, a NaN in every floating type: dynamic memory as far as
// the launch asked for it, and the variables that an earlier block of this worker used.
void poison_shared_memory(Worker& worker);

}  // namespace cpu_device
