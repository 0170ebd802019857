// SPDX-License-Identifier: MIT
//
// A variant of a stage with what was counted of it.
#pragma once

#include <string>
#include <vector>

#include "common/records/counters.hpp"
#include "common/runner/stage.hpp"
#include "counted.hpp"

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

// Bank conflicts of the compiled kernel, in all accesses to shared memory.
int64_t counted_conflicts(const CountedVariant& counted);

// What it takes to load operands of tensor cores from shared memory.
SharedCost counted_matrix_loads(const CountedVariant& counted);

// Bank conflicts of the compiled kernel, as counted here and on a GPU, of one kind of instructions.
struct Conflicts {
    std::string kind;  // "shared_load", "shared_store" or "matrix_load"
    int64_t counted, recorded;
};

// The GPU's own counter of conflicts also counts, here and there, a request that waited for data of a
// global load on their way to the same banks: a dozen more or less in thousands, other ones at each run.
// So they are taken from the wavefronts, which have no such noise: those beyond the fewest that so many
// requests need. (The GPU may have made fewer requests than were counted: what only one thread needs,
// only its warp reads.) Operands of tensor cores have an instruction of their own, ldmatrix; of wmma's
// bfloat16 nvcc makes ordinary loads. Throws std::out_of_range where the
// recording lacks a counter that is needed.
std::vector<Conflicts> conflicts(const CountedVariant& counted, const records::Profile& recorded);

}  // namespace xray
