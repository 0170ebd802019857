// SPDX-License-Identifier: MIT
#include "memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cinttypes>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "allocation_history.hpp"
#include "api.hpp"
#include "capture.hpp"
#include "common/io/memory.hpp"
#include "cpu_device/runtime_api.h"
#include "device_variables.hpp"
#include "devices.hpp"
#include "graph_memory.hpp"
#include "launch.hpp"
#include "pools.hpp"
#include "strict.hpp"
#include "worker.hpp"

namespace cpu_device {
namespace {

// New memory is filled with 0xFF, a NaN in every floating type, so that a kernel that reads what
// nobody wrote shows. Beyond this size the rest stays zero: filling it would take longer than the
// kernel.
constexpr size_t kPoisonedBytes = size_t{16} << 20;

constexpr size_t kAlignment = 256;  // what cudaMalloc promises
constexpr size_t kWorthAsking = size_t{64}
                                << 20;    // how much memory is left, once so much more is promised
constexpr size_t kFreedRemembered = 512;  // enough to name a recent mistake

struct Arena {
    std::mutex mutex;
    AddressRange range;
    uintptr_t next = 0;
    size_t live_bytes = 0;
    std::map<int, size_t> live_on;  // of them those of each device
    // The most that was seen free, and what was promised when what is free was last asked for.
    size_t room = 0, asked_at = 0;
    std::shared_ptr<const AllocationTable> table = std::make_shared<AllocationTable>();
};

Arena& arena() {
    static Arena* const instance = new Arena;  // alive until the very end of the process
    return *instance;
}

size_t page_size() {
    static const size_t size = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    return size;
}

size_t rounded_up(size_t value, size_t unit) {
    return (value + unit - 1) / unit * unit;
}

// What allocations of so many bytes may come to use, with what whoever observes keeps beside them.
size_t promised(size_t bytes) {
    const Observer* const watcher = observer();
    return bytes + (watcher == nullptr ? 0 : watcher->shadow_bytes(bytes));
}

// Linux would promise more than there is, and end the process when the promise comes due: all that is
// promised has to fit into the most that was ever seen free, and what comes into what is free now.
bool fits(Arena& arena, int device, size_t bytes) {
    if (EndOfGrids::exist()) return true;
    if (bytes > device_memory_bytes() || arena.live_on[device] > device_memory_bytes() - bytes)
        return false;
    const size_t before = promised(arena.live_bytes), behind = promised(arena.live_bytes + bytes);
    if (behind > arena.room) arena.room = std::max(arena.room, io::available_memory());
    if (behind > arena.room) return false;
    arena.asked_at = std::min(arena.asked_at, before);
    if (behind - arena.asked_at <= kWorthAsking) return true;
    arena.asked_at = behind;
    return behind - before <= io::available_memory();
}

constexpr int kReserve = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

constexpr size_t kMostAddresses = size_t{1} << 44;
constexpr size_t kFewestAddresses = size_t{1} << 36;
// Below the first allocation as many remain free as this part of all: an index far before an array
// stays among them.
constexpr size_t kPartBelow = 8;

// Between two allocations lies much that nobody uses, so that an index outside of one seldom gets
// to another: a part of what is left, which therefore never runs out.
constexpr size_t kPartBetween = size_t{1} << 22;

void say_what_is_missing() {
    const double left = static_cast<double>(io::address_space_left());
    tell("CPU device: needs " + io::gigabytes(static_cast<double>(kFewestAddresses)) +
         " of address space, and " + io::gigabytes(left) +
         " are left:\n`ulimit -v unlimited` lifts the limit. (Addresses, not memory: none is "
         "used\ntwice, so that a pointer to what was freed is found.)");
}

// Addresses are not memory: take as many as the system gives, since they are never used twice. Tried
// once; what a process may map does not grow.
void reserve(Arena& to) {
    static bool tried = false;
    if (std::exchange(tried, true)) return;
    for (size_t bytes = kMostAddresses; bytes >= kFewestAddresses; bytes /= 2) {
        void* low = mmap(nullptr, bytes, PROT_NONE, kReserve, -1, 0);
        if (low == MAP_FAILED) continue;
        to.range = {as_address(low), as_address(low) + bytes};
        to.next = to.range.low + bytes / kPartBelow;
        return;
    }
    say_what_is_missing();
}

// What one allocation occupies: whole pages, its end at a page's end, where a guard page follows.
AddressRange pages_of(const Allocation& allocation) {
    return {allocation.low / page_size() * page_size(), rounded_up(allocation.high(), page_size())};
}

cudaError_t allocate(void** pointer, size_t bytes, MemoryKind kind, int device) {
    if (pointer == nullptr) return cudaErrorInvalidValue;
    *pointer = nullptr;
    if (bytes == 0) return cudaSuccess;
    Arena& from = arena();
    const std::lock_guard<std::mutex> lock(from.mutex);
    if (from.range.low == 0) reserve(from);
    if (from.range.low == 0) return cudaErrorInitializationError;

    if (!fits(from, device, bytes)) return cudaErrorMemoryAllocation;
    const size_t rounded = rounded_up(bytes, kAlignment);
    const size_t paged = rounded_up(rounded, page_size());
    // An index that has wrapped leads to another allocation if that is as far away.
    const size_t least =
        EndOfGrids::exist() ? 2 * bytes : (from.range.high - from.next) / kPartBetween;
    const size_t gap = rounded_up(least, page_size());
    const uintptr_t page = from.next + std::max(gap, page_size());
    if (page > from.range.high - page_size() || paged > from.range.high - page - page_size()) {
        return cudaErrorMemoryAllocation;
    }
    if (mprotect(reinterpret_cast<void*>(page), paged, PROT_READ | PROT_WRITE) != 0) {
        return cudaErrorMemoryAllocation;
    }
    from.next = page + paged;
    from.live_bytes += bytes;
    from.live_on[device] += bytes;
    const Allocation made{page + paged - rounded, bytes, kind, false, device};
    *pointer = reinterpret_cast<void*>(made.low);
    std::memset(*pointer, 0xFF, std::min(rounded, kPoisonedBytes));

    auto table = std::make_shared<AllocationTable>(*from.table);
    table->push_back(made);  // the newest has the highest address
    from.table = std::move(table);
    if (Observer* const watcher = observer()) {
        watcher->memory_allocated(made.low, bytes, kind != MemoryKind::device);
    }
    return cudaSuccess;
}

// What cudaFree or cudaFreeHost was given in place of an allocation that lives.
cudaError_t refuse_to_release(const AllocationTable& table, uintptr_t address, bool host) {
    const char* const call = host ? "cudaFreeHost" : "cudaFree";
    const Allocation* allocation = nearest_allocation(table, address);
    if (!device_memory_range().holds(address) || allocation == nullptr ||
        address >= allocation->high()) {
        return explained(
            cudaErrorInvalidValue, "%s of 0x%" PRIxPTR ", which nothing allocated: %s", call,
            address, host ? "cudaMallocHost gives such memory" : "cudaMalloc gives such memory");
    }
    if (allocation->low != address) {
        return explained(cudaErrorInvalidValue,
                         "%s of a pointer into an allocation of %zu bytes, %zu bytes behind its "
                         "beginning",
                         call, allocation->bytes, static_cast<size_t>(address - allocation->low));
    }
    if (allocation->freed) {
        return explained(cudaErrorInvalidValue,
                         "%s of an allocation of %zu bytes that is freed already%s", call,
                         allocation->bytes, freed_text(allocation->low).c_str());
    }
    return explained(cudaErrorInvalidValue, "%s of memory that %s must free", call,
                     host ? "cudaFree" : "cudaFreeHost");
}

// Frees an allocation that lives: nobody reaches its memory any more. Where that fails it stays as it was.
bool free_allocation(Arena& to, Allocation& allocation) {
    // Mapped anew rather than protected, so that it melts into the reserved range around it.
    const AddressRange pages = pages_of(allocation);
    if (mmap(reinterpret_cast<void*>(pages.low), pages.high - pages.low, PROT_NONE,
             kReserve | MAP_FIXED, -1, 0) == MAP_FAILED) {
        return false;
    }
    if (Observer* const watcher = observer()) watcher->memory_freed(allocation.low);
    allocation.freed = true;
    note_freed(allocation.low);
    to.live_bytes -= allocation.bytes;
    to.live_on[allocation.device] -= allocation.bytes;
    note_freed_to_pool(allocation.low);
    note_freed_to_graphs(allocation.low);
    return true;
}

cudaError_t release(void* pointer, bool host) {
    if (pointer == nullptr) return cudaSuccess;
    Arena& to = arena();
    std::unique_lock<std::mutex> lock(to.mutex);
    auto table = std::make_shared<AllocationTable>(*to.table);
    const auto found =
        std::find_if(table->begin(), table->end(), [&](const Allocation& allocation) {
            return allocation.low == as_address(pointer) && !allocation.freed &&
                   (allocation.kind == MemoryKind::pinned_host) == host;
        });
    if (found == table->end()) {
        lock.unlock();
        return refuse_to_release(*table, as_address(pointer), host);
    }
    if (!free_allocation(to, *found)) return cudaErrorUnknown;
    const auto is_freed = [](const Allocation& allocation) { return allocation.freed; };
    if (std::count_if(table->begin(), table->end(), is_freed) >
        static_cast<ptrdiff_t>(kFreedRemembered)) {
        table->erase(std::find_if(table->begin(), table->end(), is_freed));
    }
    to.table = std::move(table);
    return cudaSuccess;
}

// What cudaHostAlloc was told, by where its memory begins.
struct HostFlags {
    std::mutex mutex;
    std::map<uintptr_t, unsigned> by_address;
};

HostFlags& all_host_flags() {
    static HostFlags* const instance = new HostFlags;  // alive until the very end of the process
    return *instance;
}

void note_host_flags(uintptr_t low, unsigned flags) {
    HostFlags& all = all_host_flags();
    const std::lock_guard<std::mutex> lock(all.mutex);
    all.by_address[low] = flags;
}

unsigned host_flags(uintptr_t low) {
    HostFlags& all = all_host_flags();
    const std::lock_guard<std::mutex> lock(all.mutex);
    const auto found = all.by_address.find(low);
    return found == all.by_address.end() ? cudaHostAllocDefault : found->second;
}

cudaError_t allocate_by(const char* call, void** pointer, size_t bytes, MemoryKind kind,
                        int device = current_device()) {
    return noted_allocation(call, bytes, unless_captures_forbid([=] {
                                return allocate(pointer, bytes, kind, device);
                            }));
}

// Rows as far apart as a GPU has them.
cudaError_t allocate_rows_by(const char* call, void** pointer, size_t* pitch, size_t width,
                             size_t height) {
    constexpr size_t kPitch = 512;
    if (pitch == nullptr) return remembered(cudaErrorInvalidValue);
    *pitch = rounded_up(width, kPitch);
    return allocate_by(call, pointer, *pitch * height, MemoryKind::device);
}

}  // namespace

bool is_device_side(const void* pointer) {
    cudaPointerAttributes attributes{};
    cudaPointerGetAttributes(&attributes, pointer);
    return attributes.type != cudaMemoryTypeUnregistered ||
           device_memory_range().holds(as_address(pointer));
}

cudaError_t work_on_host(size_t bytes) {
    return EndOfGrids::exist() && bytes > kPoisonedBytes ? cudaErrorNotSupported : cudaSuccess;
}

std::shared_ptr<const AllocationTable> allocation_table() {
    Arena& from = arena();
    const std::lock_guard<std::mutex> lock(from.mutex);
    return from.table;
}

const Allocation* nearest_allocation(const AllocationTable& table, uintptr_t address) {
    const auto above = std::upper_bound(
        table.begin(), table.end(), address,
        [](uintptr_t value, const Allocation& allocation) { return value < allocation.low; });
    return above == table.begin() ? nullptr : &*std::prev(above);
}

// A pool's memory is open to those to whom the pool is; what cudaDeviceEnablePeerAccess says is of all other.
bool may_use(int device, const Allocation& allocation) {
    if (device == allocation.device || allocation.kind != MemoryKind::device) return true;
    const Undisturbed locks_are_held;
    return pool_lets_use(allocation.low, device).value_or(may_access(device, allocation.device));
}

size_t device_memory_bytes() {
    static const size_t bytes = static_cast<size_t>(sysconf(_SC_PHYS_PAGES)) * page_size();
    return bytes / static_cast<size_t>(device_count());
}

size_t allocated_bytes() {
    Arena& here = arena();
    const std::lock_guard<std::mutex> lock(here.mutex);
    return here.live_bytes;
}

cudaError_t allocate_on(int device, const char* call, void** pointer, size_t bytes) {
    return allocate_by(call, pointer, bytes, MemoryKind::device, device);
}

AddressRange device_memory_range() {
    return arena().range;
}

// They are those of an allocation that is freed at once: addresses are not used twice.
cudaError_t reserve_addresses(int device, size_t bytes, void** pointer) {
    if (const cudaError_t error = allocate(pointer, bytes, MemoryKind::device, device))
        return error;
    return release(*pointer, false);
}

cudaError_t allocate_reserved(void* pointer, size_t bytes, int device) {
    Arena& here = arena();
    const std::lock_guard<std::mutex> lock(here.mutex);
    if (!fits(here, device, bytes)) return cudaErrorMemoryAllocation;
    const Allocation made{as_address(pointer), bytes, MemoryKind::device, false, device};
    const AddressRange pages = pages_of(made);
    if (mprotect(reinterpret_cast<void*>(pages.low), pages.high - pages.low,
                 PROT_READ | PROT_WRITE) != 0) {
        return cudaErrorMemoryAllocation;
    }
    std::memset(pointer, 0xFF, std::min(rounded_up(bytes, kAlignment), kPoisonedBytes));
    auto table = std::make_shared<AllocationTable>(*here.table);
    const auto place = std::lower_bound(
        table->begin(), table->end(), made.low,
        [](const Allocation& allocation, uintptr_t low) { return allocation.low < low; });
    if (place != table->end() && place->low == made.low) {
        *place = made;
    } else {
        table->insert(place, made);
    }
    here.table = std::move(table);
    here.live_bytes += bytes;
    here.live_on[device] += bytes;
    if (Observer* const watcher = observer()) watcher->memory_allocated(made.low, bytes, false);
    return cudaSuccess;
}

void free_everything_on(int device) {
    Arena& here = arena();
    const std::lock_guard<std::mutex> lock(here.mutex);
    auto table = std::make_shared<AllocationTable>(*here.table);
    for (Allocation& allocation : *table) {
        if (!allocation.freed && allocation.device == device) free_allocation(here, allocation);
    }
    here.table = std::move(table);
}

// What cudaMalloc would give at once, or a little less.
static size_t largest_allocation() {
    Arena& here = arena();
    const std::lock_guard<std::mutex> lock(here.mutex);
    size_t bytes = io::available_memory();
    while (bytes > kAlignment && !fits(here, current_device(), bytes)) bytes -= bytes / 8;
    return bytes;
}

bool has_address_space() {
    Arena& here = arena();
    const std::lock_guard<std::mutex> lock(here.mutex);
    if (here.range.low == 0) reserve(here);
    return here.range.low != 0;
}

}  // namespace cpu_device

using namespace cpu_device;

cudaError_t cudaMalloc(void** pointer, size_t bytes) {
    return allocate_by("cudaMalloc", pointer, bytes, MemoryKind::device);
}

cudaError_t cudaMallocPitch(void** pointer, size_t* pitch, size_t width, size_t height) {
    return allocate_rows_by("cudaMallocPitch", pointer, pitch, width, height);
}

cudaError_t cudaFree(void* pointer) {
    return unless_captures_forbid([=] { return release(pointer, false); });
}

// A graph frees only what a graph allocates.
cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream) {
    if (!is_stream(stream)) return remembered(cudaErrorInvalidResourceHandle);
    const Admission admission = admit(stream);
    if (admission.refusal != cudaSuccess) return admission.refusal;
    if (admission.capture == 0) return cudaFree(pointer);
    if (!is_graph_memory(pointer)) return remembered(cudaErrorInvalidValue);
    return record(admission, cudaGraphNodeTypeMemFree, [=] { return free_for_graph(pointer); });
}

cudaError_t cudaMallocHost(void** pointer, size_t bytes) {
    return allocate_by("cudaMallocHost", pointer, bytes, MemoryKind::pinned_host);
}

cudaError_t cudaHostAlloc(void** pointer, size_t bytes, unsigned flags) {
    constexpr unsigned kFlags =
        cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined;
    if ((flags & ~kFlags) != 0) return remembered(cudaErrorInvalidValue);
    const cudaError_t error = allocate_by("cudaHostAlloc", pointer, bytes, MemoryKind::pinned_host);
    if (error == cudaSuccess) note_host_flags(as_address(*pointer), flags);
    return error;
}

cudaError_t cudaHostGetFlags(unsigned* flags, void* pointer) {
    if (flags == nullptr) return remembered(cudaErrorInvalidValue);
    const auto table = allocation_table();
    const Allocation* const found = nearest_allocation(*table, as_address(pointer));
    if (found == nullptr || found->freed || found->kind != MemoryKind::pinned_host ||
        as_address(pointer) >= found->high()) {
        return remembered(explained(cudaErrorInvalidValue,
                                    "cudaHostGetFlags of memory that is not cudaHostAlloc's"));
    }
    *flags = host_flags(found->low) | cudaHostAllocMapped;  // all of it is, as on a GPU of today
    return cudaSuccess;
}

cudaError_t cudaFreeHost(void* pointer) {
    return unless_captures_forbid([=] { return release(pointer, true); });
}

cudaError_t cudaMallocManaged(void** pointer, size_t bytes, unsigned flags) {
    if (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost) {
        return remembered(cudaErrorInvalidValue);
    }
    return allocate_by("cudaMallocManaged", pointer, bytes, MemoryKind::managed);
}

cudaError_t cudaMalloc3D(cudaPitchedPtr* pitched, cudaExtent extent) {
    if (pitched == nullptr) return remembered(cudaErrorInvalidValue);
    *pitched = {nullptr, 0, extent.width, extent.height};
    return allocate_rows_by("cudaMalloc3D", &pitched->ptr, &pitched->pitch, extent.width,
                            extent.height * extent.depth);
}

// The host's memory is the devices' memory.
cudaError_t cudaMemGetInfo(size_t* free_bytes, size_t* total_bytes) {
    if (free_bytes == nullptr || total_bytes == nullptr) return remembered(cudaErrorInvalidValue);
    *total_bytes = device_memory_bytes();
    *free_bytes = std::min(*total_bytes, largest_allocation());
    return cudaSuccess;
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
    if (attributes == nullptr) return remembered(cudaErrorInvalidValue);
    const uintptr_t address = as_address(pointer);
    *attributes = {cudaMemoryTypeUnregistered, cudaInvalidDeviceId, nullptr,
                   const_cast<void*>(pointer)};
    const auto table = allocation_table();
    const Allocation* allocation = nearest_allocation(*table, address);
    if (const DeviceVariable* variable = variable_known_at(address)) {
        *attributes = {variable->managed ? cudaMemoryTypeManaged : cudaMemoryTypeDevice,
                       current_device(), const_cast<void*>(pointer),
                       variable->managed ? const_cast<void*>(pointer) : nullptr};
        return cudaSuccess;
    }
    if (registered_range(address).holds(address)) {
        *attributes = {cudaMemoryTypeHost, current_device(), const_cast<void*>(pointer),
                       const_cast<void*>(pointer)};
        return cudaSuccess;
    }
    if (allocation == nullptr || allocation->freed || address >= allocation->high()) {
        return cudaSuccess;
    }
    attributes->device = allocation->device;
    attributes->devicePointer = const_cast<void*>(pointer);
    switch (allocation->kind) {
        case MemoryKind::device:
            attributes->type = cudaMemoryTypeDevice;
            attributes->hostPointer = nullptr;
            break;
        case MemoryKind::pinned_host:
            attributes->type = cudaMemoryTypeHost;
            break;
        case MemoryKind::managed:
            attributes->type = cudaMemoryTypeManaged;
            break;
    }
    return cudaSuccess;
}
