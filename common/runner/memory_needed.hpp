// SPDX-License-Identifier: MIT
// What a run takes of memory at one shape: known before it starts.
#pragma once
#include <string>

#include "common/runner/stage.hpp"

namespace runner {

struct MemoryNeeded {  // bytes
    double on_device = 0;
    double on_host = 0;
};

// Validating and measuring a variant of the operation: its inputs, its results and those that they are
// compared with (or that of the roof), and scratch for either.
MemoryNeeded memory_needed(const Operation& operation, size_t workspace_bytes, const Shape& shape,
                           DType dtype);

// The host's copies of an input of the user's own, on its way to the device, and of results that are saved.
double host_copy_of_input(const Operation& operation, const Shape& shape, DType dtype);
double host_copy_of_results(const Operation& operation, const Shape& shape, DType dtype);

// Why that cannot be had: "needs 51.5 GB of memory, and 24.0 GB are free". Empty where it can.
std::string shortage(const MemoryNeeded& needed);

}  // namespace runner
