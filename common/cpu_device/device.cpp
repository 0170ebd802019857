// SPDX-License-Identifier: MIT
//
// Limits and occupancy. The occupancy model: a multiprocessor holds as many blocks as fit its 2048
// threads, 65536 registers, 228 KB of shared memory and 32 blocks. Shared memory is what the kernel
// declares itself plus what the launch asks for plus 1 KB that the system keeps per block.
// Registers are not known on a CPU: kRegistersPerThread is assumed for every kernel, handed out in
// pieces of 256 per warp, as the hardware does.
#include "device.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <mutex>
#include <unordered_map>

#include "api.hpp"
#include "cpu_device/runtime_api.h"
#include "shared_memory.hpp"

namespace cpu_device {
namespace {

constexpr int kRegistersPerThread = 32;
constexpr int kRegisterPiece = 256;
constexpr int kRegisters = 64 * 1024;
constexpr int kMultiprocessors = 132;
constexpr int kThreadsPerMultiprocessor = 2048;
constexpr int kBlocksPerMultiprocessor = 32;
constexpr size_t kSharedPerMultiprocessor = 228 * kKilobyte;
constexpr size_t kSharedKeptPerBlock = kKilobyte;
constexpr unsigned kPortableClusterSize = 8;
constexpr unsigned kLargestClusterSize = 16;
constexpr int kCudaVersion = 13000;

struct KernelState {
    size_t static_shared = 0;
    size_t dynamic_shared_limit = 0;
    bool large_clusters = false;
};

std::mutex kernels_mutex;
std::unordered_map<const void*, KernelState> kernels;

KernelState& state_of(const void* kernel) {
    const auto [entry, is_new] = kernels.try_emplace(kernel);
    if (is_new) {
        KernelState& state = entry->second;
        state.static_shared = static_shared_bytes(as_address(kernel));
        state.dynamic_shared_limit =
            kSharedPerBlock - std::min(state.static_shared, kSharedPerBlock);
    }
    return entry->second;
}

KernelState kernel_state(const void* kernel) {
    const std::lock_guard<std::mutex> lock(kernels_mutex);
    KernelState state = state_of(kernel);
    if (kernel != nullptr) return state;
    // Launched under a name alone: as much as any kernel has been allowed.
    for (const auto& [address, other] : kernels) {
        state.dynamic_shared_limit =
            std::max(state.dynamic_shared_limit, other.dynamic_shared_limit);
        state.large_clusters |= other.large_clusters;
    }
    return state;
}

cudaDeviceProp describe_device() {
    cudaDeviceProp device{};
    std::snprintf(device.name, sizeof device.name, "CPU device (softmax-stages)");
    size_t free_bytes = 0;
    cudaMemGetInfo(&free_bytes, &device.totalGlobalMem);
    device.sharedMemPerBlock = kSharedPerBlock;
    device.regsPerBlock = kRegisters;
    device.warpSize = 32;
    device.maxThreadsPerBlock = 1024;
    device.maxThreadsDim[0] = device.maxThreadsDim[1] = 1024;
    device.maxThreadsDim[2] = 64;
    device.maxGridSize[0] = 2147483647;
    device.maxGridSize[1] = device.maxGridSize[2] = 65535;
    device.totalConstMem = 64 * kKilobyte;
    device.major = 9;
    device.minor = 0;
    device.multiProcessorCount = kMultiprocessors;
    device.integrated = 1;
    device.canMapHostMemory = 1;
    device.asyncEngineCount = 0;
    device.concurrentKernels = 0;
    device.unifiedAddressing = 1;
    device.memoryBusWidth = 6144;
    device.l2CacheSize = 50 * 1024 * 1024;
    device.persistingL2CacheMaxSize = 0;
    device.maxThreadsPerMultiProcessor = kThreadsPerMultiprocessor;
    device.sharedMemPerMultiprocessor = kSharedPerMultiprocessor;
    device.regsPerMultiprocessor = kRegisters;
    device.managedMemory = 1;
    device.cooperativeLaunch = 1;
    device.sharedMemPerBlockOptin = kSharedPerBlockOptIn;
    device.maxBlocksPerMultiProcessor = kBlocksPerMultiprocessor;
    device.reservedSharedMemPerBlock = kSharedKeptPerBlock;
    device.clusterLaunch = 1;
    return device;
}

std::string beyond(const char* what, unsigned long long asked, unsigned long long limit) {
    return std::string(what) + " is " + std::to_string(asked) + ", but must be 1 to " +
           std::to_string(limit);
}

std::string objection_to_extents(const LaunchConfiguration& launch) {
    const dim3 block = launch.block, grid = launch.grid;
    if (block.x < 1 || block.x > 1024) return beyond("blockDim.x", block.x, 1024);
    if (block.y < 1 || block.y > 1024) return beyond("blockDim.y", block.y, 1024);
    if (block.z < 1 || block.z > 64) return beyond("blockDim.z", block.z, 64);
    const unsigned long long threads = 1ull * block.x * block.y * block.z;
    if (threads > 1024) return beyond("the number of threads in a block", threads, 1024);
    if (grid.x < 1 || grid.x > 2147483647) return beyond("gridDim.x", grid.x, 2147483647);
    if (grid.y < 1 || grid.y > 65535) return beyond("gridDim.y", grid.y, 65535);
    if (grid.z < 1 || grid.z > 65535) return beyond("gridDim.z", grid.z, 65535);
    return {};
}

std::string objection_to_shared(const LaunchConfiguration& launch, const KernelState& kernel) {
    if (kernel.static_shared > kSharedPerBlock) {
        return "its __shared__ variables take " + std::to_string(kernel.static_shared) +
               " bytes, but at most 49152 can be declared";
    }
    if (launch.shared_bytes <= kernel.dynamic_shared_limit) return {};
    std::string text = std::to_string(launch.shared_bytes) +
                       " bytes of dynamic shared memory, but this kernel may have " +
                       std::to_string(kernel.dynamic_shared_limit);
    if (launch.shared_bytes + kernel.static_shared <= kSharedPerBlockOptIn) {
        text +=
            "; cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, "
            "bytes) raises that";
    }
    return text;
}

std::string objection_to_cluster(const LaunchConfiguration& launch, const KernelState& kernel) {
    const dim3 grid = launch.grid, cluster = launch.cluster;
    if (cluster.x == 0 || cluster.y == 0 || cluster.z == 0) return "a cluster dimension is 0";
    const unsigned long long blocks = 1ull * cluster.x * cluster.y * cluster.z;
    const unsigned limit = kernel.large_clusters ? kLargestClusterSize : kPortableClusterSize;
    if (blocks > limit) return beyond("the number of blocks in a cluster", blocks, limit);
    if (grid.x % cluster.x != 0 || grid.y % cluster.y != 0 || grid.z % cluster.z != 0) {
        return "the grid is not a whole number of clusters";
    }
    return {};
}

// The blocks of a cooperative launch wait for each other: all must find room at once.
std::string objection_to_cooperation(const LaunchRequest& request) {
    const LaunchConfiguration& launch = request.configuration;
    if (!launch.cooperative) return {};
    int blocks = 0;
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        &blocks, request.kernel_address,
        static_cast<int>(launch.block.x * launch.block.y * launch.block.z), launch.shared_bytes);
    const unsigned long long asked = 1ull * launch.grid.x * launch.grid.y * launch.grid.z;
    const unsigned long long room = 1ull * static_cast<unsigned>(blocks) * kMultiprocessors;
    if (asked <= room) return {};
    return beyond("the number of blocks in a cooperative launch", asked, room);
}

}  // namespace

std::string launch_objection(const LaunchRequest& request, cudaError_t& code) {
    const LaunchConfiguration& launch = request.configuration;
    code = cudaErrorInvalidConfiguration;
    if (std::string text = objection_to_extents(launch); !text.empty()) return text;
    const KernelState kernel = kernel_state(request.kernel_address);
    code = cudaErrorInvalidValue;
    if (std::string text = objection_to_shared(launch, kernel); !text.empty()) return text;
    code = cudaErrorInvalidClusterSize;
    if (std::string text = objection_to_cluster(launch, kernel); !text.empty()) return text;
    code = cudaErrorInvalidResourceHandle;
    if (!is_stream(launch.stream)) return "its stream was never created, or is destroyed";
    code = cudaErrorNotSupported;
    if (launch.cooperative && launch.cluster.x * launch.cluster.y * launch.cluster.z > 1) {
        return "cooperative launches of clusters are not supported";
    }
    code = cudaErrorCooperativeLaunchTooLarge;
    if (std::string text = objection_to_cooperation(request); !text.empty()) return text;
    code = cudaSuccess;
    return {};
}

}  // namespace cpu_device

using namespace cpu_device;

cudaError_t cudaGetDevice(int* device) {
    if (device == nullptr) return remembered(cudaErrorInvalidValue);
    *device = 0;
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int device) {
    return remembered(device == 0 ? cudaSuccess : cudaErrorInvalidDevice);
}

cudaError_t cudaGetDeviceCount(int* count) {
    if (count == nullptr) return remembered(cudaErrorInvalidValue);
    *count = has_address_space() ? 1 : 0;
    return remembered(*count == 1 ? cudaSuccess : cudaErrorNoDevice);
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
    if (properties == nullptr) return remembered(cudaErrorInvalidValue);
    if (device != 0) return remembered(cudaErrorInvalidDevice);
    *properties = describe_device();
    return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
    cudaDeviceProp properties;
    if (value == nullptr) return remembered(cudaErrorInvalidValue);
    if (const cudaError_t error = cudaGetDeviceProperties(&properties, device)) return error;
    const std::unordered_map<int, size_t> values{
        {cudaDevAttrMaxThreadsPerBlock, properties.maxThreadsPerBlock},
        {cudaDevAttrMaxBlockDimX, properties.maxThreadsDim[0]},
        {cudaDevAttrMaxBlockDimY, properties.maxThreadsDim[1]},
        {cudaDevAttrMaxBlockDimZ, properties.maxThreadsDim[2]},
        {cudaDevAttrMaxGridDimX, properties.maxGridSize[0]},
        {cudaDevAttrMaxGridDimY, properties.maxGridSize[1]},
        {cudaDevAttrMaxGridDimZ, properties.maxGridSize[2]},
        {cudaDevAttrMaxSharedMemoryPerBlock, properties.sharedMemPerBlock},
        {cudaDevAttrTotalConstantMemory, properties.totalConstMem},
        {cudaDevAttrWarpSize, properties.warpSize},
        {cudaDevAttrMaxRegistersPerBlock, properties.regsPerBlock},
        {cudaDevAttrClockRate, 0},  // unknown: nothing here is a measure of a GPU's time
        {cudaDevAttrMultiProcessorCount, properties.multiProcessorCount},
        {cudaDevAttrIntegrated, properties.integrated},
        {cudaDevAttrConcurrentKernels, properties.concurrentKernels},
        {cudaDevAttrMemoryClockRate, 0},
        {cudaDevAttrGlobalMemoryBusWidth, properties.memoryBusWidth},
        {cudaDevAttrL2CacheSize, properties.l2CacheSize},
        {cudaDevAttrMaxThreadsPerMultiProcessor, properties.maxThreadsPerMultiProcessor},
        {cudaDevAttrUnifiedAddressing, properties.unifiedAddressing},
        {cudaDevAttrComputeCapabilityMajor, properties.major},
        {cudaDevAttrComputeCapabilityMinor, properties.minor},
        {cudaDevAttrMaxSharedMemoryPerMultiprocessor, properties.sharedMemPerMultiprocessor},
        {cudaDevAttrMaxRegistersPerMultiprocessor, properties.regsPerMultiprocessor},
        {cudaDevAttrManagedMemory, properties.managedMemory},
        {cudaDevAttrCooperativeLaunch, properties.cooperativeLaunch},
        {cudaDevAttrMaxSharedMemoryPerBlockOptin, properties.sharedMemPerBlockOptin},
        {cudaDevAttrMaxBlocksPerMultiprocessor, properties.maxBlocksPerMultiProcessor},
        {cudaDevAttrMaxPersistingL2CacheSize, properties.persistingL2CacheMaxSize},
        {cudaDevAttrReservedSharedMemoryPerBlock, properties.reservedSharedMemPerBlock},
        {cudaDevAttrMemoryPoolsSupported, 1},
        {cudaDevAttrClusterLaunch, properties.clusterLaunch},
    };
    const auto found = values.find(attribute);
    if (found == values.end()) return remembered(cudaErrorInvalidValue);
    *value = static_cast<int>(found->second);
    return cudaSuccess;
}

// Limits of the GPU's own heaps and caches: accepted, and nothing to be limited here.
cudaError_t cudaDeviceSetLimit(cudaLimit, size_t) {
    return cudaSuccess;
}

cudaError_t cudaDeviceGetLimit(size_t* value, cudaLimit limit) {
    if (value == nullptr) return remembered(cudaErrorInvalidValue);
    *value = limit == cudaLimitStackSize ? 1024 : 0;
    return cudaSuccess;
}

cudaError_t cudaCtxResetPersistingL2Cache() {
    return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int* version) {
    if (version == nullptr) return remembered(cudaErrorInvalidValue);
    *version = kCudaVersion;
    return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int* version) {
    return cudaDriverGetVersion(version);
}

cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute attribute, int value) {
    if (kernel == nullptr) return remembered(cudaErrorInvalidDeviceFunction);
    const std::lock_guard<std::mutex> lock(kernels_mutex);
    KernelState& state = state_of(kernel);
    switch (attribute) {
        case cudaFuncAttributeMaxDynamicSharedMemorySize:
            if (value < 0 ||
                static_cast<size_t>(value) + state.static_shared > kSharedPerBlockOptIn)
                return remembered(cudaErrorInvalidValue);
            state.dynamic_shared_limit = static_cast<size_t>(value);
            return cudaSuccess;
        case cudaFuncAttributePreferredSharedMemoryCarveout:
            return remembered(value >= -1 && value <= 100 ? cudaSuccess : cudaErrorInvalidValue);
        case cudaFuncAttributeNonPortableClusterSizeAllowed:
            state.large_clusters = value != 0;
            return cudaSuccess;
    }
    return remembered(cudaErrorInvalidValue);
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* kernel) {
    if (attributes == nullptr) return remembered(cudaErrorInvalidValue);
    if (kernel == nullptr) return remembered(cudaErrorInvalidDeviceFunction);
    const KernelState state = kernel_state(kernel);
    *attributes = {};
    attributes->sharedSizeBytes = state.static_shared;
    attributes->maxThreadsPerBlock = 1024;
    attributes->numRegs = kRegistersPerThread;
    attributes->ptxVersion = attributes->binaryVersion = 90;
    attributes->maxDynamicSharedSizeBytes = static_cast<int>(state.dynamic_shared_limit);
    attributes->preferredShmemCarveout = -1;
    return cudaSuccess;
}

cudaError_t cudaFuncSetCacheConfig(const void*, cudaFuncCache) {
    return cudaSuccess;
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* kernel,
                                                          int block_threads, size_t shared_bytes) {
    if (blocks == nullptr || block_threads < 1) return remembered(cudaErrorInvalidValue);
    if (kernel == nullptr) return remembered(cudaErrorInvalidDeviceFunction);
    *blocks = 0;
    const KernelState state = kernel_state(kernel);
    if (block_threads > 1024 || shared_bytes > state.dynamic_shared_limit) return cudaSuccess;
    const int warps = (block_threads + 31) / 32;
    const int registers_per_warp =
        (kRegistersPerThread * 32 + kRegisterPiece - 1) / kRegisterPiece * kRegisterPiece;
    const int by_threads = kThreadsPerMultiprocessor / (warps * 32);
    const int by_registers = kRegisters / (warps * registers_per_warp);
    const size_t shared = shared_bytes + state.static_shared + kSharedKeptPerBlock;
    const int by_shared = static_cast<int>(kSharedPerMultiprocessor / shared);
    *blocks = std::min({by_threads, by_registers, by_shared, kBlocksPerMultiprocessor});
    return cudaSuccess;
}

// An upper bound: hardware also keeps the blocks of a cluster in one group of multiprocessors.
cudaError_t cudaOccupancyMaxActiveClusters(int* clusters, const void* kernel,
                                           const cudaLaunchConfig_t* config) {
    if (clusters == nullptr || config == nullptr) return remembered(cudaErrorInvalidValue);
    LaunchConfiguration launch;
    if (const cudaError_t error = read_launch_attributes(*config, launch)) return error;
    const dim3 block = launch.block, cluster = launch.cluster;
    int blocks = 0;
    if (const cudaError_t error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(
            &blocks, kernel, static_cast<int>(block.x * block.y * block.z), launch.shared_bytes)) {
        return error;
    }
    const int cluster_blocks = static_cast<int>(cluster.x * cluster.y * cluster.z);
    *clusters = blocks * kMultiprocessors / cluster_blocks;
    return cudaSuccess;
}

cudaError_t cudaOccupancyMaxPotentialClusterSize(int* blocks, const void* kernel,
                                                 const cudaLaunchConfig_t* config) {
    if (blocks == nullptr || config == nullptr) return remembered(cudaErrorInvalidValue);
    const KernelState state = kernel_state(kernel);
    *blocks = state.large_clusters ? kLargestClusterSize : kPortableClusterSize;
    return cudaSuccess;
}
