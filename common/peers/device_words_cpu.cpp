// SPDX-License-Identifier: MIT
#include "common/cpu_device/observer.hpp"
#include "common/peers/device_words.hpp"

namespace library {

void hush_device() {
    cpu_device::print_errors(false);
    cpu_device::print_waits(false);
}

std::string take_device_words() {
    return cpu_device::take_last_error();
}

}  // namespace library
