// SPDX-License-Identifier: MIT
// Who takes part in a run, on what.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "common/runner/case_inputs.hpp"
#include "common/runner/stage_run.hpp"

namespace runner {

bool is_chosen(const Variant& variant, const RunOptions& options);

// The types that are measured: those asked for, or those of the stage.
std::vector<DType> measured_dtypes(const StageRun& run);

// Those of the chosen variants that are validated, in the order of all.
std::vector<DType> validated_dtypes(const StageRun& run);
// Unless told otherwise, a full run validates whatever type a variant takes.
bool is_validated(const StageRun& run, const Variant& variant, DType dtype);

// One operation of each family that the chosen variants compute, in order.
std::vector<const Operation*> families(const StageRun& run);

std::vector<Case> validation_cases(const StageRun& run, const Operation& family);
// Those of a learner's launcher that take long, and are not worth it where it is wrong already.
std::vector<Case> further_cases(const StageRun& run, const Operation& family);
std::vector<Shape> measured_shapes(const StageRun& run, const Operation& family, DType dtype);
Case measured_case(const StageRun& run, const Operation& family, const Shape& shape);

// The nearest earlier variant, the baseline included, of a comparable operation that takes this shape and
// type; null where there is none.
const Variant* previous_of(const StageRun& run, const Variant& variant, const Shape& shape,
                           DType dtype);

// Whether the variant takes it; if not, that is kept for the reader, unless nobody has asked. So is
// what the memory has no room for: of the course's shapes, since the others had to have it.
bool takes_or_left_out(StageRun& run, const Variant& variant, const Shape& shape, DType dtype);

// Of the types that were asked for, the shapes and variants that take part in a measurement.
using Measure = std::function<void(const std::vector<const Variant*>&, const Shape&, DType)>;
void for_each_measured(StageRun& run, const Measure& measure);

// UsageError where the memory has no room for a shape that was asked for.
void require_room(const StageRun& run);

// UsageError where a shape or a type that was asked for is taken by no variant that was chosen.
void check_taken(const std::vector<const Stage*>& stages, const RunOptions& options,
                 const std::optional<Array>& array);

}  // namespace runner
