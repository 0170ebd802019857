// SPDX-License-Identifier: MIT
//
// One variant of a stage with everything that a launch of it needs.
#pragma once

#include "common/runner/launcher.hpp"
#include "common/runner/stage.hpp"
#include "common/runner/tensors.hpp"

namespace xray {

class VariantRun {
public:
    // The usual input of its operation, output that nobody has written. Throws CudaError, and
    // UsageError where the variant does not take the shape or the type.
    VariantRun(const runner::Variant& variant, const runner::Shape& shape,
               runner::DType dtype = runner::DType::float32);

    // Runs it once, and waits for its end. Throws CudaError.
    void operator()();

private:
    const runner::Variant& variant_;
    runner::Tensors inputs_;
    runner::Tensors outputs_;
    runner::Launcher launch_;
};

}  // namespace xray
