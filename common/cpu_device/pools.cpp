// SPDX-License-Identifier: MIT
//
// A pool counts what a pool on a GPU counts. It keeps no memory: each allocation is one of its own, so that a pointer
// to what was freed is found. What a pool "reserves" is what it would keep: the bytes in use, and of those freed as
// many as its release threshold lets it.
#include "pools.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "api.hpp"
#include "capture.hpp"
#include "cpu_device/runtime_api.h"
#include "devices.hpp"
#include "graph_memory.hpp"
#include "launch.hpp"
#include "memory.hpp"
#include "strict.hpp"

struct CUmemPoolHandle_st {
    int device = 0;
    size_t most_bytes = 0;  // 0: as many as the device has
    int reuses[3] = {1, 1, 1};
    uint64_t release_threshold = 0;
    uint64_t used = 0, most_used = 0;
    uint64_t reserved = 0, most_reserved = 0;
    std::map<int, cudaMemAccessFlags> access;

    void keep_at_most(uint64_t bytes) { reserved = std::max(used, std::min(reserved, bytes)); }
};

namespace cpu_device {
namespace {

using Pool = CUmemPoolHandle_st;

struct Taken {
    std::shared_ptr<Pool> from;  // lives on while memory of it does, destroyed or not
    size_t bytes;
};

struct Pools {
    std::mutex mutex;
    std::map<cudaMemPool_t, std::shared_ptr<Pool>> all;
    std::map<int, cudaMemPool_t> defaults, chosen;  // by device
    std::map<uintptr_t, Taken> taken;               // by the beginning of the allocation

    std::shared_ptr<Pool> find(cudaMemPool_t pool) const {
        const auto found = all.find(pool);
        return found == all.end() ? nullptr : found->second;
    }

    cudaMemPool_t make(int device, size_t most_bytes) {
        auto pool = std::make_shared<Pool>();
        pool->device = device;
        pool->most_bytes = most_bytes;
        const cudaMemPool_t handle = pool.get();
        all.emplace(handle, std::move(pool));
        return handle;
    }

    cudaMemPool_t default_of(int device) {
        cudaMemPool_t& pool = defaults[device];
        if (pool == nullptr) pool = make(device, 0);
        return pool;
    }

    cudaMemPool_t chosen_for(int device) {
        const auto found = chosen.find(device);
        return found == chosen.end() ? default_of(device) : found->second;
    }
};

Pools& pools() {
    static Pools* const instance = new Pools;  // alive until the very end of the process
    return *instance;
}

// Calls `use` with the pool, which the program has and has not destroyed.
template <class Use>
cudaError_t with_pool(cudaMemPool_t handle, Use use) {
    Pools& all = pools();
    const std::lock_guard<std::mutex> lock(all.mutex);
    const std::shared_ptr<Pool> pool = all.find(handle);
    return remembered(pool == nullptr ? cudaErrorInvalidValue : use(*pool));
}

cudaError_t take(void** pointer, size_t bytes, cudaMemPool_t handle, const char* call) {
    std::shared_ptr<Pool> pool;
    {
        Pools& all = pools();
        const std::lock_guard<std::mutex> lock(all.mutex);
        pool = all.find(handle);
        if (pool == nullptr) return remembered(cudaErrorInvalidValue);
        if (pool->most_bytes != 0 && pool->used + bytes > pool->most_bytes) {
            return remembered(cudaErrorMemoryAllocation);
        }
    }
    const cudaError_t error = allocate_on(pool->device, call, pointer, bytes);
    if (error != cudaSuccess || bytes == 0) return error;
    Pools& all = pools();
    const std::lock_guard<std::mutex> lock(all.mutex);
    pool->used += bytes;
    pool->reserved = std::max(pool->reserved, pool->used);
    pool->most_used = std::max(pool->most_used, pool->used);
    pool->most_reserved = std::max(pool->most_reserved, pool->reserved);
    all.taken[as_address(*pointer)] = {pool, bytes};
    return cudaSuccess;
}

// Memory of the pool, or of the graph that the stream captures.
cudaError_t take_in(cudaStream_t stream, void** pointer, size_t bytes, cudaMemPool_t pool,
                    const char* call) {
    if (!is_stream(stream)) return remembered(cudaErrorInvalidResourceHandle);
    const Admission admission = admit(stream);
    if (admission.refusal != cudaSuccess) return admission.refusal;
    if (admission.capture == 0) return take(pointer, bytes, pool, call);
    if (pointer == nullptr) return remembered(cudaErrorInvalidValue);
    if (const cudaError_t error = reserve_for_graph(current_device(), bytes, pointer)) {
        return remembered(error);
    }
    return record(admission, cudaGraphNodeTypeMemAlloc,
                  [memory = *pointer] { return allocate_for_graph(memory); });
}

// Pools of the device's memory alone.
cudaError_t require_device(const cudaMemLocation* location, cudaMemAllocationType type) {
    if (location == nullptr || type != cudaMemAllocationTypePinned) return cudaErrorInvalidValue;
    if (location->type == cudaMemLocationTypeInvalid) return cudaErrorInvalidValue;
    if (location->type != cudaMemLocationTypeDevice) {
        return refused("memory pool of the host's memory");
    }
    return is_device(location->id) ? cudaSuccess : cudaErrorInvalidDevice;
}

template <class Value>
Value read_as(const void* from) {
    Value value;
    std::memcpy(&value, from, sizeof value);
    return value;
}

template <class Value>
cudaError_t write_as(void* to, Value value) {
    std::memcpy(to, &value, sizeof value);
    return cudaSuccess;
}

}  // namespace

std::optional<bool> pool_lets_use(uintptr_t low, int device) {
    Pools& all = pools();
    const std::lock_guard<std::mutex> lock(all.mutex);
    const auto found = all.taken.find(low);
    if (found == all.taken.end()) return std::nullopt;
    const Pool& pool = *found->second.from;
    const auto access = pool.access.find(device);
    return access != pool.access.end() && access->second != cudaMemAccessFlagsProtNone;
}

void note_freed_to_pool(uintptr_t low) {
    Pools& all = pools();
    const std::lock_guard<std::mutex> lock(all.mutex);
    const auto found = all.taken.find(low);
    if (found == all.taken.end()) return;
    Pool& pool = *found->second.from;
    pool.used -= found->second.bytes;
    pool.keep_at_most(pool.release_threshold);
    all.taken.erase(found);
}

}  // namespace cpu_device

using namespace cpu_device;

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
    if (pool == nullptr) return remembered(cudaErrorInvalidValue);
    if (!is_device(device)) return remembered(cudaErrorInvalidDevice);
    Pools& all = pools();
    const std::lock_guard<std::mutex> lock(all.mutex);
    *pool = all.default_of(device);
    return cudaSuccess;
}

cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int device) {
    if (pool == nullptr) return remembered(cudaErrorInvalidValue);
    if (!is_device(device)) return remembered(cudaErrorInvalidDevice);
    Pools& all = pools();
    const std::lock_guard<std::mutex> lock(all.mutex);
    *pool = all.chosen_for(device);
    return cudaSuccess;
}

cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t handle) {
    if (!is_device(device)) return remembered(cudaErrorInvalidDevice);
    return with_pool(handle, [&](const Pool& pool) {
        if (pool.device != device) return cudaErrorInvalidValue;
        pools().chosen[device] = handle;
        return cudaSuccess;
    });
}

cudaError_t cudaMemGetDefaultMemPool(cudaMemPool_t* pool, cudaMemLocation* location,
                                     cudaMemAllocationType type) {
    if (const cudaError_t error = require_device(location, type)) return remembered(error);
    return cudaDeviceGetDefaultMemPool(pool, location->id);
}

cudaError_t cudaMemGetMemPool(cudaMemPool_t* pool, cudaMemLocation* location,
                              cudaMemAllocationType type) {
    if (const cudaError_t error = require_device(location, type)) return remembered(error);
    return cudaDeviceGetMemPool(pool, location->id);
}

cudaError_t cudaMemSetMemPool(cudaMemLocation* location, cudaMemAllocationType type,
                              cudaMemPool_t pool) {
    if (const cudaError_t error = require_device(location, type)) return remembered(error);
    return cudaDeviceSetMemPool(location->id, pool);
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* properties) {
    if (pool == nullptr || properties == nullptr) return remembered(cudaErrorInvalidValue);
    if (const cudaError_t error = require_device(&properties->location, properties->allocType)) {
        return remembered(error);
    }
    if (properties->handleTypes != cudaMemHandleTypeNone) {
        return refused("memory pool that other processes share");
    }
    Pools& all = pools();
    const std::lock_guard<std::mutex> lock(all.mutex);
    *pool = all.make(properties->location.id, properties->maxSize);
    return cudaSuccess;
}

// What was taken from it stays until it is freed.
cudaError_t cudaMemPoolDestroy(cudaMemPool_t handle) {
    return with_pool(handle, [&](const Pool& pool) {
        Pools& all = pools();
        if (all.default_of(pool.device) == handle) return cudaErrorInvalidValue;
        const auto chosen = all.chosen.find(pool.device);
        if (chosen != all.chosen.end() && chosen->second == handle) all.chosen.erase(chosen);
        all.all.erase(handle);
        return cudaSuccess;
    });
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t handle, size_t bytes_to_keep) {
    return with_pool(handle, [&](Pool& pool) {
        pool.keep_at_most(bytes_to_keep);
        return cudaSuccess;
    });
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t handle, cudaMemPoolAttr attribute, void* value) {
    if (value == nullptr) return remembered(cudaErrorInvalidValue);
    return with_pool(handle, [&](Pool& pool) {
        switch (attribute) {
            case cudaMemPoolReuseFollowEventDependencies:
            case cudaMemPoolReuseAllowOpportunistic:
            case cudaMemPoolReuseAllowInternalDependencies:
                pool.reuses[attribute - cudaMemPoolReuseFollowEventDependencies] =
                    read_as<int>(value);
                return cudaSuccess;
            case cudaMemPoolAttrReleaseThreshold:
                pool.release_threshold = read_as<uint64_t>(value);
                return cudaSuccess;
            // These can only be set back, to 0.
            case cudaMemPoolAttrReservedMemHigh:
                if (read_as<uint64_t>(value) != 0) return cudaErrorInvalidValue;
                pool.most_reserved = pool.reserved;
                return cudaSuccess;
            case cudaMemPoolAttrUsedMemHigh:
                if (read_as<uint64_t>(value) != 0) return cudaErrorInvalidValue;
                pool.most_used = pool.used;
                return cudaSuccess;
            case cudaMemPoolAttrReservedMemCurrent:
            case cudaMemPoolAttrUsedMemCurrent:
                break;
        }
        return cudaErrorInvalidValue;
    });
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t handle, cudaMemPoolAttr attribute, void* value) {
    if (value == nullptr) return remembered(cudaErrorInvalidValue);
    return with_pool(handle, [&](const Pool& pool) {
        switch (attribute) {
            case cudaMemPoolReuseFollowEventDependencies:
            case cudaMemPoolReuseAllowOpportunistic:
            case cudaMemPoolReuseAllowInternalDependencies:
                return write_as(value,
                                pool.reuses[attribute - cudaMemPoolReuseFollowEventDependencies]);
            case cudaMemPoolAttrReleaseThreshold:
                return write_as(value, pool.release_threshold);
            case cudaMemPoolAttrReservedMemCurrent:
                return write_as(value, pool.reserved);
            case cudaMemPoolAttrReservedMemHigh:
                return write_as(value, pool.most_reserved);
            case cudaMemPoolAttrUsedMemCurrent:
                return write_as(value, pool.used);
            case cudaMemPoolAttrUsedMemHigh:
                return write_as(value, pool.most_used);
        }
        return cudaErrorInvalidValue;
    });
}

cudaError_t cudaMemPoolSetAccess(cudaMemPool_t handle, const cudaMemAccessDesc* accesses,
                                 size_t count) {
    if (accesses == nullptr) return remembered(cudaErrorInvalidValue);
    return with_pool(handle, [&](Pool& pool) {
        for (const auto* access = accesses; access != accesses + count; ++access) {
            if (access->location.type != cudaMemLocationTypeDevice) return cudaErrorInvalidValue;
            if (!is_device(access->location.id)) return cudaErrorInvalidDevice;
            // Its own device never loses it.
            if (access->location.id == pool.device &&
                access->flags != cudaMemAccessFlagsProtReadWrite) {
                return cudaErrorInvalidValue;
            }
            pool.access[access->location.id] = access->flags;
        }
        return cudaSuccess;
    });
}

cudaError_t cudaMemPoolGetAccess(cudaMemAccessFlags* flags, cudaMemPool_t handle,
                                 cudaMemLocation* location) {
    if (flags == nullptr || location == nullptr || location->type != cudaMemLocationTypeDevice) {
        return remembered(cudaErrorInvalidValue);
    }
    return with_pool(handle, [&](const Pool& pool) {
        const auto found = pool.access.find(location->id);
        const bool is_its_own = location->id == pool.device;
        *flags = is_its_own                   ? cudaMemAccessFlagsProtReadWrite
                 : found == pool.access.end() ? cudaMemAccessFlagsProtNone
                                              : found->second;
        return cudaSuccess;
    });
}

cudaError_t cudaMallocFromPoolAsync(void** pointer, size_t bytes, cudaMemPool_t pool,
                                    cudaStream_t stream) {
    return take_in(stream, pointer, bytes, pool, "cudaMallocFromPoolAsync");
}

cudaError_t cudaMallocAsync(void** pointer, size_t bytes, cudaStream_t stream) {
    cudaMemPool_t pool = nullptr;
    if (const cudaError_t error = cudaDeviceGetMemPool(&pool, current_device())) return error;
    return take_in(stream, pointer, bytes, pool, "cudaMallocAsync");
}
