// SPDX-License-Identifier: MIT
// Transposed matrices as an operation of the runner: y[b, col, row] = x[b, row, col], to the bit.
#pragma once
#include "common/runner/operation.hpp"

namespace operations::transpose {

// The one object; variants point to it. Sizes: batch, rows, cols, of x.
const runner::Operation* operation();

// Device pointers; waits for the device. ours against what is wanted, in x or in another's result. On a GPU by a
// kernel, else on the host; check_on: wherever is said.
runner::Report check(const void* x, const void* ours, const runner::Shape& shape,
                     runner::DType dtype);
runner::Report check_on(bool device, const void* x, const void* ours, const runner::Shape& shape,
                        runner::DType dtype);

std::vector<runner::NamedInput> all_inputs();
void fill(void* x, runner::DType dtype, const runner::Shape& shape, const std::string& input,
          uint64_t seed);

}  // namespace operations::transpose
