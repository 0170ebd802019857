// SPDX-License-Identifier: MIT
// The softmaxes as operations of the runner.
#pragma once
#include "common/operations/softmax/shape.hpp"
#include "common/runner/operation.hpp"
#include "common/runner/stage.hpp"

namespace operations::softmax {

// Where the x-ray looks.
constexpr Shape kUsualShape{256, 1024};

// The one object for each; variants point to it.
const runner::Operation* operation_of(Kind kind);

// What an operation of this family is. std::invalid_argument for any other.
Kind kind_of(const runner::Operation& operation);
inline Kind kind_of(const runner::Variant& variant) {
    return kind_of(*variant.operation);
}

}  // namespace operations::softmax
