// SPDX-License-Identifier: MIT
#include <mutex>
#include <set>
#include <string>

#include "api.hpp"
#include "cpu_device/refused_api.h"
#include "launch.hpp"
#include "strict.hpp"

namespace cpu_device {

cudaError_t refused(const char* call) {
    static std::mutex mutex;
    static auto* const said = new std::set<std::string>;  // alive until the very end of the process
    const std::lock_guard<std::mutex> lock(mutex);
    if (said->insert(call).second) {
        tell(std::string("the CPU device has no ") + call +
             ": cudaErrorNotSupported, the first time at " + calling_line());
    }
    return remembered(cudaErrorNotSupported);
}

}  // namespace cpu_device
