// SPDX-License-Identifier: MIT
// The named inputs and the checker of operations on tokens by heads.
#pragma once
#include <string>
#include <vector>

#include "common/operations/heads/operation.hpp"
#include "common/runner/report.hpp"

namespace operations::heads {

constexpr const char* kNormal = "normal";

std::vector<runner::NamedInput> all_inputs();

// How long the sequences of a named input are: together shape.rows().
std::vector<int32_t> lengths_of(const Shape& shape, const std::string& input, uint64_t seed);

// Fills the inputs (device memory) on the default stream, the first only where it is wanted. What is behind a
// sequence's end is NaN: no result may come of it.
void fill(const runner::View& inputs, Kind kind, const Shape& shape, DType dtype,
          const std::string& input, uint64_t seed, bool with_first);

// Device pointers; these wait for the device. previous: nothing, or another's results.
runner::Report check(const runner::View& inputs, Kind kind, const Shape& shape, DType dtype,
                     const runner::View& ours, const runner::View* previous);
// The same on host memory or by kernels, whatever the device is.
runner::Report check_on(bool device, const runner::View& inputs, Kind kind, const Shape& shape,
                        DType dtype, const runner::View& ours, const runner::View* previous);

}  // namespace operations::heads
