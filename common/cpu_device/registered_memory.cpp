// SPDX-License-Identifier: MIT
//
// Memory of the host that cudaHostRegister makes the devices' as well.
#include <algorithm>
#include <iterator>
#include <map>
#include <mutex>

#include "api.hpp"
#include "capture.hpp"
#include "cpu_device/runtime_api.h"
#include "memory.hpp"
#include "strict.hpp"
#include "worker.hpp"

namespace cpu_device {
namespace {

// Host memory that the program has registered: kernels may use it.
struct Registered {
    std::mutex mutex;
    std::map<uintptr_t, uintptr_t> ranges;  // begin -> end
};
Registered& registered() {
    static Registered all;
    return all;
}

// The range that holds the address: its end, or an end that holds nothing.
std::map<uintptr_t, uintptr_t>::const_iterator range_at(uintptr_t address) {
    const auto& ranges = registered().ranges;
    const auto above = ranges.upper_bound(address);
    if (above == ranges.begin()) return ranges.end();
    const auto found = std::prev(above);
    return address < found->second ? found : ranges.end();
}

}  // namespace

AddressRange registered_range(uintptr_t address) {
    const Undisturbed lock_is_held;
    const std::lock_guard<std::mutex> lock(registered().mutex);
    const auto found = range_at(address);
    if (found == registered().ranges.end()) return {};
    return {found->first, found->second};
}

}  // namespace cpu_device

using namespace cpu_device;

cudaError_t cudaHostRegister(void* pointer, size_t bytes, unsigned /*flags*/) {
    return unless_captures_forbid([=] {
        const uintptr_t low = as_address(pointer);
        if (pointer == nullptr || bytes == 0) return cudaErrorInvalidValue;
        const auto is_registered = [&] {
            const std::lock_guard<std::mutex> lock(registered().mutex);
            const auto& ranges = registered().ranges;
            return std::any_of(ranges.begin(), ranges.end(), [&](const auto& range) {
                return low < range.second && range.first < low + bytes;
            });
        };
        if (is_registered()) return cudaErrorHostMemoryAlreadyRegistered;
        if (is_device_side(pointer))
            return explained(cudaErrorInvalidValue,
                             "cudaHostRegister of memory that is the device's");
        const std::lock_guard<std::mutex> lock(registered().mutex);
        registered().ranges.emplace(low, low + bytes);
        return cudaSuccess;
    });
}
cudaError_t cudaHostUnregister(void* pointer) {
    return unless_captures_forbid([=] {
        const std::lock_guard<std::mutex> lock(registered().mutex);
        return registered().ranges.erase(as_address(pointer)) == 0
                   ? cudaErrorHostMemoryNotRegistered
                   : cudaSuccess;
    });
}

// Addresses are the same on both sides.
cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned /*flags*/) {
    return unless_captures_forbid([=] {
        if (device == nullptr) return cudaErrorInvalidValue;
        const uintptr_t address = as_address(host);
        const auto table = allocation_table();
        const Allocation* allocation = nearest_allocation(*table, address);
        const bool is_pinned = allocation != nullptr && !allocation->freed &&
                               address < allocation->high() &&
                               allocation->kind != MemoryKind::device;
        if (!is_pinned && !registered_range(address).holds(address)) {
            return explained(cudaErrorInvalidValue,
                             "cudaHostGetDevicePointer of memory that is neither of cudaHostAlloc "
                             "nor registered by cudaHostRegister");
        }
        *device = host;
        return cudaSuccess;
    });
}
