// SPDX-License-Identifier: MIT
//
// What was counted of a program's kernels, and where it stands.
#pragma once

#include <vector>

#include "counts.hpp"
#include "source_map.hpp"

namespace xray {

struct Counted {
    std::vector<KernelCounts> kernels;
    SourceMap sources;
    bool shared_accesses_fuse = false;  // as the compiler is known to do with them; else as written
    bool is_known = true;               // whether anything is known of that

    // What shared accesses take in the compiled kernel, by that rule; and what they would take by the
    // other.
    SharedCost compiled(const Counts& counts) const {
        return shared_accesses_fuse ? counts.if_fused() : counts.as_written();
    }
    SharedCost otherwise(const Counts& counts) const {
        return shared_accesses_fuse ? counts.as_written() : counts.if_fused();
    }
};

}  // namespace xray
