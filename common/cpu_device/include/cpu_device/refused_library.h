// SPDX-License-Identifier: MIT
//
// Libraries that the CPU device does not have: their names are there, so that a program which includes them and hardly
// calls them runs, and a call is said with its line, once a name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>

#include "cuComplex.h"
#include "cuda_runtime.h"

namespace cpu_device {

void refuse_library_call(const char* library, const char* call);

}  // namespace cpu_device

// Takes any arguments: they are not looked at.
#define CPU_DEVICE_REFUSED_CALL(library, call, Result, result) \
    template <class... Arguments>                              \
    Result call(Arguments...) {                                \
        ::cpu_device::refuse_library_call(library, #call);     \
        return static_cast<Result>(result);                    \
    }
