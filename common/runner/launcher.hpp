// SPDX-License-Identifier: MIT
// A variant's scratch and launch, with errors as exceptions.
#pragma once
#include <stdexcept>
#include <string>
#include <utility>

#include "common/runner/device.hpp"
#include "common/runner/stage.hpp"

namespace runner {

// inputs and outputs as one view, in the operation's order; an operand that is read and written lies where
// the outputs have it.
View launch_view(const Operation& operation, const Shape& shape, DType dtype, const View& inputs,
                 const View& outputs);

// A learner's launcher did what is wrong, in words; the device is as it was.
class LauncherError : public std::runtime_error {
public:
    // cause: what this has in common with the same at other shapes; of several one is shown.
    LauncherError(const std::string& what, std::string cause)
        : std::runtime_error(what), cause_(std::move(cause)) {}
    const std::string& cause() const { return cause_; }

private:
    std::string cause_;
};

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
