// SPDX-License-Identifier: MIT
// An operation unlike any of the course's: three sizes, an option, an operand of integers, two results of
// different types. Nothing but this file and the next knows it.
#pragma once
#include "common/runner/operation.hpp"
#include "common/runner/stage.hpp"

namespace gather {

// values[row, pick] = scale * x[row, picks[row, pick]], and how many of them are positive.
const runner::Operation* operation();

enum class Fault {
    none,
    neighbour,       // the element beside the one that was picked
    miscounts,       // one too many
    writes_to_x,     // over an input
    writes_beyond,   // behind the values
    forgets_option,  // the scale
};
runner::Variant variant(const std::string& name, Fault fault = Fault::none);

runner::Stage stage_of(std::vector<runner::Variant> variants);

}  // namespace gather
