// SPDX-License-Identifier: MIT
#include "allocation_history.hpp"

#include <cstdio>
#include <deque>
#include <mutex>
#include <utility>
#include <vector>

#include "common/io/memory.hpp"
#include "cpu_device/runtime_api.h"
#include "failure.hpp"
#include "launch.hpp"
#include "memory.hpp"
#include "strict.hpp"
#include "symbolize.hpp"

namespace cpu_device {
namespace {

struct FailedAllocation {
    const char* call;
    size_t bytes;
    cudaError_t result;
    size_t available, allocated;
    std::vector<uintptr_t> frames;
};

struct Freed {
    uintptr_t low;
    std::vector<uintptr_t> frames;
};

struct History {
    std::mutex mutex;
    std::deque<FailedAllocation> failed;
    std::deque<Freed> freed;
};

History& history() {
    static auto* const all = new History;  // alive until the very end of the process
    return *all;
}

template <class Entry>
void add(std::deque<Entry>& to, Entry entry, size_t most) {
    to.push_back(std::move(entry));
    if (to.size() > most) to.pop_front();
}

std::vector<uintptr_t> frames_here() {
    Failure here;
    here.capture_frames();
    return {here.frames, here.frames + here.frame_count};
}

std::string reason(const FailedAllocation& of) {
    if (of.result == cudaSuccess) return "";
    std::string text = std::string(": ") + cudaGetErrorString(of.result);
    if (of.result != cudaErrorMemoryAllocation) return text;
    const auto gigabytes = [](size_t bytes) { return io::gigabytes(static_cast<double>(bytes)); };
    if (of.bytes > SIZE_MAX / 2) return text + ", as a number below 0 became a size";
    const Observer* const watcher = observer();
    const size_t shadow = watcher == nullptr ? 0 : watcher->shadow_bytes(of.bytes);
    text += ", for the device has " + gigabytes(device_memory_bytes()) + ", of which " +
            gigabytes(of.available) + " were free";
    if (of.allocated != 0) text += "; " + gigabytes(of.allocated) + " are allocated already";
    if (shadow != 0) text += ", and what is looked for takes " + gigabytes(shadow) + " more";
    return text;
}

}  // namespace

cudaError_t noted_allocation(const char* call, size_t bytes, cudaError_t result) {
    if (result == cudaSuccess && bytes != 0) return result;
    constexpr size_t kRemembered = 2;
    FailedAllocation failed{call,         bytes, result, io::available_memory(), allocated_bytes(),
                            frames_here()};
    std::unique_lock<std::mutex> lock(history().mutex);
    const std::string why = result == cudaErrorMemoryAllocation ? reason(failed) : "";
    add(history().failed, std::move(failed), kRemembered);
    lock.unlock();
    // Said at once, and no fault: whoever asks what it got may do with less.
    if (!why.empty() && is_strict())
        mention(std::string(call) + " of " + std::to_string(bytes) + " bytes" + why + ", at " +
                calling_line());
    return result;
}

std::string failed_allocations_text() {
    const std::lock_guard<std::mutex> lock(history().mutex);
    std::string text;
    for (const FailedAllocation& one : history().failed) {
        text += std::string("; ") + one.call + " of " + std::to_string(one.bytes) + " bytes at " +
                user_line(one.frames) + " gave no memory" + reason(one);
    }
    return text;
}

void note_freed(uintptr_t low) {
    if (!is_strict()) return;
    constexpr size_t kRemembered = 512;
    Freed freed{low, frames_here()};
    const std::lock_guard<std::mutex> lock(history().mutex);
    add(history().freed, std::move(freed), kRemembered);
}

std::string freed_text(uintptr_t low) {
    const std::lock_guard<std::mutex> lock(history().mutex);
    for (const Freed& freed : history().freed) {
        if (freed.low == low) return " (freed at " + user_line(freed.frames) + ")";
    }
    return "";
}

}  // namespace cpu_device
