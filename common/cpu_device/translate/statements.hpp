// SPDX-License-Identifier: MIT
#pragma once
#include "common/cpu_device/translate/edits.hpp"
#include "common/cpu_device/translate/lexer.hpp"

namespace translate {

// What is C++, and nvcc refuses where it stands: exceptions and run-time types in device code, variables of the
// device's inside functions, __shared__ ones in functions of the host, lambdas for the device that capture by
// reference. Static variables of device functions g++ is told to refuse where their initializer runs.
void refuse_statements(const Region& region, Edits& edits);

// #define UNROLL #pragma unroll, which nvcc takes, becomes _Pragma("unroll").
void rewrite_pragmas(const Region& macro, Edits& edits);

}  // namespace translate
