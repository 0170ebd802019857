// SPDX-License-Identifier: MIT
//
// Asynchronous copies: a thread begins them and goes on, and their bytes arrive when they are waited
// for, not before. Until then nobody may read or write the destination, nor write the source: each is
// an error that names both lines. There are two ways to wait, which may be mixed:
//   - by groups (cp.async): a thread commits what it has begun to a group, and waits until at most so
//     many of its latest groups are under way;
//   - by a barrier's phase (mbarrier, cuda::barrier, cuda::pipeline): copies are bound to a phase, and
//     arrive when a thread has waited for it. Who counts the phase's arrivals and bytes tells when.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cpu_device {

// As what the observer counts the write to the destination.
enum class CopyCount : uint8_t { copy, copy_through_cache, store };

// Begins a copy of `bytes` (1, 2, 4, 8 or 16) to shared memory, which `value` holds: the first `read` of them were
// loaded from `from`, the rest is what fills up the destination.
void begin_copy(void* to, const void* from, const void* value, size_t bytes, size_t read,
                CopyCount counted = CopyCount::copy);

// Commits the copies that the thread has begun since its last group, none perhaps, to a group.
void commit_copies();

// Waits for the thread's groups, all but the latest `groups`.
void wait_for_groups(size_t groups);

// Commits, and waits for all groups (cp.async.wait_all).
void wait_for_all_copies();

// Binds all copies that the thread has begun so far, committed or not, to a phase of the barrier at that
// address (cp.async.mbarrier.arrive).
void bind_copies(const void* barrier, uint64_t phase);

// The thread has waited for the phase: what is bound to it, or to an earlier one, has arrived.
void waited_for_phase(const void* barrier, uint64_t phase);

}  // namespace cpu_device
