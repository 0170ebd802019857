// SPDX-License-Identifier: MIT
//
// Running a launch, once it is decided that it may run and now.
#pragma once

#include <cstdint>
#include <string>

#include "cpu_device/launch.h"
#include "observer.hpp"

namespace cpu_device {

// Runs the kernel to its end, one launch at a time; remembers and prints what went wrong.
cudaError_t run_launch(const LaunchRequest& request);

// As the program spells it in the launch, where that says which kernel it is.
std::string name_of_kernel(const LaunchRequest& request);

// Of kernels, for whoever watches from another thread.
uint64_t launches_begun();
bool is_launch_running();

// Whoever observes now; or null.
Observer* observer();

// Says what an error code does not: on standard error, if errors are printed, and for
// last_error_text.
void tell(const std::string& text);

// The place of a block in its grid, or of a grid's block in its cluster: x runs fastest.
uint3 position(uint64_t index, dim3 extent);

}  // namespace cpu_device
