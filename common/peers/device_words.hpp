// SPDX-License-Identifier: MIT
// What the device says of an error beside its code: kernel, block, thread and line on the CPU device. The library
// prints none of it.
#pragma once
#include <string>

namespace library {

// From now on the device keeps to itself what it would print.
void hush_device();

// What it has said of the latest error since it was last asked; empty where that is nothing.
std::string take_device_words();

}  // namespace library
