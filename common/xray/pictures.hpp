// SPDX-License-Identifier: MIT
//
// Pictures of what was counted, as SVG: for a slide or a README.
#pragma once

#include <string>

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

}  // namespace xray
