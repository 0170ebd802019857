// SPDX-License-Identifier: MIT
#include "devices.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>

#include "api.hpp"
#include "cpu_device/runtime_api.h"
#include "memory.hpp"
#include "strict.hpp"

namespace cpu_device {
namespace {

constexpr int kMostDevices = 16;

thread_local int chosen_device = 0;

struct Peers {
    std::mutex mutex;
    std::array<std::array<bool, kMostDevices>, kMostDevices> enabled{};
};

Peers& peers() {
    static Peers* const instance = new Peers;  // alive until the very end of the process
    return *instance;
}

unsigned device_flags = cudaDeviceMapHost;

cudaError_t require_pair(int from, int to) {
    return is_device(from) && is_device(to) ? cudaSuccess : remembered(cudaErrorInvalidDevice);
}

// Which widths and forms of the operation the device's atomicX functions have.
unsigned capability_of(cudaAtomicOperation operation) {
    constexpr unsigned kInteger = cudaAtomicCapabilitySigned | cudaAtomicCapabilityUnsigned |
                                  cudaAtomicCapabilityReduction | cudaAtomicCapabilityScalar32 |
                                  cudaAtomicCapabilityScalar64;
    constexpr unsigned kFloat =
        cudaAtomicCapabilityReduction | cudaAtomicCapabilityScalar32 | cudaAtomicCapabilityScalar64;
    if (operation == cudaAtomicOperationFloatAdd) return kFloat;
    if (operation > cudaAtomicOperationFloatAdd) return 0;
    const bool is_counter = operation == cudaAtomicOperationIntegerIncrement ||
                            operation == cudaAtomicOperationIntegerDecrement;
    return is_counter ? cudaAtomicCapabilityUnsigned | cudaAtomicCapabilityScalar32 : kInteger;
}

cudaError_t list_capabilities(unsigned* capabilities, const cudaAtomicOperation* operations,
                              unsigned count) {
    if (capabilities == nullptr || operations == nullptr) return remembered(cudaErrorInvalidValue);
    std::transform(operations, operations + count, capabilities, capability_of);
    return cudaSuccess;
}

std::atomic<int>& count_of_devices() {
    static std::atomic<int> count = [] {
        const char* const said = std::getenv("CPU_DEVICE_COUNT");
        return std::clamp(said == nullptr ? 1 : std::atoi(said), 1, kMostDevices);
    }();
    return count;
}

}  // namespace

int device_count() {
    return count_of_devices();
}

void have_devices(int count) {
    count_of_devices() = std::clamp(count, 1, kMostDevices);
}

int current_device() {
    return chosen_device;
}

bool is_device(int device) {
    return device >= 0 && device < device_count();
}

bool may_access(int device, int owner) {
    if (device == owner) return true;
    Peers& all = peers();
    const std::lock_guard<std::mutex> lock(all.mutex);
    return all.enabled[static_cast<size_t>(device)][static_cast<size_t>(owner)];
}

void forget_peers() {
    Peers& all = peers();
    const std::lock_guard<std::mutex> lock(all.mutex);
    all.enabled[static_cast<size_t>(chosen_device)].fill(false);
}

}  // namespace cpu_device

using namespace cpu_device;

cudaError_t cudaGetDevice(int* device) {
    if (device == nullptr) return remembered(cudaErrorInvalidValue);
    *device = current_device();
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int device) {
    if (!is_device(device)) return remembered(cudaErrorInvalidDevice);
    chosen_device = device;
    return cudaSuccess;
}

cudaError_t cudaInitDevice(int device, unsigned, unsigned flags) {
    if (!is_device(device)) return remembered(cudaErrorInvalidDevice);
    return remembered(flags > cudaInitDeviceFlagsAreValid ? cudaErrorInvalidValue : cudaSuccess);
}

cudaError_t cudaGetDeviceCount(int* count) {
    if (count == nullptr) return remembered(cudaErrorInvalidValue);
    *count = has_address_space() ? device_count() : 0;
    return remembered(*count > 0 ? cudaSuccess : cudaErrorNoDevice);
}

// The devices are alike, so the first is as near to any wish as the others.
cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp* properties) {
    if (device == nullptr || properties == nullptr) return remembered(cudaErrorInvalidValue);
    *device = 0;
    return cudaSuccess;
}

cudaError_t cudaSetValidDevices(int* devices, int count) {
    if (devices == nullptr || count < 0) return remembered(cudaErrorInvalidValue);
    return remembered(std::all_of(devices, devices + count, is_device) ? cudaSuccess
                                                                       : cudaErrorInvalidDevice);
}

// How the host waits: it never does.
cudaError_t cudaSetDeviceFlags(unsigned flags) {
    if ((flags & ~cudaDeviceMask) != 0) return remembered(cudaErrorInvalidValue);
    device_flags = flags | cudaDeviceMapHost;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceFlags(unsigned* flags) {
    if (flags == nullptr) return remembered(cudaErrorInvalidValue);
    *flags = device_flags;
    return cudaSuccess;
}

// As cudaDeviceProp says it: the bus is the device's number and one.
cudaError_t cudaDeviceGetPCIBusId(char* text, int length, int device) {
    if (text == nullptr || length < 13) return remembered(cudaErrorInvalidValue);
    if (!is_device(device)) return remembered(cudaErrorInvalidDevice);
    std::snprintf(text, static_cast<size_t>(length), "0000:%02X:00.0",
                  static_cast<unsigned>(device) + 1);
    return cudaSuccess;
}

cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* text) {
    if (device == nullptr || text == nullptr) return remembered(cudaErrorInvalidValue);
    unsigned domain = 0, bus = 0, slot = 0;
    const bool is_full = std::sscanf(text, "%x:%x:%x", &domain, &bus, &slot) == 3;
    if (!is_full) domain = 0;
    if (!is_full && std::sscanf(text, "%x:%x", &bus, &slot) != 2) {
        return remembered(cudaErrorInvalidValue);
    }
    if (domain != 0 || slot != 0 || !is_device(static_cast<int>(bus) - 1)) {
        return remembered(cudaErrorInvalidDevice);
    }
    *device = static_cast<int>(bus) - 1;
    return cudaSuccess;
}

cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
    if (can == nullptr) return remembered(cudaErrorInvalidValue);
    if (const cudaError_t error = require_pair(device, peer)) return error;
    *can = device != peer;
    return cudaSuccess;
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
    if (flags != cudaPeerAccessDefault) return remembered(cudaErrorInvalidValue);
    if (!is_device(peer) || peer == chosen_device) return remembered(cudaErrorInvalidDevice);
    Peers& all = peers();
    const std::lock_guard<std::mutex> lock(all.mutex);
    bool& enabled = all.enabled[static_cast<size_t>(chosen_device)][static_cast<size_t>(peer)];
    if (enabled) return remembered(cudaErrorPeerAccessAlreadyEnabled);
    enabled = true;
    return cudaSuccess;
}

cudaError_t cudaDeviceDisablePeerAccess(int peer) {
    if (!is_device(peer) || peer == chosen_device) return remembered(cudaErrorInvalidDevice);
    Peers& all = peers();
    const std::lock_guard<std::mutex> lock(all.mutex);
    bool& enabled = all.enabled[static_cast<size_t>(chosen_device)][static_cast<size_t>(peer)];
    if (!enabled) return remembered(cudaErrorPeerAccessNotEnabled);
    enabled = false;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr attribute, int from, int to) {
    if (value == nullptr) return remembered(cudaErrorInvalidValue);
    if (const cudaError_t error = require_pair(from, to)) return error;
    if (from == to) return remembered(cudaErrorInvalidDevice);
    switch (attribute) {
        case cudaDevP2PAttrPerformanceRank:
        case cudaDevP2PAttrOnlyPartialNativeAtomicSupported:
            *value = 0;
            return cudaSuccess;
        case cudaDevP2PAttrAccessSupported:
        case cudaDevP2PAttrNativeAtomicSupported:
        case cudaDevP2PAttrCudaArrayAccessSupported:
            *value = 1;
            return cudaSuccess;
    }
    return remembered(cudaErrorInvalidValue);
}

cudaError_t cudaDeviceGetHostAtomicCapabilities(unsigned* capabilities,
                                                const cudaAtomicOperation* operations,
                                                unsigned count, int device) {
    if (!is_device(device)) return remembered(cudaErrorInvalidDevice);
    return list_capabilities(capabilities, operations, count);
}

cudaError_t cudaDeviceGetP2PAtomicCapabilities(unsigned* capabilities,
                                               const cudaAtomicOperation* operations,
                                               unsigned count, int from, int to) {
    if (const cudaError_t error = require_pair(from, to)) return error;
    return list_capabilities(capabilities, operations, count);
}
