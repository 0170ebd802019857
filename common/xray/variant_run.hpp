// SPDX-License-Identifier: MIT
//
// One variant of a stage with everything that a launch of it needs.
#pragma once

#include "common/runner/operands.hpp"
#include "common/runner/stage.hpp"

namespace xray {

// The shape at which a GPU's counters are recorded, and which is counted unless told otherwise.
constexpr runner::Shape kUsualShape{256, 1024};

class VariantRun {
public:
    // Input of the named kind `normal`, output that nobody has written. Throws CudaError, and
    // UsageError where the variant does not take the shape or the type.
    VariantRun(const runner::Variant& variant, runner::Shape shape,
               runner::DType dtype = runner::DType::float32);

    // Runs it once, and waits for its end. Throws CudaError.
    void operator()();

private:
    const runner::Variant& variant_;
    runner::Shape shape_;
    runner::Operands operands_;
    runner::DeviceArray y_;
    runner::DeviceBuffer<unsigned char> workspace_;
};

}  // namespace xray
