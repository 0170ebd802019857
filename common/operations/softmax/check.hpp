// SPDX-License-Identifier: MIT
// The checker: a result against the fp64 reference, or against an earlier variant's result.
#pragma once
#include <cstdint>

#include "common/operations/softmax/operation.hpp"
#include "common/operations/softmax/reference.cuh"
#include "common/operations/softmax/shape.hpp"
#include "common/runner/report.hpp"
#include "common/runner/stage.hpp"

namespace operations::softmax {

using runner::describe;
using runner::Report;

// How the judge has to take a result of this variant at this shape and type.
inline Rules rules_of(const runner::Variant& variant, Shape shape, DType dtype) {
    const runner::Arithmetic arithmetic = arithmetic_of(variant, shape, dtype);
    return {kind_of(variant), arithmetic.overflows, arithmetic.partial_sums, dtype};
}

// A result, of elements of rules.dtype as x has them, and how it was computed.
struct Result {
    const void* y = nullptr;
    Rules rules = {};
};

// ours.y against the fp64 reference of the inputs; or against previous.y, of the same type and of an operation that is
// comparable, plain ones turned into probabilities: they may differ by the sum of their bounds, and rows in which either
// overflows as promised are left out. Device pointers; waits for the device.
Report check(const Inputs& inputs, Shape shape, const Result& ours,
             const Result* previous = nullptr);

// The same on host memory, by plain loops.
Report check_on_host(const Inputs& inputs, Shape shape, const Result& ours,
                     const Result* previous = nullptr);

// The same by a kernel on the device, whatever the device is.
Report check_on_device(const Inputs& inputs, Shape shape, const Result& ours,
                       const Result* previous = nullptr);

}  // namespace operations::softmax
