// SPDX-License-Identifier: MIT
//
// The mbarriers of a block: see cpu_device/mbarriers.h. In shared memory lies what names the entry here.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "async_proxy.hpp"
#include "cpu_device/mbarriers.h"

namespace cpu_device {

struct Worker;

struct Mbarrier {
    uintptr_t address = 0;
    bool is_valid = false;
    uint32_t arrivals = 0;  // that a phase takes
    uint32_t missing = 0;   // of the phase that is gathering
    int64_t bytes = 0;      // expected and not there; below 0: there and not expected
    uint64_t phase = 0;
    uint32_t agent = 0;                         // in Clocks
    uintptr_t place = 0;                        // of its init
    uint32_t initializer = 0, initialized = 0;  // thread and stamp
    Knowledge gathering, known;  // by those that arrived in this phase; and in earlier ones
};

// What a lane waits for.
struct MbarrierWait {
    Mbarrier* at = nullptr;
    MbarrierTest test;

    bool is_over() const {
        return test.by_parity ? (at->phase & 1) != (test.phase & 1) : at->phase > test.phase;
    }
};

// A lane's last wait by parity.
struct LastWait {
    uint32_t agent = 0;  // the mbarrier's; 0: none
    uint32_t parity = 0;
    uint64_t phase = 0;     // that was gathering when it began
    bool was_over = false;  // there was nothing to wait for
};

// Of one block. Another block of the cluster may use them: the gang is to be locked.
class Mbarriers {
public:
    void begin_block();

    Mbarrier& add(uintptr_t address);
    // Null where there is none.
    Mbarrier* find(uintptr_t address);
    // In the order of their init.
    template <class Act>
    void for_each(Act act) const {
        for (size_t i = 0; i < used_; i++) {
            if (all_[i]->is_valid) act(*all_[i]);
        }
    }

    // Counts arrivals, or bytes: expected, or that have come where they are below 0. What is due then happens.
    static void count(Mbarrier& barrier, uint32_t arrivals, int64_t bytes);

    // Times that lanes were told in vain that their phase is not over, since something happened.
    unsigned vain_rounds = 0;

private:
    std::vector<std::unique_ptr<Mbarrier>> all_;
    size_t used_ = 0;
};

// Something has happened at a barrier of that block, for which lanes may wait. The gang is not locked.
void wake_waiters(Worker& owner);

// Ends the launch unless there is an mbarrier that the running lane may use, of this block or another one of the cluster.
// Returns its agent.
uint32_t check_mbarrier(const void* at, uintptr_t place);

// Lets those lanes go on whose phase is over. False if there are none.
bool release_from_mbarriers(Worker& worker);

// Where no lane of the block can go on and some wait at mbarriers: waits for other blocks of the cluster, or has the lanes
// look again. False if nothing will ever come.
bool wait_at_mbarriers(Worker& worker);

// "the mbarrier `full`, whose phase 3 lacks 1 of 2 arrivals and 512 bytes that are expected".
std::string text_of(const Mbarrier& barrier);

}  // namespace cpu_device
