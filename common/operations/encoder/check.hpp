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

// In 8 bits no bound is left with sharp scores and wide states, and int8_t has no NaN: there are no such inputs.
std::vector<runner::NamedInput> all_inputs(Kind kind = Kind::plain);

// Fills the inputs (device memory) on the default stream, x only where it is wanted. What is behind a sequence's
// end is NaN: no result may come of it.
void fill(const runner::View& inputs, const Shape& shape, Kind kind, DType dtype,
          const std::string& input, uint64_t seed, bool with_x);

// Rounds a matrix of 8-bit elements from numbers that are not ([rows, cols]) into the inputs. steps: one per row; 0 stands for the
// step with which the row's largest magnitude is the type's largest number.
void quantise(const runner::View& inputs, Kind kind, const Parameter& matrix,
              const std::vector<double>& values, const std::vector<float>& steps);
// Sets the input "steps" so that the largest magnitude that the reference finds in a tensor, or the shape's percentile of its
// magnitudes, becomes the type's largest number. It looks at all sequences of a small batch, at the first of a large one.
// known: kRounded per layer; those that are not 0 are taken in place of what the reference finds. Empty: none is known.
void calibrate(const runner::View& inputs, const Shape& shape, Kind kind, DType dtype,
               const std::vector<float>& known = {});

// Device pointers; these wait for the device. previous: nullptr, or another's result, which may be off as much.
runner::Report check(const runner::View& inputs, const Shape& shape, Kind kind, DType dtype,
                     const void* y, const void* previous);
// The same on host memory or by plain kernels, whatever the device is.
runner::Report check_on(bool device, const runner::View& inputs, const Shape& shape, Kind kind,
                        DType dtype, const void* y, const void* previous);

// The reference's hidden states after the last layer, [batch, seq, hidden]; 0 after a sequence's end. Device pointers.
std::vector<double> reference_states(const runner::View& inputs, const Shape& shape, Kind kind,
                                     DType dtype);

}  // namespace operations::encoder
