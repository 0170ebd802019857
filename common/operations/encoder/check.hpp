// SPDX-License-Identifier: MIT
// The named inputs of an encoder, its fp64 reference, and how far a result may be off.
#pragma once
#include <string>
#include <vector>

#include "common/operations/encoder/operation.hpp"
#include "common/runner/report.hpp"

namespace operations::encoder {

constexpr const char* kNormal = "normal";
constexpr const char* kFirstFull = "first_full";

std::vector<runner::NamedInput> all_inputs();

// Fills the inputs (device memory) on the default stream, x only where it is wanted. What is behind a sequence's
// end is NaN: no result may come of it.
void fill(const runner::View& inputs, const Shape& shape, DType dtype, const std::string& input,
          uint64_t seed, bool with_x);

// Device pointers; these wait for the device. previous: nullptr, or another's result, which may be off as much.
runner::Report check(const runner::View& inputs, const Shape& shape, DType dtype, const void* y,
                     const void* previous);
// The same on host memory or by plain kernels, whatever the device is.
runner::Report check_on(bool device, const runner::View& inputs, const Shape& shape, DType dtype,
                        const void* y, const void* previous);

}  // namespace operations::encoder
