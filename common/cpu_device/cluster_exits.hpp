// SPDX-License-Identifier: MIT
//
// Shared memory is gone when its block ends: whoever uses it from another block of the cluster must have done so before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "access.hpp"

namespace cpu_device {

struct Gang;
struct Launch;
struct Lane;

// What one block of a cluster does with the shared memory of the others, and how it waits for them.
class ClusterExits {
public:
    void begin_block(size_t blocks);

    // The lane touches shared memory of the block of that rank. is_signal: by an atomic or volatile access.
    void note_access(const Lane& lane, const Gang& gang, unsigned rank, uintptr_t address,
                     unsigned bytes, Direction direction, bool is_signal, uintptr_t place);

    // An atomic or volatile access to any memory, by which blocks may wait for each other.
    void note_signal(uintptr_t address) { signals_[address] = accesses_; }

    // A thread has waited for that phase of the cluster barrier.
    void note_wait(uint64_t phase) { waited_ = phase + 1 > waited_ ? phase + 1 : waited_; }

    // Ends the launch, whose gang has just run a cluster, if a block may have ended before another one's last access
    // to its memory: it has waited neither at a cluster barrier at which the other arrives after the access, nor at a
    // word that the other touches after it.
    static void judge(Launch& launch, const Gang& gang);

private:
    struct Access {
        bool happened = false;
        uint64_t phase = 0;   // of the cluster barrier at which the thread arrives next
        uint64_t number = 0;  // among the block's
        uintptr_t address = 0;
        uintptr_t place = 0;
        unsigned thread = 0;
        unsigned bytes = 0;
        Direction direction = Direction::load;
    };
    // The last ones to a block's memory.
    struct Accesses {
        Access plain, signal;
    };

    bool waits_after(const Access& access, const ClusterExits& other) const;

    std::vector<Accesses> last_;  // by rank
    std::unordered_map<uintptr_t, uint64_t>
        signals_;  // number of accesses before the last signal there
    uint64_t accesses_ = 0;
    uint64_t waited_ = 0;  // phases of the cluster barrier
};

}  // namespace cpu_device
