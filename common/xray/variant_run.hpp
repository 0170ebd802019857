// SPDX-License-Identifier: MIT
//
// One variant of a stage with everything that a launch of it needs.
#pragma once

#include "common/runner/device.hpp"
#include "common/runner/stage.hpp"

namespace xray {

// The shape at which a GPU's counters are recorded, and which is counted unless told otherwise.
constexpr runner::Shape kUsualShape{256, 1024};

class VariantRun {
public:
    // Input of the named kind `normal`, output that nobody has written. Throws CudaError.
    VariantRun(const runner::Variant& variant, runner::Shape shape);

    // Runs it once, and waits for its end. Throws CudaError.
    void operator()();

    // The input, on the device and as values.
    const float* x() const { return x_.data(); }
    std::vector<float> values() const { return x_.download(); }

private:
    const runner::Variant& variant_;
    runner::Shape shape_;
    runner::DeviceBuffer<float> x_, y_;
    runner::DeviceBuffer<unsigned char> workspace_;
};

}  // namespace xray
