// SPDX-License-Identifier: MIT
//
// How the calls of a library (cuBLAS, cuRAND) come to the device: as work of a stream, checked like a copy, done by the
// host, and counted nowhere.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "cpu_device/types.h"

namespace cpu_device {

// Device memory that such a call touches: `runs` runs of `bytes` each, which begin `pitch` bytes apart.
struct LibraryOperand {
    const char* name;  // "A", as the library's documentation calls it
    const void* low;
    size_t bytes;
    size_t runs = 1;
    size_t pitch = 0;
    bool is_read = true;
    bool is_written = false;
};

// Does the work, or keeps it where the stream captures. Not done once a kernel has failed.
cudaError_t submit_library_work(const char* call, cudaStream_t stream,
                                std::function<cudaError_t()> work);

// What such work does with memory: checks the operands, does it, and tells the observer. An operand that is no device
// memory, or not enough of it, spoils the device as an access of a kernel's would: it is said with the line of the call,
// and nothing is done.
cudaError_t use_operands(const char* call, const std::vector<LibraryOperand>& operands,
                         const std::function<void()>& work);

}  // namespace cpu_device
