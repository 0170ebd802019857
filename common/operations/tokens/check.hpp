// SPDX-License-Identifier: MIT
// The named inputs and the checker of the operations on tokens' rows.
#pragma once
#include <string>
#include <vector>

#include "common/operations/tokens/operation.hpp"
#include "common/runner/report.hpp"

namespace operations::tokens {

constexpr const char* kNormal = "normal";
constexpr const char* kNearlyConstant = "nearly_constant";

std::vector<runner::NamedInput> all_inputs();

// Fills the inputs (device memory) on the default stream, x only where it is wanted.
void fill(const runner::View& inputs, Kind kind, const Shape& shape, DType dtype,
          const std::string& input, uint64_t seed, bool with_x);

// A result, and how each of its elements was rounded. y, sum: nullptr where the operation has none.
struct Outputs {
    const void* y = nullptr;
    const void* sum = nullptr;
    Rounding rounding = Rounding::once;
    int64_t partial_sums = 1;
};

// Device pointers; these wait for the device. previous: nullptr, or what may be off by its own bound, too.
runner::Report check(const runner::View& inputs, Kind kind, const Shape& shape, DType dtype,
                     const Outputs& ours, const Outputs* previous);
// The same on host memory or by kernels, whatever the device is.
runner::Report check_on(bool device, const runner::View& inputs, Kind kind, const Shape& shape,
                        DType dtype, const Outputs& ours, const Outputs* previous);

}  // namespace operations::tokens
