// SPDX-License-Identifier: MIT
//
// Pictures of what was counted, as SVG: for a slide or a README.
#pragma once

#include <string>

#include "asynchronous.hpp"
#include "warp_requests.hpp"

namespace xray {

struct Caption {
    std::string title;
    std::string where;   // "file:line"
    std::string source;  // what stands on that line
};

// The lanes of one shared-memory request against the 32 banks: who collides with whom.
std::string draw_banks(const Request& request, const Caption& caption);

// The lanes of one global-memory request against the sectors they touch.
std::string draw_sectors(const Request& request, const Caption& caption);

// The box of a tensor copy, row by row, and where each chunk of 16 bytes lies in shared memory and its banks.
std::string draw_tile(const CopiedTile& tile, const Caption& caption);

// The stages of a ring over the steps of a block: who fills, who multiplies, who waits. The ring has a stage.
std::string draw_ring(const Ring& ring, const Caption& caption);

}  // namespace xray
