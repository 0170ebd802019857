// SPDX-License-Identifier: MIT
// The named inputs and the checker of cross-entropies.
#pragma once
#include <string>
#include <vector>

#include "common/operations/cross_entropy/operation.hpp"
#include "common/runner/report.hpp"

namespace operations::cross_entropy {

// Those of softmax for the logits, with targets at random; and rows that do not count, or have targets that are no
// column.
std::vector<runner::NamedInput> all_inputs();
constexpr const char* kIgnored = "ignored";
constexpr const char* kOutOfRange = "out_of_range";

// The targets of a named input.
std::vector<int64_t> targets_of(const Shape& shape, const std::string& input, uint64_t seed);

// Fills the inputs (device memory) on the default stream, the logits only where that is wanted.
void fill(const runner::View& inputs, const Shape& shape, DType dtype, const std::string& input,
          uint64_t seed, bool with_logits);

// How a result was computed, and where it lies.
struct Result {
    runner::View outputs;
    int64_t partial_sums = 1;  // how many threads add up a row
};

// Device pointers; these wait for the device. previous: nothing, or another's result.
runner::Report check(const runner::View& inputs, Kind kind, const Shape& shape, DType dtype,
                     const Result& ours, const Result* previous);
// The same on host memory or by kernels, whatever the device is.
runner::Report check_on(bool device, const runner::View& inputs, Kind kind, const Shape& shape,
                        DType dtype, const Result& ours, const Result* previous);

}  // namespace operations::cross_entropy
