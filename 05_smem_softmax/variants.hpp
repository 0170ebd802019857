// SPDX-License-Identifier: MIT
// The variants of stage 05 beyond its lesson, in separate files that compile in parallel.
#pragma once
#include <vector>

#include "common/operations/softmax/call.hpp"

namespace smem_softmax {

// Returns the operation of a kernel, SoftmaxOf or GradientOf, on the tensors of a call.
template <class Operation>
Operation operation_on(const operations::softmax::Call& call) {
    using T = typename Operation::Element;
    Operation operation{{call.input<T>()}, call.output<T>()};
    if constexpr (Operation::kInputs == 2) operation.in[1] = call.second_input<T>();
    return operation;
}

// Returns the variants of the lesson's kernel with 04's functors: strides and log-softmax.
std::vector<runner::Variant> functor_variants();

// Returns the variants with rows in the registers of a block, a cluster or the grid, their
// gradients, and the front call.
std::vector<runner::Variant> on_chip_variants();

// Returns the variants along the middle axis of (outer, dim, inner).
std::vector<runner::Variant> any_axis_variants();

// Returns the variants of the cross-entropy loss and its gradient.
std::vector<runner::Variant> cross_entropy_variants();

}  // namespace smem_softmax
