// SPDX-License-Identifier: MIT
//
// Tells threads that wait in a loop for what never comes from threads that are slow: the former
// read the same few words again and again, by volatile or atomic accesses, and these never change.
// Asked only where a launch is observed, since only then every access is known.
#pragma once

#include "observer.hpp"
#include "worker.hpp"

namespace cpu_device {

// How often a block's threads must come round, and nothing be different, until that counts.
constexpr uint64_t kRoundsThatTell = 3;

// Looks at what the lanes of a warp did since the last call.
void examine(Worker& worker, unsigned warp, const WarpLogs& logs);

// The block's threads had their turns, or wait for another block.
inline void note_idle_round(Worker& worker) {
    worker.idle_rounds.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace cpu_device
