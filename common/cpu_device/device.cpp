// SPDX-License-Identifier: MIT
//
// Limits and occupancy. The occupancy model: a multiprocessor holds as many blocks as fit its 2048
// threads, 65536 registers, 228 KB of shared memory and 32 blocks. Shared memory is what the kernel
// declares itself plus what the launch asks for plus 1 KB that the system keeps per block.
// Registers are not known on a CPU: kRegistersPerThread is assumed for every kernel, handed out in
// pieces of 256 per warp, as the hardware does.
#include "device.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <mutex>
#include <unordered_map>

#include "api.hpp"
#include "cpu_device/runtime_api.h"
#include "devices.hpp"
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
std::array<size_t, cudaLimitPersistingL2CacheSize + 1> limits = {
    1024, size_t{1} << 20, size_t{8} << 20, 2, 2048, 64, 0};
std::atomic<cudaFuncCache> cache_config{cudaFuncCachePreferNone};

bool is_limit(cudaLimit limit) {
    return static_cast<size_t>(limit) < limits.size();
}
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

void describe_textures(cudaDeviceProp& device) {
    const auto set = [](int(&to)[3], int x, int y, int z) { to[0] = x, to[1] = y, to[2] = z; };
    const auto set_two = [](int(&to)[2], int x, int y) { to[0] = x, to[1] = y; };
    device.textureAlignment = device.surfaceAlignment = 512;
    device.texturePitchAlignment = 32;
    device.maxTexture1D = 131072;
    device.maxTexture1DMipmap = 32768;
    device.maxTexture1DLinear = 268435456;
    set_two(device.maxTexture2D, 131072, 65536);
    set_two(device.maxTexture2DMipmap, 32768, 32768);
    set(device.maxTexture2DLinear, 131072, 65000, 2097120);
    set_two(device.maxTexture2DGather, 32768, 32768);
    set(device.maxTexture3D, 16384, 16384, 16384);
    set(device.maxTexture3DAlt, 8192, 8192, 32768);
    device.maxTextureCubemap = device.maxSurfaceCubemap = 32768;
    set_two(device.maxTexture1DLayered, 32768, 2048);
    set(device.maxTexture2DLayered, 32768, 32768, 2048);
    set_two(device.maxTextureCubemapLayered, 32768, 2046);
    device.maxSurface1D = 32768;
    set_two(device.maxSurface2D, 131072, 65536);
    set(device.maxSurface3D, 16384, 16384, 16384);
    set_two(device.maxSurface1DLayered, 32768, 2048);
    set(device.maxSurface2DLayered, 32768, 32768, 2048);
    set_two(device.maxSurfaceCubemapLayered, 32768, 2046);
}

cudaDeviceProp describe_device(int number) {
    cudaDeviceProp device{};
    std::snprintf(device.name, sizeof device.name, "CPU device (softmax-stages)");
    std::snprintf(device.uuid.bytes, sizeof device.uuid.bytes, "CPU device %d", number);
    device.totalGlobalMem = device_memory_bytes();
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
    device.memPitch = 2147483647;
    describe_textures(device);
    device.integrated = 1;
    device.canMapHostMemory = 1;
    device.pciBusID = number + 1;
    device.asyncEngineCount = 0;
    device.concurrentKernels = 0;
    device.unifiedAddressing = 1;
    device.memoryBusWidth = 6144;
    device.streamPrioritiesSupported = 1;
    device.globalL1CacheSupported = device.localL1CacheSupported = 1;
    device.multiGpuBoardGroupID = number;
    device.concurrentManagedAccess = 1;
    device.computePreemptionSupported = 1;
    device.canUseHostPointerForRegisteredMem = 1;
    device.hostRegisterSupported = 1;
    device.memoryPoolsSupported = 1;
    device.unifiedFunctionPointers = 1;
    device.deviceNumaId = -1;
    device.singleToDoublePrecisionPerfRatio = 2;
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

// What a program asks for one by one: what describe_device() says, and a few that it has no member for. Clock rates are
// 0, unknown: nothing here is a measure of a GPU's time.
const std::unordered_map<int, size_t>& attributes(int number) {
    static std::mutex mutex;
    static auto* const all = new std::unordered_map<int, std::unordered_map<int, size_t>>;
    const std::lock_guard<std::mutex> lock(mutex);
    auto& values = (*all)[number];
    if (!values.empty()) return values;
    const cudaDeviceProp of = describe_device(number);
    const auto as_size = [](auto value) { return static_cast<size_t>(value); };
    values = {
        {cudaDevAttrMaxThreadsPerBlock, as_size(of.maxThreadsPerBlock)},
        {cudaDevAttrMaxBlockDimX, as_size(of.maxThreadsDim[0])},
        {cudaDevAttrMaxBlockDimY, as_size(of.maxThreadsDim[1])},
        {cudaDevAttrMaxBlockDimZ, as_size(of.maxThreadsDim[2])},
        {cudaDevAttrMaxGridDimX, as_size(of.maxGridSize[0])},
        {cudaDevAttrMaxGridDimY, as_size(of.maxGridSize[1])},
        {cudaDevAttrMaxGridDimZ, as_size(of.maxGridSize[2])},
        {cudaDevAttrMaxSharedMemoryPerBlock, as_size(of.sharedMemPerBlock)},
        {cudaDevAttrTotalConstantMemory, as_size(of.totalConstMem)},
        {cudaDevAttrWarpSize, as_size(of.warpSize)},
        {cudaDevAttrMaxPitch, as_size(of.memPitch)},
        {cudaDevAttrMaxRegistersPerBlock, as_size(of.regsPerBlock)},
        {cudaDevAttrClockRate, as_size(of.clockRate)},
        {cudaDevAttrTextureAlignment, as_size(of.textureAlignment)},
        {cudaDevAttrGpuOverlap, as_size(of.deviceOverlap)},
        {cudaDevAttrMultiProcessorCount, as_size(of.multiProcessorCount)},
        {cudaDevAttrKernelExecTimeout, as_size(of.kernelExecTimeoutEnabled)},
        {cudaDevAttrIntegrated, as_size(of.integrated)},
        {cudaDevAttrCanMapHostMemory, as_size(of.canMapHostMemory)},
        {cudaDevAttrComputeMode, as_size(of.computeMode)},
        {cudaDevAttrMaxTexture1DWidth, as_size(of.maxTexture1D)},
        {cudaDevAttrMaxTexture2DWidth, as_size(of.maxTexture2D[0])},
        {cudaDevAttrMaxTexture2DHeight, as_size(of.maxTexture2D[1])},
        {cudaDevAttrMaxTexture3DWidth, as_size(of.maxTexture3D[0])},
        {cudaDevAttrMaxTexture3DHeight, as_size(of.maxTexture3D[1])},
        {cudaDevAttrMaxTexture3DDepth, as_size(of.maxTexture3D[2])},
        {cudaDevAttrMaxTexture2DLayeredWidth, as_size(of.maxTexture2DLayered[0])},
        {cudaDevAttrMaxTexture2DLayeredHeight, as_size(of.maxTexture2DLayered[1])},
        {cudaDevAttrMaxTexture2DLayeredLayers, as_size(of.maxTexture2DLayered[2])},
        {cudaDevAttrSurfaceAlignment, as_size(of.surfaceAlignment)},
        {cudaDevAttrConcurrentKernels, as_size(of.concurrentKernels)},
        {cudaDevAttrEccEnabled, as_size(of.ECCEnabled)},
        {cudaDevAttrPciBusId, as_size(of.pciBusID)},
        {cudaDevAttrPciDeviceId, as_size(of.pciDeviceID)},
        {cudaDevAttrTccDriver, as_size(of.tccDriver)},
        {cudaDevAttrMemoryClockRate, as_size(of.memoryClockRate)},
        {cudaDevAttrGlobalMemoryBusWidth, as_size(of.memoryBusWidth)},
        {cudaDevAttrL2CacheSize, as_size(of.l2CacheSize)},
        {cudaDevAttrMaxThreadsPerMultiProcessor, as_size(of.maxThreadsPerMultiProcessor)},
        {cudaDevAttrAsyncEngineCount, as_size(of.asyncEngineCount)},
        {cudaDevAttrUnifiedAddressing, as_size(of.unifiedAddressing)},
        {cudaDevAttrMaxTexture1DLayeredWidth, as_size(of.maxTexture1DLayered[0])},
        {cudaDevAttrMaxTexture1DLayeredLayers, as_size(of.maxTexture1DLayered[1])},
        {cudaDevAttrMaxTexture2DGatherWidth, as_size(of.maxTexture2DGather[0])},
        {cudaDevAttrMaxTexture2DGatherHeight, as_size(of.maxTexture2DGather[1])},
        {cudaDevAttrMaxTexture3DWidthAlt, as_size(of.maxTexture3DAlt[0])},
        {cudaDevAttrMaxTexture3DHeightAlt, as_size(of.maxTexture3DAlt[1])},
        {cudaDevAttrMaxTexture3DDepthAlt, as_size(of.maxTexture3DAlt[2])},
        {cudaDevAttrPciDomainId, as_size(of.pciDomainID)},
        {cudaDevAttrTexturePitchAlignment, as_size(of.texturePitchAlignment)},
        {cudaDevAttrMaxTextureCubemapWidth, as_size(of.maxTextureCubemap)},
        {cudaDevAttrMaxTextureCubemapLayeredWidth, as_size(of.maxTextureCubemapLayered[0])},
        {cudaDevAttrMaxTextureCubemapLayeredLayers, as_size(of.maxTextureCubemapLayered[1])},
        {cudaDevAttrMaxSurface1DWidth, as_size(of.maxSurface1D)},
        {cudaDevAttrMaxSurface2DWidth, as_size(of.maxSurface2D[0])},
        {cudaDevAttrMaxSurface2DHeight, as_size(of.maxSurface2D[1])},
        {cudaDevAttrMaxSurface3DWidth, as_size(of.maxSurface3D[0])},
        {cudaDevAttrMaxSurface3DHeight, as_size(of.maxSurface3D[1])},
        {cudaDevAttrMaxSurface3DDepth, as_size(of.maxSurface3D[2])},
        {cudaDevAttrMaxSurface1DLayeredWidth, as_size(of.maxSurface1DLayered[0])},
        {cudaDevAttrMaxSurface1DLayeredLayers, as_size(of.maxSurface1DLayered[1])},
        {cudaDevAttrMaxSurface2DLayeredWidth, as_size(of.maxSurface2DLayered[0])},
        {cudaDevAttrMaxSurface2DLayeredHeight, as_size(of.maxSurface2DLayered[1])},
        {cudaDevAttrMaxSurface2DLayeredLayers, as_size(of.maxSurface2DLayered[2])},
        {cudaDevAttrMaxSurfaceCubemapWidth, as_size(of.maxSurfaceCubemap)},
        {cudaDevAttrMaxSurfaceCubemapLayeredWidth, as_size(of.maxSurfaceCubemapLayered[0])},
        {cudaDevAttrMaxSurfaceCubemapLayeredLayers, as_size(of.maxSurfaceCubemapLayered[1])},
        {cudaDevAttrMaxTexture1DLinearWidth, as_size(of.maxTexture1DLinear)},
        {cudaDevAttrMaxTexture2DLinearWidth, as_size(of.maxTexture2DLinear[0])},
        {cudaDevAttrMaxTexture2DLinearHeight, as_size(of.maxTexture2DLinear[1])},
        {cudaDevAttrMaxTexture2DLinearPitch, as_size(of.maxTexture2DLinear[2])},
        {cudaDevAttrMaxTexture2DMipmappedWidth, as_size(of.maxTexture2DMipmap[0])},
        {cudaDevAttrMaxTexture2DMipmappedHeight, as_size(of.maxTexture2DMipmap[1])},
        {cudaDevAttrComputeCapabilityMajor, as_size(of.major)},
        {cudaDevAttrComputeCapabilityMinor, as_size(of.minor)},
        {cudaDevAttrMaxTexture1DMipmappedWidth, as_size(of.maxTexture1DMipmap)},
        {cudaDevAttrStreamPrioritiesSupported, as_size(of.streamPrioritiesSupported)},
        {cudaDevAttrGlobalL1CacheSupported, as_size(of.globalL1CacheSupported)},
        {cudaDevAttrLocalL1CacheSupported, as_size(of.localL1CacheSupported)},
        {cudaDevAttrMaxSharedMemoryPerMultiprocessor, as_size(of.sharedMemPerMultiprocessor)},
        {cudaDevAttrMaxRegistersPerMultiprocessor, as_size(of.regsPerMultiprocessor)},
        {cudaDevAttrManagedMemory, as_size(of.managedMemory)},
        {cudaDevAttrIsMultiGpuBoard, as_size(of.isMultiGpuBoard)},
        {cudaDevAttrMultiGpuBoardGroupID, as_size(of.multiGpuBoardGroupID)},
        {cudaDevAttrHostNativeAtomicSupported, as_size(of.hostNativeAtomicSupported)},
        {cudaDevAttrSingleToDoublePrecisionPerfRatio, as_size(of.singleToDoublePrecisionPerfRatio)},
        {cudaDevAttrPageableMemoryAccess, as_size(of.pageableMemoryAccess)},
        {cudaDevAttrConcurrentManagedAccess, as_size(of.concurrentManagedAccess)},
        {cudaDevAttrComputePreemptionSupported, as_size(of.computePreemptionSupported)},
        {cudaDevAttrCanUseHostPointerForRegisteredMem,
         as_size(of.canUseHostPointerForRegisteredMem)},
        {cudaDevAttrCooperativeLaunch, as_size(of.cooperativeLaunch)},
        {cudaDevAttrCooperativeMultiDeviceLaunch, as_size(of.cooperativeMultiDeviceLaunch)},
        {cudaDevAttrMaxSharedMemoryPerBlockOptin, as_size(of.sharedMemPerBlockOptin)},
        {cudaDevAttrCanFlushRemoteWrites, 0},
        {cudaDevAttrHostRegisterSupported, as_size(of.hostRegisterSupported)},
        {cudaDevAttrPageableMemoryAccessUsesHostPageTables,
         as_size(of.pageableMemoryAccessUsesHostPageTables)},
        {cudaDevAttrDirectManagedMemAccessFromHost, as_size(of.directManagedMemAccessFromHost)},
        {cudaDevAttrMaxBlocksPerMultiprocessor, as_size(of.maxBlocksPerMultiProcessor)},
        {cudaDevAttrMaxPersistingL2CacheSize, as_size(of.persistingL2CacheMaxSize)},
        {cudaDevAttrMaxAccessPolicyWindowSize, as_size(of.accessPolicyMaxWindowSize)},
        {cudaDevAttrReservedSharedMemoryPerBlock, as_size(of.reservedSharedMemPerBlock)},
        {cudaDevAttrSparseCudaArraySupported, as_size(of.sparseCudaArraySupported)},
        {cudaDevAttrHostRegisterReadOnlySupported, as_size(of.hostRegisterReadOnlySupported)},
        {cudaDevAttrTimelineSemaphoreInteropSupported,
         as_size(of.timelineSemaphoreInteropSupported)},
        {cudaDevAttrMemoryPoolsSupported, as_size(of.memoryPoolsSupported)},
        {cudaDevAttrGPUDirectRDMASupported, as_size(of.gpuDirectRDMASupported)},
        {cudaDevAttrGPUDirectRDMAFlushWritesOptions, as_size(of.gpuDirectRDMAFlushWritesOptions)},
        {cudaDevAttrGPUDirectRDMAWritesOrdering, as_size(of.gpuDirectRDMAWritesOrdering)},
        {cudaDevAttrMemoryPoolSupportedHandleTypes, as_size(of.memoryPoolSupportedHandleTypes)},
        {cudaDevAttrClusterLaunch, as_size(of.clusterLaunch)},
        {cudaDevAttrDeferredMappingCudaArraySupported,
         as_size(of.deferredMappingCudaArraySupported)},
        {cudaDevAttrIpcEventSupport, as_size(of.ipcEventSupported)},
        {cudaDevAttrMemSyncDomainCount, 1},
        {cudaDevAttrNumaConfig, as_size(of.deviceNumaConfig)},
        {cudaDevAttrNumaId, as_size(of.deviceNumaId)},
        {cudaDevAttrMpsEnabled, as_size(of.mpsEnabled)},
        {cudaDevAttrHostNumaId, as_size(of.hostNumaId)},
        {cudaDevAttrD3D12CigSupported, 0},
        {cudaDevAttrVulkanCigSupported, 0},
        {cudaDevAttrGpuPciDeviceId, as_size(of.gpuPciDeviceID)},
        {cudaDevAttrGpuPciSubsystemId, as_size(of.gpuPciSubsystemID)},
        {cudaDevAttrHostNumaMemoryPoolsSupported, 0},
        {cudaDevAttrHostNumaMultinodeIpcSupported, as_size(of.hostNumaMultinodeIpcSupported)},
        {cudaDevAttrHostMemoryPoolsSupported, 0},
        {cudaDevAttrOnlyPartialHostNativeAtomicSupported, 0},
    };
    return values;
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

unsigned multiprocessor_count() {
    return kMultiprocessors;
}

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
    if (device_of(launch.stream) != current_device()) {
        return "its stream is of device " + std::to_string(device_of(launch.stream)) +
               ", and the calling thread has chosen device " + std::to_string(current_device()) +
               ": cudaSetDevice comes before the launch";
    }
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

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
    if (properties == nullptr) return remembered(cudaErrorInvalidValue);
    if (!is_device(device)) return remembered(cudaErrorInvalidDevice);
    *properties = describe_device(device);
    return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
    if (value == nullptr) return remembered(cudaErrorInvalidValue);
    if (!is_device(device)) return remembered(cudaErrorInvalidDevice);
    const auto& values = attributes(device);
    const auto found = values.find(attribute);
    if (found == values.end()) return remembered(cudaErrorInvalidValue);
    *value = static_cast<int>(found->second);
    return cudaSuccess;
}

// Limits of the GPU's own heaps and caches: kept for those who ask, and nothing to be limited here.
cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value) {
    if (!is_limit(limit)) return remembered(cudaErrorUnsupportedLimit);
    const std::lock_guard<std::mutex> lock(kernels_mutex);
    limits[limit] = value;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetLimit(size_t* value, cudaLimit limit) {
    if (value == nullptr) return remembered(cudaErrorInvalidValue);
    if (!is_limit(limit)) return remembered(cudaErrorUnsupportedLimit);
    const std::lock_guard<std::mutex> lock(kernels_mutex);
    *value = limits[limit];
    return cudaSuccess;
}

// How the GPU divides its fast memory, which a program may only wish for.
cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache config) {
    if (config > cudaFuncCachePreferEqual) return remembered(cudaErrorInvalidValue);
    cache_config = config;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* config) {
    if (config == nullptr) return remembered(cudaErrorInvalidValue);
    *config = cache_config;
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
        // As __cluster_dims__ says it: the launch is held to that.
        case cudaFuncAttributeClusterDimMustBeSet:
        case cudaFuncAttributeRequiredClusterWidth:
        case cudaFuncAttributeRequiredClusterHeight:
        case cudaFuncAttributeRequiredClusterDepth:
        case cudaFuncAttributeClusterSchedulingPolicyPreference:
        case cudaFuncAttributeMax:
            break;
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

// As the linker knows it.
cudaError_t cudaFuncGetName(const char** name, const void* kernel) {
    if (name == nullptr) return remembered(cudaErrorInvalidValue);
    Dl_info found;
    if (kernel == nullptr || dladdr(kernel, &found) == 0 || found.dli_sname == nullptr) {
        return remembered(cudaErrorInvalidDeviceFunction);
    }
    *name = found.dli_sname;
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

// As much as each block may have where that many are resident.
cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, const void* kernel, int blocks,
                                                      int block_threads) {
    if (bytes == nullptr || blocks < 1 || block_threads < 1) {
        return remembered(cudaErrorInvalidValue);
    }
    if (kernel == nullptr) return remembered(cudaErrorInvalidDeviceFunction);
    int most = 0;
    if (const cudaError_t error =
            cudaOccupancyMaxActiveBlocksPerMultiprocessor(&most, kernel, block_threads, 0)) {
        return error;
    }
    if (blocks > most) return remembered(cudaErrorInvalidValue);
    const KernelState state = kernel_state(kernel);
    const size_t taken = state.static_shared + kSharedKeptPerBlock;
    const size_t share = kSharedPerMultiprocessor / static_cast<size_t>(blocks);
    *bytes = std::min(share - std::min(share, taken), state.dynamic_shared_limit);
    return cudaSuccess;
}

cudaError_t cudaOccupancyMaxPotentialClusterSize(int* blocks, const void* kernel,
                                                 const cudaLaunchConfig_t* config) {
    if (blocks == nullptr || config == nullptr) return remembered(cudaErrorInvalidValue);
    const KernelState state = kernel_state(kernel);
    *blocks = state.large_clusters ? kLargestClusterSize : kPortableClusterSize;
    return cudaSuccess;
}
