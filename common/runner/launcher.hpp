// SPDX-License-Identifier: MIT
// A variant's scratch and launch, with errors as exceptions.
#pragma once
#include "common/runner/device.hpp"
#include "common/runner/stage.hpp"

namespace runner {

// inputs and outputs as one view, in the operation's order; an operand that is read and written lies where
// the outputs have it.
View launch_view(const Operation& operation, const Shape& shape, DType dtype, const View& inputs,
                 const View& outputs);

class Launcher {
public:
    Launcher(const Variant& variant, const Shape& shape, DType dtype, const View& inputs,
             const View& outputs);

    void operator()(cudaStream_t stream = nullptr);

private:
    const Variant& variant_;
    DeviceBuffer<unsigned char> workspace_;
    Call call_;
};

}  // namespace runner
