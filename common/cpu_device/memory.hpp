// SPDX-License-Identifier: MIT
//
// Device memory: one reserved range of addresses, of which allocations take ever new pieces, so
// that an address names one allocation for the life of the process, freed or not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace cpu_device {

constexpr size_t kKilobyte = 1024;

enum class MemoryKind : uint8_t { device, pinned_host, managed };

struct Allocation {
    uintptr_t low;
    size_t bytes;
    MemoryKind kind;
    bool freed;

    uintptr_t high() const { return low + bytes; }
};

// Live allocations and the latest freed ones, by address. Never changes once made.
using AllocationTable = std::vector<Allocation>;

// The table as it is now. Launches hold one, so that workers search it without a lock.
std::shared_ptr<const AllocationTable> allocation_table();

// The allocation at `address` or the nearest one below it; null if there is none.
const Allocation* nearest_allocation(const AllocationTable& table, uintptr_t address);

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

// How much memory the device has: the host's.
size_t device_memory_bytes();

// The host's memory that cudaHostRegister made the device's as well and that holds the address; empty if none does.
AddressRange registered_range(uintptr_t address);

// Frees every allocation, as cudaDeviceReset() does on a GPU.
void free_everything();

// Whether the process may map the addresses that device memory needs; the first time that it may not,
// standard error says so.
bool has_address_space();

}  // namespace cpu_device
