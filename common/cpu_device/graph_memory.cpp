// SPDX-License-Identifier: MIT
//
// As pools do, graphs keep no memory here: what they "reserve" is the most that was in use since it was last trimmed.
#include "graph_memory.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <map>
#include <mutex>

#include "api.hpp"
#include "capture.hpp"
#include "cpu_device/runtime_api.h"
#include "devices.hpp"
#include "memory.hpp"

namespace cpu_device {
namespace {

struct Reserved {
    int device;
    size_t bytes;
    bool in_use;
};

struct Counted {
    uint64_t used = 0, most_used = 0, reserved = 0, most_reserved = 0;
};

struct GraphMemory {
    std::mutex mutex;
    std::map<uintptr_t, Reserved> nodes;  // by their addresses
    std::map<int, Counted> counted;       // by device
};

GraphMemory& graph_memory() {
    static GraphMemory* const instance =
        new GraphMemory;  // alive until the very end of the process
    return *instance;
}

void count_use(const Reserved& of) {
    Counted& counted = graph_memory().counted[of.device];
    counted.used += of.bytes;
    counted.most_used = std::max(counted.most_used, counted.used);
    counted.reserved = std::max(counted.reserved, counted.used);
    counted.most_reserved = std::max(counted.most_reserved, counted.reserved);
}

}  // namespace

cudaError_t reserve_for_graph(int device, size_t bytes, void** pointer) {
    if (bytes == 0) return cudaErrorInvalidValue;
    if (const cudaError_t error = reserve_addresses(device, bytes, pointer)) return error;
    GraphMemory& all = graph_memory();
    const std::lock_guard<std::mutex> lock(all.mutex);
    all.nodes[as_address(*pointer)] = {device, bytes, false};
    return cudaSuccess;
}

cudaError_t allocate_for_graph(void* pointer) {
    GraphMemory& all = graph_memory();
    std::unique_lock<std::mutex> lock(all.mutex);
    Reserved& node = all.nodes.at(as_address(pointer));
    if (node.in_use) {
        if (!InsideGraph::frees_first()) return remembered(cudaErrorInvalidValue);
        lock.unlock();
        if (const cudaError_t error = cudaFree(pointer)) return error;
        lock.lock();
    }
    lock.unlock();
    if (const cudaError_t error = allocate_reserved(pointer, node.bytes, node.device)) {
        return remembered(error);
    }
    lock.lock();
    node.in_use = true;
    count_use(node);
    return cudaSuccess;
}

cudaError_t free_for_graph(void* pointer) {
    return cudaFree(pointer);
}

bool is_graph_memory(const void* pointer) {
    GraphMemory& all = graph_memory();
    const std::lock_guard<std::mutex> lock(all.mutex);
    return all.nodes.count(as_address(pointer)) != 0;
}

bool is_in_graph_memory(const void* pointer) {
    GraphMemory& all = graph_memory();
    const std::lock_guard<std::mutex> lock(all.mutex);
    const auto above = all.nodes.upper_bound(as_address(pointer));
    if (above == all.nodes.begin()) return false;
    const auto& [low, node] = *std::prev(above);
    return as_address(pointer) - low < node.bytes;
}

void note_freed_to_graphs(uintptr_t low) {
    GraphMemory& all = graph_memory();
    const std::lock_guard<std::mutex> lock(all.mutex);
    const auto found = all.nodes.find(low);
    if (found == all.nodes.end() || !found->second.in_use) return;
    found->second.in_use = false;
    all.counted[found->second.device].used -= found->second.bytes;
}

}  // namespace cpu_device

using namespace cpu_device;

cudaError_t cudaDeviceGetGraphMemAttribute(int device, cudaGraphMemAttributeType attribute,
                                           void* value) {
    if (value == nullptr) return remembered(cudaErrorInvalidValue);
    if (!is_device(device)) return remembered(cudaErrorInvalidDevice);
    GraphMemory& all = graph_memory();
    const std::lock_guard<std::mutex> lock(all.mutex);
    const Counted& counted = all.counted[device];
    uint64_t number = 0;
    switch (attribute) {
        case cudaGraphMemAttrUsedMemCurrent:
            number = counted.used;
            break;
        case cudaGraphMemAttrUsedMemHigh:
            number = counted.most_used;
            break;
        case cudaGraphMemAttrReservedMemCurrent:
            number = counted.reserved;
            break;
        case cudaGraphMemAttrReservedMemHigh:
            number = counted.most_reserved;
            break;
        default:
            return remembered(cudaErrorInvalidValue);
    }
    std::memcpy(value, &number, sizeof number);
    return cudaSuccess;
}

// The high marks can be set back, to 0.
cudaError_t cudaDeviceSetGraphMemAttribute(int device, cudaGraphMemAttributeType attribute,
                                           void* value) {
    uint64_t number = 1;
    if (value != nullptr) std::memcpy(&number, value, sizeof number);
    if (number != 0) return remembered(cudaErrorInvalidValue);
    if (!is_device(device)) return remembered(cudaErrorInvalidDevice);
    GraphMemory& all = graph_memory();
    const std::lock_guard<std::mutex> lock(all.mutex);
    Counted& counted = all.counted[device];
    if (attribute == cudaGraphMemAttrUsedMemHigh) {
        counted.most_used = counted.used;
    } else if (attribute == cudaGraphMemAttrReservedMemHigh) {
        counted.most_reserved = counted.reserved;
    } else {
        return remembered(cudaErrorInvalidValue);
    }
    return cudaSuccess;
}

cudaError_t cudaDeviceGraphMemTrim(int device) {
    if (!is_device(device)) return remembered(cudaErrorInvalidDevice);
    GraphMemory& all = graph_memory();
    const std::lock_guard<std::mutex> lock(all.mutex);
    Counted& counted = all.counted[device];
    counted.reserved = counted.used;
    return cudaSuccess;
}
