// SPDX-License-Identifier: MIT
// Chooses what `--quick` checks of a stage of the course: every variant in a few cases. On the CPU device, where one
// launch takes as long as a hundred thousand on a GPU, it also chooses one small shape at which each variant is counted
// and searched for races. A learner's own stage is always checked whole, because no other run checks it.
#pragma once
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "common/runner/choose.hpp"

namespace runner {

// True if the run counts only a sample of shapes. Shapes that were asked for are taken as they are.
bool counts_sample(const StageRun& run);

// Which cases of a run each variant is checked in: all, or those of a sample. That has every input and every shape
// that the variant takes, in turn and not in every pair, as often as a few hundred cases allow. Of the types that the
// stage measures it has a variant's first so, and the others, unless they were asked for, in one case.
class Sample {
public:
    explicit Sample(const StageRun& run);

    bool has(const Variant& variant, DType dtype, const Case& one) const;

private:
    using Pair = std::pair<std::string, Shape>;  // input and shape

    bool is_all_ = false;
    std::map<std::pair<const Variant*, DType>, std::vector<Pair>> pairs_;
};

// Whether a run looks for races in this case; a sample in small ones of its first type, where little is computed. (It
// also does in what is counted.)
bool is_watched(const StageRun& run, const Operation& family, const Case& one, DType dtype);

// The shapes at which a sample counts the variant, in its first type: of the course's for a quick run those that it
// takes, or the smallest at which its counts are held to a GPU's.
std::vector<Shape> counted_shapes(const StageRun& run, const Variant& variant, DType dtype);

// A line on how much a quick run has left out; empty where that is for the user to know.
std::string left_out_by_quick(const StageRun& run);

}  // namespace runner
