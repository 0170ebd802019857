// SPDX-License-Identifier: MIT
// Measuring: on a GPU the time, on the CPU device what is touched.
#pragma once
#include "common/runner/stage_run.hpp"

namespace runner {

// Times every chosen variant at every shape, beside its roof and the variant before it that computes the
// same, prints the table, and keeps the records.
void measure_times(StageRun& run);

// Counts one launch of each (count.cpp).
void measure_counts(StageRun& run);

// What is recorded of any measurement.
Record record_of(const StageRun& run, const Variant& variant, const Shape& shape, DType dtype);

}  // namespace runner
