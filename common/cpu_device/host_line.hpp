// SPDX-License-Identifier: MIT
//
// Where another thread of the host's is: what it runs may never return.
#pragma once

#include <pthread.h>

#include <string>

namespace cpu_device {

// The line of the innermost function of the user's in which that thread is. Interrupts it for a moment; empty where it
// does not answer.
std::string line_of_thread(pthread_t thread);

}  // namespace cpu_device
