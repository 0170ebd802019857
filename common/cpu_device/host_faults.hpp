// SPDX-License-Identifier: MIT
#pragma once

namespace cpu_device {

// From now on a fault of the host's code (a null pointer, a division by zero, a stack that overflows, what the C
// library aborts for) is said with its line before it ends the program, with the status that a shell gives for the signal. A kernel's
// faults are dealt with before: see failure.cpp.
void explain_host_faults();

}  // namespace cpu_device
