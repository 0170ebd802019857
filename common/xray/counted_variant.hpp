// SPDX-License-Identifier: MIT
//
// A variant of a stage with what was counted of it.
#pragma once

#include <string>
#include <vector>

#include "common/runner/stage.hpp"
#include "counted.hpp"
#include "recorded.hpp"

namespace xray {

struct CountedVariant : Counted {
    std::string stage;
    const runner::Variant* variant;
    runner::Shape shape;
    runner::DType dtype;

    // Accesses to global memory per element, of its size: what was counted, what was declared.
    runner::Traffic traffic() const;
    runner::Traffic declared() const { return runner::traffic_of(*variant, shape, dtype); }
};

// Runs the variant once and counts. Throws what VariantRun does.
CountedVariant count(const std::string& stage, const runner::Variant& variant,
                     const runner::Shape& shape, runner::DType dtype = runner::DType::float32);

// Whether the counted traffic is the declared one. What a variant keeps in its workspace is no part
// of what its lesson declares, nor is what its operation tolerates: so much may be counted on top.
bool traffic_agrees(const CountedVariant& counted);

// Bank conflicts in shared loads (or stores) of the compiled kernel.
int64_t counted_conflicts(const CountedVariant& counted, AccessKind kind);

// The GPU's bank conflicts in shared loads (or stores) of what was counted here. Its own counter of
// them also counts, here and there, a request that waited for data of a global load on their way to
// the same banks: a dozen more or less in thousands, other ones at each run. So they are taken from
// the wavefronts, which have no such noise: those beyond the fewest that so many requests need. (The
// GPU may have made fewer requests than were counted: what only one thread needs, only its warp
// reads.)
int64_t recorded_conflicts(const RecordedVariant& recorded, const CountedVariant& counted,
                           AccessKind kind);

}  // namespace xray
