// SPDX-License-Identifier: MIT
//
// What the CPU device says it is: the limits of an NVIDIA H200, so that a launch that works here
// works there, and what kernels have asked of it.
#pragma once

#include <cstddef>
#include <string>

#include "cpu_device/launch.h"

namespace cpu_device {

// What forbids this launch, in words; empty if nothing does. `code` receives the error for it.
std::string launch_objection(const LaunchRequest& request, cudaError_t& code);

}  // namespace cpu_device
