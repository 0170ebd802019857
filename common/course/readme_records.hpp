// SPDX-License-Identifier: MIT
// What the generated parts of the READMEs ask of a record of a time.
#pragma once
#include <string>

#include "common/records/record.hpp"
#include "common/runner/stage.hpp"

namespace course {

using records::Record;

// A stage can be written, counted and tested without a GPU.
inline constexpr const char* kNotMeasured = "Not measured on a GPU yet.\n";

// The records hold every size of the sweeps; the READMEs show a few round ones, and what a stage
// measures besides.
bool shown(const Record& record);

// Its operation and its variant, where the stage has them; else none.
const runner::Operation* operation_of(const runner::Stage& stage, const Record& record);
const runner::Variant* find_variant(const runner::Stage& stage, const Record& record);

// What is no size of the operation is an option.
runner::Shape shape_of(const Record& record, const runner::Operation* operation);

double roof_us(const Record& record);

// The roof's time with the accesses that the lesson claims, apart from what a launch costs: the time
// if every access went to memory.
double expected_us(const runner::Variant& variant, const Record& record);

double share_of_roof(const Record& record);

// Whether that roof computes the same. Else it only moves as many bytes, and a share of it says nothing of
// a kernel that is about operations.
bool roof_computes(const Record& record);

}  // namespace course
