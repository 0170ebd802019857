// SPDX-License-Identifier: MIT
#include "memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "allocation_history.hpp"
#include "api.hpp"
#include "arrays.hpp"
#include "capture.hpp"
#include "common/io/memory.hpp"
#include "cpu_device/runtime_api.h"
#include "device_variables.hpp"
#include "devices.hpp"
#include "graph_memory.hpp"
#include "host_memory.hpp"
#include "launch.hpp"
#include "pools.hpp"
#include "strict.hpp"
#include "virtual_functions.hpp"
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

// What is wrong with [pointer, pointer + bytes) as a piece of device memory; success if it is fine
// or is not device memory at all. `verb`: "cudaMemcpy writes" and the like.
cudaError_t check_range(const void* pointer, size_t bytes, const char* verb) {
    const uintptr_t address = as_address(pointer);
    if (pointer == nullptr) {
        return explained(cudaErrorInvalidValue, "%s %zu bytes at a null pointer%s", verb, bytes,
                         failed_allocations_text().c_str());
    }
    if (const DeviceVariable* variable = variable_known_at(address)) {
        const size_t left = variable->high() - address;
        if (bytes <= left) return cudaSuccess;
        return explained(cudaErrorInvalidValue,
                         "%s %zu bytes, but only %zu are left of the variable `%s`", verb, bytes,
                         left, variable->name);
    }
    if (!device_memory_range().holds(address)) return cudaSuccess;
    const auto table = allocation_table();
    const Allocation* allocation = nearest_allocation(*table, address);
    if (allocation == nullptr || address - allocation->low > allocation->bytes) {
        return explained(cudaErrorInvalidValue,
                         "%s %zu bytes of device memory that nothing allocated", verb, bytes);
    }
    if (allocation->freed) {
        return explained(cudaErrorInvalidValue, "%s %zu bytes of an allocation that is freed%s",
                         verb, bytes, freed_text(allocation->low).c_str());
    }
    const size_t left = allocation->bytes - (address - allocation->low);
    if (bytes <= left) return cudaSuccess;
    return explained(cudaErrorInvalidValue,
                     "%s %zu bytes, but only %zu are left of the allocation of %zu bytes", verb,
                     bytes, left, allocation->bytes);
}

bool is_device_side(const void* pointer) {
    cudaPointerAttributes attributes{};
    cudaPointerGetAttributes(&attributes, pointer);
    return attributes.type != cudaMemoryTypeUnregistered ||
           device_memory_range().holds(as_address(pointer));
}

const char* name_of(cudaMemcpyKind kind) {
    constexpr const char* kNames[] = {"cudaMemcpyHostToHost", "cudaMemcpyHostToDevice",
                                      "cudaMemcpyDeviceToHost", "cudaMemcpyDeviceToDevice",
                                      "cudaMemcpyDefault"};
    return kNames[kind];
}

// Memory of cudaMalloc, of which the copy says that it is the host's.
bool is_no_host_memory(const void* pointer) {
    cudaPointerAttributes attributes{};
    cudaPointerGetAttributes(&attributes, pointer);
    return attributes.type == cudaMemoryTypeDevice;
}

// The same of the host's memory, where a learner's program copies.
cudaError_t check_host_range(const void* pointer, size_t bytes, const char* verb) {
    const uintptr_t address = as_address(pointer);
    const DeviceVariable* const variable = device_variable_before(address);
    const bool of_device = device_memory_range().holds(address) ||
                           (variable != nullptr && variable->holds(address, 1));
    if (!is_strict() || of_device) return cudaSuccess;
    const auto room = host_room(address);
    if (!room || bytes <= room->bytes) return cudaSuccess;
    return explained(cudaErrorInvalidValue,
                     "%s %zu bytes of the host's memory, but only %zu are left there %s", verb,
                     bytes, room->bytes, room->what);
}

cudaError_t check_copy(const void* to, size_t to_bytes, const void* from, size_t from_bytes,
                       cudaMemcpyKind kind) {
    if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault) {
        return explained(cudaErrorInvalidMemcpyDirection, "cudaMemcpy: there is no direction %d",
                         static_cast<int>(kind));
    }
    if (to == nullptr) return check_range(to, to_bytes, "cudaMemcpy writes");
    if (from == nullptr) return check_range(from, from_bytes, "cudaMemcpy reads");
    const bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    const bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
    if ((to_device && !is_device_side(to)) || (from_device && !is_device_side(from))) {
        const bool wrong_to = to_device && !is_device_side(to);
        const char* const which = wrong_to ? "first (to)" : "second (from)";
        if (const DeviceVariable* variable = hidden_variable_at(as_address(wrong_to ? to : from))) {
            return explained(cudaErrorInvalidValue,
                             "cudaMemcpy with %s: the %s pointer is the address of `%s` on the "
                             "host, and that variable is on the device: %s does that",
                             name_of(kind), which, variable->name,
                             wrong_to ? "cudaMemcpyToSymbol" : "cudaMemcpyFromSymbol");
        }
        return explained(cudaErrorInvalidValue,
                         "cudaMemcpy with %s: the %s pointer is not the device's", name_of(kind),
                         which);
    }
    if (is_strict() && kind != cudaMemcpyDefault) {
        const bool wrong_to = !to_device && is_no_host_memory(to);
        if (wrong_to || (!from_device && is_no_host_memory(from))) {
            return explained(cudaErrorInvalidValue,
                             "cudaMemcpy with %s: the %s pointer is the device's", name_of(kind),
                             wrong_to ? "first (to)" : "second (from)");
        }
    }
    if (const cudaError_t error = check_range(to, to_bytes, "cudaMemcpy writes")) return error;
    if (const cudaError_t error = check_range(from, from_bytes, "cudaMemcpy reads")) return error;
    if (const cudaError_t error = check_host_range(to, to_bytes, "cudaMemcpy writes")) return error;
    return check_host_range(from, from_bytes, "cudaMemcpy reads");
}

void tell_of_copy(uintptr_t to, uintptr_t from, size_t bytes, cudaMemcpyKind kind) {
    const bool from_host =
        kind == cudaMemcpyHostToDevice ||
        (kind == cudaMemcpyDefault && !is_device_side(reinterpret_cast<const void*>(from)));
    if (from_host) note_objects_of_host(to, bytes);
    Observer* const watcher = observer();
    if (watcher == nullptr) return;
    const bool to_host =
        kind == cudaMemcpyDeviceToHost ||
        (kind == cudaMemcpyDefault && !is_device_side(reinterpret_cast<const void*>(to)));
    watcher->read_by_host(from, bytes, to_host);
    watcher->written_by_host(to, bytes);
}

// A rectangle of bytes: what copies of either shape come down to.
struct Copy {
    static constexpr cudaGraphNodeType kNode = cudaGraphNodeTypeMemcpy;
    void* to;
    size_t to_pitch;
    const void* from;
    size_t from_pitch;
    size_t width;
    size_t height;
    cudaMemcpyKind kind;

    bool is_nothing() const { return width == 0 || height == 0; }
    bool is_for_graph_memory() const { return is_in_graph_memory(to) || is_in_graph_memory(from); }

    cudaError_t check() const {
        if (width > to_pitch || width > from_pitch) return cudaErrorInvalidPitchValue;
        return check_copy(to, to_pitch * (height - 1) + width, from,
                          from_pitch * (height - 1) + width, kind);
    }

    void carry_out() const {
        for (size_t row = 0; row < height; row++) {
            std::memmove(static_cast<char*>(to) + row * to_pitch,
                         static_cast<const char*>(from) + row * from_pitch, width);
            tell_of_copy(as_address(to) + row * to_pitch, as_address(from) + row * from_pitch,
                         width, kind);
        }
    }
};

struct Fill {
    static constexpr cudaGraphNodeType kNode = cudaGraphNodeTypeMemset;
    void* to;
    size_t pitch;
    unsigned value;
    size_t width, height;        // in bytes
    unsigned element_bytes = 1;  // 2 or 4: the width is a multiple

    bool is_nothing() const { return width == 0 || height == 0; }
    bool is_for_graph_memory() const { return is_in_graph_memory(to); }

    cudaError_t check() const {
        if (width > pitch) return cudaErrorInvalidPitchValue;
        if (to != nullptr && !is_device_side(to)) {
            return explained(cudaErrorInvalidValue,
                             "cudaMemset of memory that is not the device's");
        }
        return check_range(to, pitch * (height - 1) + width, "cudaMemset writes");
    }

    void carry_out() const {
        for (size_t row = 0; row < height; ++row) {
            char* const line = static_cast<char*>(to) + row * pitch;
            if (element_bytes == 1) std::memset(line, static_cast<int>(value), width);
            for (size_t x = 0; element_bytes > 1 && x < width; x += element_bytes)
                std::memcpy(line + x, &value, element_bytes);  // the low bytes come first
            if (Observer* const watcher = observer())
                watcher->written_by_host(as_address(line), width);
        }
    }
};

template <class Task>
cudaError_t do_now(const Task& task) {
    if (const cudaError_t error = pending_failure()) return error;
    if (task.is_nothing()) return cudaSuccess;
    if (const cudaError_t error = task.check()) return remembered(error);
    if (const cudaError_t error = work_on_host(task.width * task.height)) return remembered(error);
    task.carry_out();
    return cudaSuccess;
}

// Does a copy or fill, or keeps it where the stream captures. What is kept is checked twice, for its memory may be freed
// until then; if it is a graph's, which is not there yet, once.
template <class Task>
cudaError_t submit(const Task& task, cudaStream_t stream) {
    refuse_to_kernels();
    if (!is_stream(stream)) return remembered(cudaErrorInvalidResourceHandle);
    const Admission admission = admit(stream);
    if (admission.refusal != cudaSuccess) return admission.refusal;
    if (admission.capture == 0) return do_now(task);
    if (task.is_nothing()) return cudaSuccess;
    if (!task.is_for_graph_memory()) {
        if (const cudaError_t error = task.check()) return remembered(error);
    }
    return record(admission, Task::kNode, [task] { return do_now(task); });
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

// Host memory that the program has registered: copies of it are as ever, kernels are still kept off it.
struct Registered {
    std::mutex mutex;
    std::map<uintptr_t, uintptr_t> ranges;  // begin -> end
};
Registered& registered() {
    static Registered all;
    return all;
}

// The range that holds the address: its end, or an end that holds nothing.
std::map<uintptr_t, uintptr_t>::const_iterator range_at(uintptr_t address) {
    const auto& ranges = registered().ranges;
    const auto above = ranges.upper_bound(address);
    if (above == ranges.begin()) return ranges.end();
    const auto found = std::prev(above);
    return address < found->second ? found : ranges.end();
}

// A call that is no work of a stream, and might hide from a capture what its graph depends on.
template <class Call>
cudaError_t unless_captures_forbid(Call call) {
    refuse_to_kernels();
    if (const cudaError_t refusal = refusal_of_unsafe_call()) return refusal;
    if (const cudaError_t failure = lasting_failure()) return failure;
    return remembered(call());
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

cudaError_t check_device_range(const void* pointer, size_t bytes, const char* verb) {
    if (pointer != nullptr && !is_device_side(pointer)) {
        return remembered(explained(cudaErrorInvalidValue, "%s %zu bytes that are not the device's",
                                    verb, bytes));
    }
    return remembered(check_range(pointer, bytes, verb));
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

AddressRange registered_range(uintptr_t address) {
    const Undisturbed lock_is_held;
    const std::lock_guard<std::mutex> lock(registered().mutex);
    const auto found = range_at(address);
    if (found == registered().ranges.end()) return {};
    return {found->first, found->second};
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

cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                              size_t width, size_t height, cudaMemcpyKind kind,
                              cudaStream_t stream) {
    return submit(Copy{to, to_pitch, from, from_pitch, width, height, kind}, stream);
}

cudaError_t cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                         size_t width, size_t height, cudaMemcpyKind kind) {
    return cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, height, kind, nullptr);
}

cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
    return cudaMemcpyAsync(to, from, bytes, kind, nullptr);
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
    return cudaMemcpy2DAsync(to, bytes, from, bytes, bytes, 1, kind, stream);
}

cudaError_t cudaMemset(void* to, int value, size_t bytes) {
    return cudaMemsetAsync(to, value, bytes, nullptr);
}

cudaError_t cudaMemsetAsync(void* to, int value, size_t bytes, cudaStream_t stream) {
    return cudaMemset2DAsync(to, bytes, value, bytes, 1, stream);
}

cudaError_t cudaMemset2D(void* to, size_t pitch, int value, size_t width, size_t height) {
    return cudaMemset2DAsync(to, pitch, value, width, height, nullptr);
}

cudaError_t cudaMemset2DAsync(void* to, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream) {
    return submit(Fill{to, pitch, static_cast<unsigned>(value), width, height}, stream);
}

namespace cpu_device {

cudaError_t fill_elements(const cudaMemsetParams& of) {
    if (of.elementSize != 1 && of.elementSize != 2 && of.elementSize != 4) {
        return remembered(cudaErrorInvalidValue);
    }
    const size_t width = of.width * of.elementSize;
    // A single row may leave out how far rows are apart.
    const size_t pitch = of.height <= 1 ? std::max(width, of.pitch) : of.pitch;
    return submit(Fill{of.dst, pitch, of.value, width, of.height, of.elementSize}, nullptr);
}

}  // namespace cpu_device

cudaError_t cudaHostRegister(void* pointer, size_t bytes, unsigned /*flags*/) {
    return unless_captures_forbid([=] {
        const uintptr_t low = as_address(pointer);
        if (pointer == nullptr || bytes == 0) return cudaErrorInvalidValue;
        const auto is_registered = [&] {
            const std::lock_guard<std::mutex> lock(registered().mutex);
            const auto& ranges = registered().ranges;
            return std::any_of(ranges.begin(), ranges.end(), [&](const auto& range) {
                return low < range.second && range.first < low + bytes;
            });
        };
        if (is_registered()) return cudaErrorHostMemoryAlreadyRegistered;
        if (is_device_side(pointer))
            return explained(cudaErrorInvalidValue,
                             "cudaHostRegister of memory that is the device's");
        const std::lock_guard<std::mutex> lock(registered().mutex);
        registered().ranges.emplace(low, low + bytes);
        return cudaSuccess;
    });
}
cudaError_t cudaHostUnregister(void* pointer) {
    return unless_captures_forbid([=] {
        const std::lock_guard<std::mutex> lock(registered().mutex);
        return registered().ranges.erase(as_address(pointer)) == 0
                   ? cudaErrorHostMemoryNotRegistered
                   : cudaSuccess;
    });
}

// Addresses are the same on both sides.
cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned /*flags*/) {
    return unless_captures_forbid([=] {
        if (device == nullptr) return cudaErrorInvalidValue;
        const uintptr_t address = as_address(host);
        const auto table = allocation_table();
        const Allocation* allocation = nearest_allocation(*table, address);
        const bool is_pinned = allocation != nullptr && !allocation->freed &&
                               address < allocation->high() &&
                               allocation->kind != MemoryKind::device;
        if (!is_pinned && !registered_range(address).holds(address)) {
            return explained(cudaErrorInvalidValue,
                             "cudaHostGetDevicePointer of memory that is neither of cudaHostAlloc "
                             "nor registered by cudaHostRegister");
        }
        *device = host;
        return cudaSuccess;
    });
}

cudaError_t cudaMalloc3D(cudaPitchedPtr* pitched, cudaExtent extent) {
    if (pitched == nullptr) return remembered(cudaErrorInvalidValue);
    *pitched = {nullptr, 0, extent.width, extent.height};
    return allocate_rows_by("cudaMalloc3D", &pitched->ptr, &pitched->pitch, extent.width,
                            extent.height * extent.depth);
}

cudaError_t cudaMemset3D(cudaPitchedPtr to, int value, cudaExtent extent) {
    return cudaMemset3DAsync(to, value, extent, nullptr);
}

cudaError_t cudaMemset3DAsync(cudaPitchedPtr to, int value, cudaExtent extent,
                              cudaStream_t stream) {
    for (size_t z = 0; z < extent.depth; z++) {
        char* const slice = static_cast<char*>(to.ptr) + z * to.pitch * to.ysize;
        const cudaError_t error =
            cudaMemset2DAsync(slice, to.pitch, value, extent.width, extent.height, stream);
        if (error != cudaSuccess) return error;
    }
    return cudaSuccess;
}

cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* copy) {
    return cudaMemcpy3DAsync(copy, nullptr);
}

// Slice by slice.
cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* with_arrays, cudaStream_t stream) {
    if (with_arrays == nullptr) return remembered(cudaErrorInvalidValue);
    cudaMemcpy3DParms in_bytes = *with_arrays;
    if (const cudaError_t error = replace_arrays(in_bytes)) return error;
    const cudaMemcpy3DParms* const copy = &in_bytes;
    const auto place = [](const cudaPitchedPtr& in, const cudaPos& at, size_t z) {
        return static_cast<char*>(in.ptr) + ((at.z + z) * in.ysize + at.y) * in.pitch + at.x;
    };
    const cudaExtent extent = copy->extent;
    for (size_t z = 0; z < extent.depth; z++) {
        const cudaError_t error =
            cudaMemcpy2DAsync(place(copy->dstPtr, copy->dstPos, z), copy->dstPtr.pitch,
                              place(copy->srcPtr, copy->srcPos, z), copy->srcPtr.pitch,
                              extent.width, extent.height, copy->kind, stream);
        if (error != cudaSuccess) return error;
    }
    return cudaSuccess;
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

// ---------------------------------------------------------------- between devices
// As with one device: all memory is where each of them reaches it.

cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device,
                                size_t bytes, cudaStream_t stream) {
    if (!is_device(to_device) || !is_device(from_device)) return remembered(cudaErrorInvalidDevice);
    return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream);
}

cudaError_t cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device,
                           size_t bytes) {
    return cudaMemcpyPeerAsync(to, to_device, from, from_device, bytes, nullptr);
}

cudaError_t cudaMemcpy3DPeerAsync(const cudaMemcpy3DPeerParms* copy, cudaStream_t stream) {
    if (copy == nullptr) return remembered(cudaErrorInvalidValue);
    if (!is_device(copy->dstDevice) || !is_device(copy->srcDevice)) {
        return remembered(cudaErrorInvalidDevice);
    }
    const cudaMemcpy3DParms one{copy->srcArray, copy->srcPos, copy->srcPtr, copy->dstArray,
                                copy->dstPos,   copy->dstPtr, copy->extent, cudaMemcpyDefault};
    return cudaMemcpy3DAsync(&one, stream);
}

cudaError_t cudaMemcpy3DPeer(const cudaMemcpy3DPeerParms* copy) {
    return cudaMemcpy3DPeerAsync(copy, nullptr);
}

// The attributes say in which order a GPU may read: here a copy is over when the call returns.
cudaError_t cudaMemcpyBatchAsync(void* const* to, const void* const* from, const size_t* bytes,
                                 size_t count, cudaMemcpyAttributes*, size_t*, size_t,
                                 cudaStream_t stream) {
    if (to == nullptr || from == nullptr || bytes == nullptr) {
        return remembered(cudaErrorInvalidValue);
    }
    for (size_t i = 0; i < count; i++) {
        const cudaError_t error =
            cudaMemcpyAsync(to[i], from[i], bytes[i], cudaMemcpyDefault, stream);
        if (error != cudaSuccess) return error;
    }
    return cudaSuccess;
}
