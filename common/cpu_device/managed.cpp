// SPDX-License-Identifier: MIT
//
// Managed memory is where it always is: what is said of it is checked, and kept for those who ask.
#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <vector>

#include "api.hpp"
#include "capture.hpp"
#include "cpu_device/runtime_api.h"
#include "devices.hpp"
#include "memory.hpp"
#include "strict.hpp"

namespace cpu_device {
namespace {

// The managed allocation that holds all of these bytes, or an error that names the call.
cudaError_t find_managed(const void* pointer, size_t bytes, const char* call, Allocation& found) {
    const auto table = allocation_table();
    const Allocation* const allocation = nearest_allocation(*table, as_address(pointer));
    if (allocation == nullptr || allocation->freed || allocation->kind != MemoryKind::managed ||
        as_address(pointer) + bytes > allocation->high()) {
        return explained(cudaErrorInvalidValue,
                         "%s of memory that is not cudaMallocManaged's, or goes past its end",
                         call);
    }
    found = *allocation;
    return cudaSuccess;
}

constexpr cudaMemLocation kNowhere = {cudaMemLocationTypeInvalid, cudaInvalidDeviceId};

// Of a whole allocation: a GPU keeps it page by page.
struct Advice {
    bool read_mostly = false;
    cudaMemLocation preferred = kNowhere;
    cudaMemLocation prefetched = kNowhere;
    std::vector<int> accessed_by;
};

struct AllAdvice {
    std::mutex mutex;
    std::map<uintptr_t, Advice> by_allocation;
};

AllAdvice& all_advice() {
    static AllAdvice* const instance = new AllAdvice;  // alive until the very end of the process
    return *instance;
}

bool is_location(cudaMemLocation location) {
    return location.type == cudaMemLocationTypeDevice ? is_device(location.id)
                                                      : location.type != cudaMemLocationTypeInvalid;
}

// As CUDA 12 names a place: a device's number, or the host's.
cudaMemLocation location_of(int device) {
    if (device == cudaCpuDeviceId) return {cudaMemLocationTypeHost, 0};
    return {cudaMemLocationTypeDevice, device};
}
int number_of(cudaMemLocation location) {
    if (location.type == cudaMemLocationTypeDevice) return location.id;
    return location.type == cudaMemLocationTypeInvalid ? cudaInvalidDeviceId : cudaCpuDeviceId;
}

void keep(Advice& of, cudaMemoryAdvise advice, cudaMemLocation location) {
    std::vector<int>& accessed_by = of.accessed_by;
    const int number = number_of(location);
    const auto found = std::find(accessed_by.begin(), accessed_by.end(), number);
    switch (advice) {
        case cudaMemAdviseSetReadMostly:
            of.read_mostly = true;
            break;
        case cudaMemAdviseUnsetReadMostly:
            of.read_mostly = false;
            break;
        case cudaMemAdviseSetPreferredLocation:
            of.preferred = location;
            break;
        case cudaMemAdviseUnsetPreferredLocation:
            of.preferred = kNowhere;
            break;
        case cudaMemAdviseSetAccessedBy:
            if (found == accessed_by.end()) accessed_by.push_back(number);
            break;
        case cudaMemAdviseUnsetAccessedBy:
            if (found != accessed_by.end()) accessed_by.erase(found);
            break;
    }
}

// Writes as many numbers as fit; those that are not there are cudaInvalidDeviceId.
void write_numbers(void* to, size_t bytes, const std::vector<int>& numbers) {
    for (size_t i = 0; i < bytes / sizeof(int); i++) {
        const int number = i < numbers.size() ? numbers[i] : cudaInvalidDeviceId;
        std::memcpy(static_cast<char*>(to) + i * sizeof(int), &number, sizeof number);
    }
}

bool number_for(cudaMemRangeAttribute attribute, const Advice& of, int& number) {
    switch (attribute) {
        case cudaMemRangeAttributeReadMostly:
            number = of.read_mostly;
            return true;
        case cudaMemRangeAttributePreferredLocation:
            number = number_of(of.preferred);
            return true;
        case cudaMemRangeAttributeLastPrefetchLocation:
            number = number_of(of.prefetched);
            return true;
        case cudaMemRangeAttributePreferredLocationType:
            number = of.preferred.type;
            return true;
        case cudaMemRangeAttributePreferredLocationId:
            number = of.preferred.id;
            return true;
        case cudaMemRangeAttributeLastPrefetchLocationType:
            number = of.prefetched.type;
            return true;
        case cudaMemRangeAttributeLastPrefetchLocationId:
            number = of.prefetched.id;
            return true;
        case cudaMemRangeAttributeAccessedBy:
            break;
    }
    return false;
}

// Of work in a stream that touches managed memory as a whole: that the call may be made.
cudaError_t admit_to(cudaStream_t stream, const char* call) {
    refuse_to_kernels();
    if (!is_stream(stream)) return remembered(cudaErrorInvalidResourceHandle);
    const Admission admission = admit(stream);
    if (admission.refusal != cudaSuccess) return admission.refusal;
    return admission.capture == 0 ? cudaSuccess : refuse_to_record(admission.capture, call);
}

}  // namespace
}  // namespace cpu_device

using namespace cpu_device;

cudaError_t cudaMemPrefetchAsync(const void* from, size_t bytes, cudaMemLocation to, unsigned flags,
                                 cudaStream_t stream) {
    if (const cudaError_t error = admit_to(stream, "cudaMemPrefetchAsync")) return error;
    if (flags != 0) return remembered(cudaErrorInvalidValue);
    if (!is_location(to)) return remembered(cudaErrorInvalidDevice);
    Allocation found;
    if (const cudaError_t error = find_managed(from, bytes, "cudaMemPrefetchAsync", found)) {
        return remembered(error);
    }
    AllAdvice& all = all_advice();
    const std::lock_guard<std::mutex> lock(all.mutex);
    all.by_allocation[found.low].prefetched = to;
    return cudaSuccess;
}

cudaError_t cudaMemPrefetchAsync(const void* from, size_t bytes, int device, cudaStream_t stream) {
    return cudaMemPrefetchAsync(from, bytes, location_of(device), 0, stream);
}

cudaError_t cudaMemAdvise(const void* of, size_t bytes, cudaMemoryAdvise advice,
                          cudaMemLocation location) {
    refuse_to_kernels();
    Allocation found;
    if (const cudaError_t error = find_managed(of, bytes, "cudaMemAdvise", found)) {
        return remembered(error);
    }
    const bool needs_no_place = advice == cudaMemAdviseSetReadMostly ||
                                advice == cudaMemAdviseUnsetReadMostly ||
                                advice == cudaMemAdviseUnsetPreferredLocation;
    if (!needs_no_place && !is_location(location)) return remembered(cudaErrorInvalidDevice);
    AllAdvice& all = all_advice();
    const std::lock_guard<std::mutex> lock(all.mutex);
    keep(all.by_allocation[found.low], advice, location);
    return cudaSuccess;
}

cudaError_t cudaMemAdvise(const void* of, size_t bytes, cudaMemoryAdvise advice, int device) {
    return cudaMemAdvise(of, bytes, advice, location_of(device));
}

cudaError_t cudaMemRangeGetAttribute(void* value, size_t value_bytes,
                                     cudaMemRangeAttribute attribute, const void* of,
                                     size_t bytes) {
    if (value == nullptr || value_bytes < sizeof(int)) return remembered(cudaErrorInvalidValue);
    Allocation found;
    if (const cudaError_t error = find_managed(of, bytes, "cudaMemRangeGetAttribute", found)) {
        return remembered(error);
    }
    AllAdvice& all = all_advice();
    const std::lock_guard<std::mutex> lock(all.mutex);
    const Advice& advice = all.by_allocation[found.low];
    int number = 0;
    if (attribute == cudaMemRangeAttributeAccessedBy) {
        write_numbers(value, value_bytes, advice.accessed_by);
    } else if (number_for(attribute, advice, number)) {
        write_numbers(value, sizeof number, {number});
    } else {
        return remembered(cudaErrorInvalidValue);
    }
    return cudaSuccess;
}

cudaError_t cudaMemRangeGetAttributes(void** values, size_t* value_bytes,
                                      cudaMemRangeAttribute* attributes, size_t count,
                                      const void* of, size_t bytes) {
    if (values == nullptr || value_bytes == nullptr || attributes == nullptr) {
        return remembered(cudaErrorInvalidValue);
    }
    for (size_t i = 0; i < count; i++) {
        const cudaError_t error =
            cudaMemRangeGetAttribute(values[i], value_bytes[i], attributes[i], of, bytes);
        if (error != cudaSuccess) return error;
    }
    return cudaSuccess;
}

cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void* pointer, size_t bytes,
                                     unsigned flags) {
    if (const cudaError_t error = admit_to(stream, "cudaStreamAttachMemAsync")) return error;
    if (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost &&
        flags != cudaMemAttachSingle) {
        return remembered(cudaErrorInvalidValue);
    }
    Allocation found;
    return remembered(find_managed(pointer, bytes, "cudaStreamAttachMemAsync", found));
}

cudaError_t cudaMemPrefetchBatchAsync(void** of, size_t* bytes, size_t count, cudaMemLocation* to,
                                      size_t* first_of_location, size_t location_count,
                                      unsigned long long flags, cudaStream_t stream) {
    if (of == nullptr || bytes == nullptr || to == nullptr || first_of_location == nullptr ||
        location_count == 0 || first_of_location[0] != 0 || flags != 0) {
        return remembered(cudaErrorInvalidValue);
    }
    size_t location = 0;
    for (size_t i = 0; i < count; i++) {
        while (location + 1 < location_count && first_of_location[location + 1] <= i) location++;
        const cudaError_t error = cudaMemPrefetchAsync(of[i], bytes[i], to[location], 0, stream);
        if (error != cudaSuccess) return error;
    }
    return cudaSuccess;
}

// What is discarded may be anything afterwards, also what it was.
cudaError_t cudaMemDiscardBatchAsync(void** of, size_t* bytes, size_t count,
                                     unsigned long long flags, cudaStream_t stream) {
    if (of == nullptr || bytes == nullptr || flags != 0) return remembered(cudaErrorInvalidValue);
    if (const cudaError_t error = admit_to(stream, "cudaMemDiscardBatchAsync")) return error;
    for (size_t i = 0; i < count; i++) {
        Allocation found;
        const cudaError_t error = find_managed(of[i], bytes[i], "cudaMemDiscardBatchAsync", found);
        if (error != cudaSuccess) return remembered(error);
    }
    return cudaSuccess;
}

cudaError_t cudaMemDiscardAndPrefetchBatchAsync(void** of, size_t* bytes, size_t count,
                                                cudaMemLocation* to, size_t* first_of_location,
                                                size_t location_count, unsigned long long flags,
                                                cudaStream_t stream) {
    if (const cudaError_t error = cudaMemDiscardBatchAsync(of, bytes, count, flags, stream)) {
        return error;
    }
    return cudaMemPrefetchBatchAsync(of, bytes, count, to, first_of_location, location_count, flags,
                                     stream);
}
