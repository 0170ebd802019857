// SPDX-License-Identifier: MIT
// On the CPU device, kernels may use all memory of the process, and a call returns when its results are there.
#include <string>

#include "call.hpp"
#include "common/cpu_device/observer.hpp"

namespace library {

void prepare_device() {
    static const bool is_prepared = [] {
        cpu_device::print_errors(false);
        cpu_device::print_waits(false);
        // The arrays are the host's. All addresses that a process may have become the device's as well.
        constexpr uintptr_t kFirst = 4096, kEnd = uintptr_t{1} << 47;
        cudaHostRegister(reinterpret_cast<void*>(kFirst), kEnd - kFirst, cudaHostRegisterDefault);
        return true;
    }();
    static_cast<void>(is_prepared);
}

cudaError_t finish_call() {
    return cudaDeviceSynchronize();
}

const char* words_of_device() {
    thread_local std::string words;
    words = cpu_device::take_last_error();
    return words.c_str();
}

}  // namespace library

extern "C" const char* softmax_stages_device() {
    return "cpu";
}
