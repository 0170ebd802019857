// SPDX-License-Identifier: MIT
//
// What is wrong with an address, in the terms of the kernel's author.
#include <cinttypes>
#include <cstdio>

#include "access.hpp"
#include "memory.hpp"
#include "program_image.hpp"
#include "shared_memory.hpp"
#include "worker.hpp"

namespace cpu_device {
namespace {

void describe_shared(Failure& failure, const char* access, const Worker& owner, uintptr_t address,
                     size_t bytes) {
    const Worker& worker = *current.worker;
    const AddressRange dynamic = dynamic_array(worker, owner);
    if (dynamic.holds(address)) {
        failure.set_what(
            "%s, byte %zu of the %zu bytes of dynamic shared memory that the launch asked for",
            access, static_cast<size_t>(address - dynamic.low),
            static_cast<size_t>(worker.dynamic_shared.high - worker.dynamic_shared.low));
        return;
    }
    const uintptr_t offset = address - owner.thread_locals.low;
    const Symbol* variable = nearest_shared_variable(offset);
    if (variable == nullptr) {
        failure.set_what("%s, before the first __shared__ variable", access);
        return;
    }
    failure.set_what("%s, %zu bytes past the end of the __shared__ variable `%s` of %zu bytes",
                     access, static_cast<size_t>(offset + bytes - variable->value - variable->size),
                     demangled(variable->name).c_str(), variable->size);
}

// Names the nearest allocation: a wrong index seldom goes far.
void describe_device(Failure& failure, const char* access, uintptr_t address, size_t bytes) {
    const AllocationTable& table = *current.worker->launch->memory;
    const Allocation* below = nearest_allocation(table, address);
    if (below != nullptr && below->freed && address < below->high()) {
        failure.set_what("%s, use after free of the allocation of %zu bytes at 0x%" PRIxPTR, access,
                         below->bytes, below->low);
        return;
    }
    const Allocation* above = below == nullptr ? table.data() : below + 1;
    if (above == table.data() + table.size()) above = nullptr;
    if (below == nullptr && above == nullptr) {
        failure.set_what("%s, device memory that was never allocated", access);
        return;
    }
    const uintptr_t past = below == nullptr ? UINTPTR_MAX : address + bytes - below->high();
    const uintptr_t before = above == nullptr ? UINTPTR_MAX : above->low - address;
    const Allocation& nearest = past <= before ? *below : *above;
    failure.set_what("%s, %zu bytes %s the %sallocation of %zu bytes at 0x%" PRIxPTR, access,
                     static_cast<size_t>(past <= before ? past : before),
                     past <= before ? "past the end of" : "before", nearest.freed ? "freed " : "",
                     nearest.bytes, nearest.low);
}

}  // namespace

void describe_bad_address(Failure& failure, uintptr_t address, size_t bytes, const char* verb) {
    char access[96];
    std::snprintf(access, sizeof access, "%s of %zu bytes at 0x%" PRIxPTR, verb, bytes, address);
    const Worker& worker = *current.worker;
    constexpr uintptr_t kFirstPage = 4096;
    if (address < kFirstPage) {
        failure.set_what("%s, a null pointer", access);
    } else if (const Worker* owner = owner_of_shared(worker, address)) {
        describe_shared(failure, access, *owner, address, bytes);
    } else if (worker.launch->device_memory.holds(address)) {
        describe_device(failure, access, address, bytes);
    } else if (all_stacks(worker).holds(address)) {
        failure.set_what("%s, a local variable of another thread", access);
    } else {
        failure.set_what(
            "%s, which is host memory: a kernel can use what cudaMalloc gave, and "
            "what cudaHostRegister was told of",
            access);
    }
}

}  // namespace cpu_device
