// SPDX-License-Identifier: MIT
//
// Both counts of what a kernel touches: as written, and with its loops unrolled as nvcc does.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "counts.hpp"
#include "unrolling.hpp"

namespace xray {

// How the loop around an access was compiled.
struct Unrolling {
    Sections sections;
    // How often one trip of the loop as written makes an access like this: more than once where an inner
    // loop of known length stands around it, or where the line has several.
    uint32_t accesses = 1;
    std::string line;  // what tells the lines of a kernel apart

    friend bool operator==(const Unrolling& a, const Unrolling& b) {
        return a.sections == b.sections && a.accesses == b.accesses && a.line == b.line;
    }
};

using UnrollingOf = std::function<std::optional<Unrolling>(const KernelCounts&, const Site&)>;

// `kernels` were counted as written, `loops` were seen there. Where `unrolling_of` knows of a loop in which
// lanes of a warp part, `launch` runs the kernels once more, and the counts if unrolled are filled in.
void count_unrolled(std::vector<KernelCounts>& kernels, Loops loops,
                    const std::function<void()>& launch, const UnrollingOf& unrolling_of);

}  // namespace xray
