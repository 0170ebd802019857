// SPDX-License-Identifier: MIT
// cub::CachingDeviceAllocator: memory in bins, whose sizes are powers of a factor. What is freed is kept for the next one
// who asks for that size.
#pragma once
#include <map>
#include <mutex>

#include "cub/util_device.cuh"

namespace cub {

struct CachingDeviceAllocator {
    static constexpr unsigned INVALID_BIN = ~0u;
    static constexpr size_t INVALID_SIZE = ~size_t{0};
    static constexpr int INVALID_DEVICE_ORDINAL = -1;

    explicit CachingDeviceAllocator(unsigned growth, unsigned least_bin = 1,
                                    unsigned greatest_bin = INVALID_BIN,
                                    size_t most_cached = INVALID_SIZE, bool skips_cleanup = false)
        : growth_(growth),
          least_(power(least_bin)),
          greatest_(greatest_bin == INVALID_BIN ? INVALID_SIZE : power(greatest_bin)),
          most_cached_(most_cached),
          skips_cleanup_(skips_cleanup) {}
    explicit CachingDeviceAllocator(bool skips_cleanup = false, bool = false)
        : CachingDeviceAllocator(8, 3, 7, 6 * (size_t{1} << 20) - 1, skips_cleanup) {}
    CachingDeviceAllocator(const CachingDeviceAllocator&) = delete;
    CachingDeviceAllocator& operator=(const CachingDeviceAllocator&) = delete;
    ~CachingDeviceAllocator() {
        if (!skips_cleanup_) FreeAllCached();
    }

    cudaError_t SetMaxCachedBytes(size_t bytes) {
        most_cached_ = bytes;
        return cudaSuccess;
    }
    cudaError_t DeviceAllocate(int device, void** memory, size_t bytes,
                               cudaStream_t stream = nullptr) {
        const int before = CurrentDevice();
        cudaSetDevice(device < 0 ? before : device);
        const cudaError_t error = DeviceAllocate(memory, bytes, stream);
        cudaSetDevice(before);
        return error;
    }
    cudaError_t DeviceAllocate(void** memory, size_t bytes, cudaStream_t = nullptr) {
        const size_t bin = bin_of(bytes);
        const Place place{CurrentDevice(), bin};
        {
            const std::lock_guard<std::mutex> lock(mutex_);
            if (const auto kept = free_.find(place); bin <= greatest_ && kept != free_.end()) {
                *memory = kept->second;
                free_.erase(kept);
                cached_ -= bin;
                used_.emplace(*memory, place);
                return cudaSuccess;
            }
        }
        cudaError_t error = cudaMalloc(memory, bin);
        if (error == cudaErrorMemoryAllocation) {
            cudaGetLastError();
            FreeAllCached();
            error = cudaMalloc(memory, bin);
        }
        if (error != cudaSuccess) return error;
        const std::lock_guard<std::mutex> lock(mutex_);
        used_.emplace(*memory, place);
        return cudaSuccess;
    }
    cudaError_t DeviceFree(int, void* memory) { return DeviceFree(memory); }
    cudaError_t DeviceFree(void* memory) {
        {
            const std::lock_guard<std::mutex> lock(mutex_);
            const auto used = used_.find(memory);
            if (used != used_.end()) {
                const Place place = used->second;
                used_.erase(used);
                if (place.bytes <= greatest_ && cached_ + place.bytes <= most_cached_) {
                    free_.emplace(place, memory);
                    cached_ += place.bytes;
                    return cudaSuccess;
                }
            }
        }
        return cudaFree(memory);
    }
    cudaError_t FreeAllCached() {
        const std::lock_guard<std::mutex> lock(mutex_);
        cudaError_t error = cudaSuccess;
        for (const auto& [place, memory] : free_) {
            if (const cudaError_t failed = cudaFree(memory)) error = failed;
        }
        free_.clear();
        cached_ = 0;
        return error;
    }

private:
    struct Place {
        int device;
        size_t bytes;
        bool operator<(const Place& other) const {
            return device != other.device ? device < other.device : bytes < other.bytes;
        }
    };

    size_t power(unsigned exponent) const {
        size_t bytes = 1;
        for (unsigned i = 0; i < exponent; ++i) bytes *= growth_;
        return bytes;
    }
    size_t bin_of(size_t bytes) const {
        size_t bin = least_;
        while (bin < bytes && bin <= greatest_) bin *= growth_;
        return bin > greatest_ ? bytes : bin;
    }

    size_t growth_, least_, greatest_, most_cached_;
    bool skips_cleanup_;
    size_t cached_ = 0;
    std::mutex mutex_;
    std::multimap<Place, void*> free_;
    std::map<void*, Place> used_;
};

}  // namespace cub
