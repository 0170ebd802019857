// SPDX-License-Identifier: MIT
//
// Device memory: one reserved range of addresses, of which allocations take ever new pieces, so
// that an address names one allocation for the life of the process, freed or not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "cpu_device/types.h"

namespace cpu_device {

constexpr size_t kKilobyte = 1024;

enum class MemoryKind : uint8_t { device, pinned_host, managed };

struct Allocation {
    uintptr_t low;
    size_t bytes;
    MemoryKind kind;
    bool freed;
    int device;  // whose it is; of pinned and managed memory, which any may use, where it was made

    uintptr_t high() const { return low + bytes; }
};

// Live allocations and the latest freed ones, by address. Never changes once made.
using AllocationTable = std::vector<Allocation>;

// The table as it is now. Launches hold one, so that workers search it without a lock.
std::shared_ptr<const AllocationTable> allocation_table();

// The allocation at `address` or the nearest one below it; null if there is none.
const Allocation* nearest_allocation(const AllocationTable& table, uintptr_t address);

// Whether kernels of the device may use the memory.
bool may_use(int device, const Allocation& allocation);

inline uintptr_t as_address(const void* pointer) {
    return reinterpret_cast<uintptr_t>(pointer);
}

struct AddressRange {
    uintptr_t low = 0;
    uintptr_t high = 0;

    bool holds(uintptr_t address) const { return address >= low && address < high; }
};

// Where device memory may lie. Empty before the first allocation.
AddressRange device_memory_range();

// How much memory a device has: its share of the host's.
size_t device_memory_bytes();
// Of allocations that live, all of them together.
size_t allocated_bytes();

// Whether the host may copy or fill so many bytes of device memory: not much while EndOfGrids exist (launch.hpp).
cudaError_t work_on_host(size_t bytes);

// Memory of `device`, as cudaMalloc gives it; noted as the calling code's `call`.
cudaError_t allocate_on(int device, const char* call, void** pointer, size_t bytes);

// Addresses of that device's memory, and memory there: again, each time that it was freed.
cudaError_t reserve_addresses(int device, size_t bytes, void** pointer);
cudaError_t allocate_reserved(void* pointer, size_t bytes, int device);

// A fill with elements of 1, 2 or 4 bytes, as a graph's node has it; the width is in elements.
cudaError_t fill_elements(const cudaMemsetParams& of);

// True if an address is in memory of a device, or in memory of the host that devices may use.
bool is_device_side(const void* pointer);

// Whether a library's call may touch so many bytes there: of device memory, or of the host's memory that is the device's
// as well. `verb`: "cublasSgemm reads A," and the like.
cudaError_t check_device_range(const void* pointer, size_t bytes, const char* verb);

// The host's memory that cudaHostRegister made the device's as well and that holds the address; empty if none does.
AddressRange registered_range(uintptr_t address);

// Frees every allocation of the device, as cudaDeviceReset() does on a GPU.
void free_everything_on(int device);

// Whether the process may map the addresses that device memory needs; the first time that it may not,
// standard error says so.
bool has_address_space();

}  // namespace cpu_device
