// SPDX-License-Identifier: MIT
// What a launch needs besides its operation: the inputs in device memory, as the runner makes them.
#pragma once
#include <cstdint>
#include <utility>

#include "common/runner/device_array.hpp"
#include "common/runner/inputs.cuh"
#include "common/runner/stage.hpp"

namespace runner {

class Operands {
public:
    // x: values, of which a backward operation takes what its forward one gives. x2 is of the seed.
    Operands(Operation operation, Shape shape, DeviceArray x, uint64_t seed)
        : x_(std::move(x)),
          x2_(static_cast<size_t>(elements(shape)) * x2_size(operation, x_.dtype())) {
        apply_forward(x_.data(), operation, x_.dtype(), shape);
        fill_x2(x2_.data(), operation, x_.dtype(), shape, seed);
    }
    Operands(Operation operation, Shape shape, DType dtype, Input input, uint64_t seed)
        : Operands(operation, shape, named(shape, dtype, input, seed), seed) {}

    const DeviceArray& x() const { return x_; }
    Inputs inputs() const { return {x_.data(), x2_.data()}; }

private:
    static DeviceArray named(Shape shape, DType dtype, Input input, uint64_t seed) {
        DeviceArray x(dtype, static_cast<size_t>(elements(shape)));
        fill(x.data(), dtype, shape, input, seed);
        return x;
    }

    DeviceArray x_;
    DeviceBuffer<unsigned char> x2_;
};

}  // namespace runner
