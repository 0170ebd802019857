// SPDX-License-Identifier: MIT
#include "shared_memory.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "worker.hpp"

// The one dynamic array of this project's kernels. Aligned as generously as the hardware's.
alignas(1024) thread_local unsigned char shared_bytes[cpu_device::kSharedPerBlockOptIn +
                                                      cpu_device::kDynamicSharedSlack];

namespace cpu_device {

unsigned char* dynamic_shared_memory() {
    return shared_bytes;
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
