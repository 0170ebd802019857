// SPDX-License-Identifier: MIT
// On the CPU device, kernels may use all memory of the process, and a call returns when its results are there.
#include <unistd.h>

#include <string>

#include "call.hpp"
#include "common/cpu_device/observer.hpp"

namespace library {

bool prepare_device(Findings& findings) {
    static const pid_t process = [] {
        cpu_device::print_errors(false);
        cpu_device::print_waits(false);
        // The arrays are the host's. All addresses that a process may have become the device's as well.
        constexpr uintptr_t kFirst = 4096, kEnd = uintptr_t{1} << 56;
        cudaHostRegister(reinterpret_cast<void*>(kFirst), kEnd - kFirst, cudaHostRegisterDefault);
        return getpid();
    }();
    // A child of fork() has none of the threads that run kernels, and would wait for them for ever.
    findings.need(
        process == getpid(),
        "the process was forked after a call on the CPU device, which does not work there: "
        "begin processes by exec (in Python: multiprocessing.set_start_method('spawn'))");
    return findings.found_nothing();
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
