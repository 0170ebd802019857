// SPDX-License-Identifier: MIT
#include "shared_memory.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "access.hpp"
#include "cpu_device/core.h"
#include "worker.hpp"

// The one dynamic array of this project's kernels. Aligned as generously as the hardware's.
alignas(1024) thread_local unsigned char shared_bytes[cpu_device::kSharedPerBlockOptIn +
                                                      cpu_device::kDynamicSharedSlack];

namespace cpu_device {

unsigned char* dynamic_shared_memory() {
    return shared_bytes;
}

namespace {
// The dynamic array begins here, as on a GPU, where the system has the first KB; and null lies in no array.
constexpr uintptr_t kDynamicSharedAddress = 1024;
constexpr uint32_t kOffsetBits = (1u << kRankShift) - 1;
}  // namespace

uint32_t shared_address(const void* pointer) {
    const Worker& worker = *current.worker;
    const Worker* const owner = owner_of_shared(worker, as_address(pointer));
    const uintptr_t array = as_address(shared_bytes) - worker.thread_locals.low +
                            (owner == nullptr ? worker : *owner).thread_locals.low;
    const auto offset = static_cast<uint32_t>(as_address(pointer) - array + kDynamicSharedAddress);
    const unsigned rank =
        owner == nullptr || worker.cluster().members.size() == 1 ? 0 : owner->cluster_rank;
    return (offset & kOffsetBits) | rank << kRankShift;
}

void* shared_pointer(uint64_t address) {
    const uint64_t high = address >> 32;
    if (high != 0) {
        fail(cudaErrorIllegalAddress,
             "an instruction on shared memory gets the address 0x%llx, which has more than 32 "
             "bits: __cvta_generic_to_shared(pointer) gives the address in shared memory",
             static_cast<unsigned long long>(address));
    }
    const Worker& worker = *current.worker;
    const auto& blocks = worker.cluster().members;
    const uint64_t rank = address >> kRankShift;
    if (rank >= blocks.size()) {
        fail(cudaErrorIllegalAddress,
             "an instruction on shared memory gets the address 0x%llx, which names block %llu of a "
             "cluster of %zu",
             static_cast<unsigned long long>(address), static_cast<unsigned long long>(rank),
             blocks.size());
    }
    const uintptr_t array = as_address(shared_bytes) - worker.thread_locals.low +
                            (blocks.size() == 1 ? worker : *blocks[rank]).thread_locals.low;
    constexpr unsigned kAbove = 32 - kRankShift;
    const int32_t offset = static_cast<int32_t>(static_cast<uint32_t>(address) << kAbove) >> kAbove;
    return reinterpret_cast<void*>(array + static_cast<uintptr_t>(offset) - kDynamicSharedAddress);
}

const Symbol* nearest_shared_variable(uintptr_t offset) {
    const std::vector<Symbol>& variables = program_image().shared;
    const auto above = std::upper_bound(
        variables.begin(), variables.end(), offset,
        [](uintptr_t value, const Symbol& variable) { return value < variable.value; });
    return above == variables.begin() ? nullptr : &*std::prev(above);
}

size_t static_shared_bytes(uintptr_t kernel) {
    const Symbol* function = function_at(kernel);
    if (function == nullptr || function->value != kernel) return 0;
    // A function's variable x is called _ZZ<function>E1x, where the function is _Z<function>.
    const std::string prefix = "_Z" + function->name.substr(1) + "E";
    size_t bytes = 0;
    for (const Symbol& variable : program_image().shared) {
        if (variable.name.rfind(prefix, 0) == 0) bytes += variable.size;
    }
    return bytes;
}

std::string place_in_shared(const Worker& owner, uintptr_t address) {
    const AddressRange dynamic = dynamic_array(*current.worker, owner);
    if (dynamic.holds(address)) {
        return "at byte " + std::to_string(address - dynamic.low) + " of the dynamic shared memory";
    }
    const Symbol* const variable = nearest_shared_variable(address - owner.thread_locals.low);
    if (variable == nullptr) return "in shared memory";
    const size_t offset = address - owner.thread_locals.low - variable->value;
    const std::string whole = demangled(variable->name);
    const size_t scope = whole.rfind("::");
    const std::string name =
        "`" + (scope == std::string::npos ? whole : whole.substr(scope + 2)) + "`";
    if (variable->size == sizeof(uint64_t)) return name;
    return "at byte " + std::to_string(offset) + " of " + name;
}

void mark_all_shared_used(Worker& worker) {
    const std::vector<Symbol>& variables = program_image().shared;
    worker.shared_is_used.assign(variables.size(), 0);
    worker.used_shared.reserve(variables.size());
    for (size_t i = 0; i < variables.size(); i++) {
        // Those declared inside functions. Others may be a library's, which counts on zero.
        if (variables[i].name.rfind("_ZZ", 0) != 0) continue;
        worker.shared_is_used[i] = 1;
        worker.used_shared.push_back(static_cast<unsigned>(i));
    }
}

void poison_shared_memory(Worker& worker) {
    std::memset(reinterpret_cast<void*>(worker.dynamic_shared.low), 0xFF,
                worker.dynamic_shared.high - worker.dynamic_shared.low);
    for (const unsigned index : worker.used_shared) {
        const Symbol& variable = program_image().shared[index];
        std::memset(reinterpret_cast<void*>(worker.thread_locals.low + variable.value), 0xFF,
                    variable.size);
        worker.shared_is_used[index] = 0;
    }
    worker.used_shared.clear();
    current.static_shared.clear();
}

}  // namespace cpu_device
