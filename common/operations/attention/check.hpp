// SPDX-License-Identifier: MIT
// The checker: a result against attention in fp64, or against an earlier variant's result.
#pragma once
#include <cstdint>
#include <string>

#include "common/operations/attention/operation.hpp"
#include "common/runner/report.hpp"

namespace operations::attention {

// Rows close together. k and v have heads_of_keys() heads.
struct Operands {
    const void* q = nullptr;
    const void* k = nullptr;
    const void* v = nullptr;
    const int32_t* lengths = nullptr;
};
struct Outputs {
    const void* o = nullptr;
    const float* log_sum_exp = nullptr;  // nullptr: not told
};

// Against the reference, or against a previous result, of which each may be off by its bound. Device pointers; waits
// for the device.
runner::Report check(const Operands& operands, const Shape& shape, DType dtype, const Outputs& ours,
                     const Outputs* previous = nullptr);

// The same on host memory, and by a kernel, whatever the device is: this one looks at some of the queries only,
// where all would take seconds.
runner::Report check_on_host(const Operands& operands, const Shape& shape, DType dtype,
                             const Outputs& ours, const Outputs* previous = nullptr);
runner::Report check_on_device(const Operands& operands, const Shape& shape, DType dtype,
                               const Outputs& ours, const Outputs* previous = nullptr);

// What a report calls element `index` of o, or, behind these, of the sums.
std::string place_of(const Shape& shape, int64_t index);

}  // namespace operations::attention
