// SPDX-License-Identifier: MIT
#include "failed_allocations.hpp"

#include <cinttypes>
#include <cstdio>
#include <deque>
#include <mutex>
#include <vector>

#include "common/io/memory.hpp"
#include "cpu_device/runtime_api.h"
#include "failure.hpp"
#include "memory.hpp"
#include "symbolize.hpp"

namespace cpu_device {
namespace {

struct FailedAllocation {
    const char* call;
    size_t bytes;
    cudaError_t result;
    size_t available;
    std::vector<uintptr_t> frames;
};

struct Failed {
    std::mutex mutex;
    std::deque<FailedAllocation> latest;
};

Failed& failed() {
    static auto* const all = new Failed;  // alive until the very end of the process
    return *all;
}

std::string reason(const FailedAllocation& of) {
    if (of.result == cudaSuccess) return "";
    std::string text = std::string(": ") + cudaGetErrorString(of.result);
    if (of.result != cudaErrorMemoryAllocation) return text;
    const auto gigabytes = [](size_t bytes) { return io::gigabytes(static_cast<double>(bytes)); };
    if (of.bytes > SIZE_MAX / 2) return text + ", as a number below 0 became a size";
    return text + ", for the device has " + gigabytes(device_memory_bytes()) + ", of which " +
           gigabytes(of.available) + " were free";
}

}  // namespace

cudaError_t noted_allocation(const char* call, size_t bytes, cudaError_t result) {
    if (result == cudaSuccess && bytes != 0) return result;
    constexpr size_t kRemembered = 2;
    Failure here;
    here.capture_frames();
    Failed& all = failed();
    const std::lock_guard<std::mutex> lock(all.mutex);
    all.latest.push_back({call,
                          bytes,
                          result,
                          io::available_memory(),
                          {here.frames, here.frames + here.frame_count}});
    if (all.latest.size() > kRemembered) all.latest.pop_front();
    return result;
}

std::string failed_allocations_text() {
    Failed& all = failed();
    const std::lock_guard<std::mutex> lock(all.mutex);
    std::string text;
    for (const FailedAllocation& one : all.latest) {
        text += std::string("; ") + one.call + " of " + std::to_string(one.bytes) + " bytes at " +
                user_line(one.frames) + " gave no memory" + reason(one);
    }
    return text;
}

}  // namespace cpu_device
