// SPDX-License-Identifier: MIT
//
// Races that most likely have one cause, and what would order them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "counts.hpp"

namespace xray {

struct Cause {
    std::vector<const Hazard*>
        races;  // between the same barriers of a block, or of common places; the first one first
    bool between_blocks = false;  // any of them
    bool same_value = false;      // threads that write, and all the same

    int64_t times() const;
};

std::vector<Cause> causes_of(const std::vector<Hazard>& races);

// What is missing between the two sides of a race, for a sentence's end: ": nothing orders two blocks of a launch, ...".
std::string what_is_missing(const Cause& cause);

}  // namespace xray
