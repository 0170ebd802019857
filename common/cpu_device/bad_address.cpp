// SPDX-License-Identifier: MIT
//
// What is wrong with an address, in the terms of the kernel's author. It may run in a signal's
// handler, and takes no lock.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstring>

#include "access.hpp"
#include "memory.hpp"
#include "named_arrays.hpp"
#include "program_image.hpp"
#include "shared_memory.hpp"
#include "worker.hpp"

namespace cpu_device {
namespace {

constexpr uintptr_t kFirstPage = 4096;
constexpr uintptr_t kNear = 64 * kKilobyte;  // what an access so far away missed is known
// As far as 32 bits count elements of 16 bytes: no program's memory lies so low, or so high.
constexpr uintptr_t kReachOfIndex = uintptr_t{1} << 36;

// What an index of 32 bits that has wrapped leads to: 2^30 to 2^32 elements of up to 16 bytes, or as
// many bytes.
const char* hint_at_wrapping(uintptr_t distance) {
    constexpr uintptr_t kLeast = uintptr_t{1} << 30;
    if (distance < kLeast || distance > kReachOfIndex + kReachOfIndex / 64) return "";
    return ": so far away, a product of 32 bits may have wrapped (compute it in int64_t), or an "
           "unsigned difference gone below 0";
}

// How far an access lies from what it probably was meant for.
struct Distance {
    uintptr_t bytes = UINTPTR_MAX;
    bool is_before = false;

    static Distance between(uintptr_t address, size_t bytes, uintptr_t low, uintptr_t high) {
        if (address < low) return {low - address, true};
        return {address + bytes > high ? address + bytes - high : 0, false};
    }
};

// ---------------------------------------------------------------- shared memory

// Below the thread-local block lies the stack of the worker, which nobody has a pointer to.
bool is_near_shared(const AddressRange& thread_locals, uintptr_t address) {
    constexpr uintptr_t kBelow = 4096 * kKilobyte, kAbove = 64 * kKilobyte;
    return address + kBelow >= thread_locals.low && address < thread_locals.high + kAbove;
}

void describe_shared(Failure& failure, const char* access, const Worker& owner, uintptr_t address,
                     size_t bytes) {
    const Worker& worker = *current.worker;
    const AddressRange dynamic = dynamic_array(worker, owner);
    const size_t asked = worker.dynamic_shared.high - worker.dynamic_shared.low;
    if (dynamic.holds(address)) {
        failure.set_what(
            "%s, byte %zu of the %zu bytes of dynamic shared memory that the launch asked for",
            access, static_cast<size_t>(address - dynamic.low), asked);
        return;
    }
    Distance nearest = Distance::between(address, bytes, dynamic.low, dynamic.low + asked);
    const Symbol* variable = nullptr;
    for (const Symbol& other : program_image().shared) {
        const uintptr_t low = owner.thread_locals.low + other.value;
        const Distance distance = Distance::between(address, bytes, low, low + other.size);
        if (distance.bytes >= nearest.bytes) continue;
        nearest = distance;
        variable = &other;
    }
    const char* const where = nearest.is_before ? "before" : "past the end of";
    const auto far = static_cast<size_t>(nearest.bytes);
    if (nearest.bytes > kNear) {
        failure.set_what("%s, %zu bytes %s the block's shared memory%s", access, far, where,
                         hint_at_wrapping(nearest.bytes));
    } else if (variable == nullptr) {
        failure.set_what(
            "%s, %zu bytes %s the %zu bytes of dynamic shared memory that the launch asked for",
            access, far, where, asked);
    } else {
        failure.set_what("%s, %zu bytes %s the __shared__ variable `%s` of %zu bytes", access, far,
                         where, demangled(variable->name).c_str(), variable->size);
    }
}

// ---------------------------------------------------------------- device memory

// Whether a pointer into the allocation is among the launch's arguments.
bool is_argument(const Allocation& allocation) {
    const LaunchRequest& request = *current.worker->launch->request;
    const auto* const words = static_cast<const char*>(request.invocation);
    for (size_t i = 0; i + sizeof(uintptr_t) <= request.invocation_bytes; i += sizeof(uintptr_t)) {
        uintptr_t word = 0;
        std::memcpy(&word, words + i, sizeof word);
        if (word >= allocation.low && word <= allocation.high()) return true;
    }
    return false;
}

// The allocation that the access probably was meant for: a near one; else the nearest of those that
// the launch got a pointer to; else the nearest of all. Where there is none, null.
const Allocation* probable_allocation(uintptr_t address, size_t bytes, Distance& distance) {
    const Allocation* nearest[2] = {nullptr, nullptr};  // of all, of the arguments
    Distance distances[2];
    for (const Allocation& allocation : *current.worker->launch->memory) {
        const Distance here = Distance::between(address, bytes, allocation.low, allocation.high());
        for (const int of : {0, 1}) {
            if (here.bytes >= distances[of].bytes || (of == 1 && !is_argument(allocation)))
                continue;
            distances[of] = here;
            nearest[of] = &allocation;
        }
    }
    const int which = nearest[1] == nullptr || distances[0].bytes <= kNear ? 0 : 1;
    distance = distances[which];
    return nearest[which];
}

// "load of 4 bytes at x[99], past the end of x, which has 3 x 33 = 99 elements".
void describe_element(Failure& failure, const char* verb, uintptr_t address, size_t bytes,
                      const NamedArray& array, const Distance& distance) {
    const auto size = static_cast<intptr_t>(array.element_bytes);
    const auto behind = static_cast<intptr_t>(address - array.low);
    const intptr_t element = (behind - (behind < 0 ? size - 1 : 0)) / size;
    failure.set_what("%s of %zu bytes at %s[%" PRIdPTR "], %s %s, which has %s%s", verb, bytes,
                     array.name.c_str(), element, distance.is_before ? "before" : "past the end of",
                     array.name.c_str(), array.size.c_str(), hint_at_wrapping(distance.bytes));
}

void describe_device(Failure& failure, const char* access, const char* verb, uintptr_t address,
                     size_t bytes) {
    const Allocation* inside = nearest_allocation(*current.worker->launch->memory, address);
    if (inside != nullptr && inside->freed && address < inside->high()) {
        failure.freed = inside->low;
        failure.set_what("%s, use after free of the allocation of %zu bytes at 0x%" PRIxPTR, access,
                         inside->bytes, inside->low);
        return;
    }
    const int device = current.worker->launch->device;
    if (inside != nullptr && address < inside->high() && !may_use(device, *inside)) {
        failure.set_what(
            "%s, memory of device %d, which a kernel of device %d may use only after "
            "cudaDeviceEnablePeerAccess or, of a memory pool, cudaMemPoolSetAccess",
            access, inside->device, device);
        return;
    }
    Distance distance;
    const Allocation* const nearest = probable_allocation(address, bytes, distance);
    if (nearest == nullptr) {
        failure.set_what("%s, device memory that was never allocated", access);
        return;
    }
    if (const NamedArray* const array = named_array(nearest->low, nearest->high(), address))
        return describe_element(failure, verb, address, bytes, *array, distance);
    failure.set_what("%s, %zu bytes %s the %sallocation of %zu bytes at 0x%" PRIxPTR "%s", access,
                     static_cast<size_t>(distance.bytes),
                     distance.is_before ? "before" : "past the end of",
                     nearest->freed ? "freed " : "", nearest->bytes, nearest->low,
                     hint_at_wrapping(distance.bytes));
}

// ---------------------------------------------------------------- all else

bool is_mapped(uintptr_t address) {
    const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
    unsigned char resident = 0;
    return mincore(reinterpret_cast<void*>(address / page * page), 1, &resident) == 0;
}

void describe_null(Failure& failure, const char* access, uintptr_t address) {
    const uintptr_t before = 0 - address;
    failure.is_null = true;
    if (address == UINTPTR_MAX) {  // what device memory is filled with
        failure.is_null = false;
        failure.set_what("%s, a pointer that nobody has written", access);
    } else if (address == 0) {
        failure.set_what("%s, a null pointer", access);
    } else if (address < before) {
        failure.set_what("%s, %zu bytes behind a null pointer", access,
                         static_cast<size_t>(address));
    } else {
        failure.set_what("%s, %zu bytes before a null pointer", access,
                         static_cast<size_t>(before));
    }
}

void describe_unknown(Failure& failure, const char* access, const char* verb, uintptr_t address,
                      size_t bytes) {
    const AddressRange& shared = current.worker->thread_locals;
    const uintptr_t to_shared = Distance::between(address, bytes, shared.low, shared.high).bytes;
    Distance distance;
    probable_allocation(address, bytes, distance);
    if (std::min(to_shared, distance.bytes) > kReachOfIndex) {
        failure.set_what("%s, where nothing is: the pointer was never set, or is overwritten",
                         access);
    } else if (to_shared < distance.bytes) {
        describe_shared(failure, access, *current.worker, address, bytes);
    } else {
        describe_device(failure, access, verb, address, bytes);
    }
}

}  // namespace

void describe_bad_address(Failure& failure, uintptr_t address, size_t bytes, const char* verb) {
    char access[96];
    std::snprintf(access, sizeof access, "%s of %zu bytes at 0x%" PRIxPTR, verb, bytes, address);
    const Worker& worker = *current.worker;
    const bool may_be_null = address < kReachOfIndex || 0 - address <= kReachOfIndex;
    // NOLINTNEXTLINE(bugprone-branch-clone): which question comes first decides
    if (address < kFirstPage) {
        describe_null(failure, access, address);
    } else if (const Worker* owner = owner_of_shared(worker, address)) {
        describe_shared(failure, access, *owner, address, bytes);
    } else if (worker.launch->device_memory.holds(address)) {
        describe_device(failure, access, verb, address, bytes);
    } else if (address - current.lane->stack_low < kStackBytes && !current.fast) {
        failure.set_what("%s, %zu bytes past the end of all local variables of the thread", access,
                         static_cast<size_t>(address + bytes - current.lane->stack_high));
    } else if (all_stacks(worker).holds(address)) {
        failure.set_what("%s, a local variable of another thread", access);
    } else if (is_near_shared(worker.thread_locals, address)) {
        describe_shared(failure, access, worker, address, bytes);
    } else if (is_mapped(address)) {
        failure.set_what(
            "%s, which is host memory: a kernel can use what cudaMalloc gave, and "
            "what cudaHostRegister was told of",
            access);
    } else if (may_be_null) {
        describe_null(failure, access, address);
    } else {
        describe_unknown(failure, access, verb, address, bytes);
    }
}

}  // namespace cpu_device
