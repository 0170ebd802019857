// SPDX-License-Identifier: MIT
//
// The variables of the device as the host names them: cudaMemcpyToSymbol and its like.
#include "api.hpp"
#include "cpu_device/runtime_api.h"
#include "device_variables.hpp"
#include "memory.hpp"
#include "program_image.hpp"
#include "strict.hpp"

namespace cpu_device {
namespace {

// Whether a variable of the device begins there. Of members and templates the translation does not tell: then it is
// what the program keeps for good and is not surely the host's.
bool is_symbol(uintptr_t address) {
    const DeviceVariable* const known = device_variable_before(address);
    if (known != nullptr && known->holds(address, 1)) return known->low == address;
    const Symbol* const variable = variable_at(address);
    return variable != nullptr && variable->value == address &&
           !(is_strict() && is_the_hosts(*variable));
}

cudaError_t require_symbol(const volatile void* symbol) {
    if (is_symbol(reinterpret_cast<uintptr_t>(symbol))) return cudaSuccess;
    return remembered(explained(
        cudaErrorInvalidSymbol,
        "no variable of the device begins at that address: cudaMemcpyToSymbol and its like take "
        "the variable itself, as in cudaMemcpyToSymbol(table, ...), and not &table, table[1], a "
        "pointer or a name in quotes"));
}

// As the caller's type says it, or as the translation does.
size_t size_of(const volatile void* symbol, size_t size) {
    if (size != 0) return size;
    const auto address = reinterpret_cast<uintptr_t>(symbol);
    const DeviceVariable* const known = device_variable_before(address);
    if (known != nullptr && known->low == address) return known->bytes;
    const Symbol* const variable = variable_at(address);
    return variable == nullptr ? 0 : variable->size;
}

cudaError_t require_piece(const volatile void* symbol, size_t size, size_t bytes, size_t offset) {
    if (const cudaError_t error = require_symbol(symbol)) return error;
    const size_t all = size_of(symbol, size);
    if (offset <= all && bytes <= all - offset) return cudaSuccess;
    return remembered(explained(cudaErrorInvalidValue,
                                "a copy of %zu bytes from byte %zu on of a variable that has %zu",
                                bytes, offset, all));
}

char* at_offset(const volatile void* symbol, size_t offset) {
    return static_cast<char*>(const_cast<void*>(symbol)) + offset;
}

cudaError_t copy(void* to, const void* from, size_t bytes, const cudaStream_t* stream) {
    return stream == nullptr ? cudaMemcpy(to, from, bytes, cudaMemcpyDefault)
                             : cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, *stream);
}

}  // namespace

cudaError_t copy_to_symbol(const volatile void* symbol, size_t size, const void* from, size_t bytes,
                           size_t offset, const cudaStream_t* stream) {
    if (const cudaError_t error = require_piece(symbol, size, bytes, offset)) return error;
    return copy(at_offset(symbol, offset), from, bytes, stream);
}

cudaError_t copy_from_symbol(void* to, const volatile void* symbol, size_t size, size_t bytes,
                             size_t offset, const cudaStream_t* stream) {
    if (const cudaError_t error = require_piece(symbol, size, bytes, offset)) return error;
    return copy(to, at_offset(symbol, offset), bytes, stream);
}

cudaError_t size_of_symbol(size_t* bytes, const volatile void* symbol, size_t size) {
    if (bytes == nullptr) return remembered(cudaErrorInvalidValue);
    if (const cudaError_t error = require_symbol(symbol)) return error;
    *bytes = size_of(symbol, size);
    return cudaSuccess;
}

cudaError_t address_for_host(void** pointer, const volatile void* symbol) {
    if (pointer == nullptr) return remembered(cudaErrorInvalidValue);
    if (const cudaError_t error = require_symbol(symbol)) return error;
    *pointer = const_cast<void*>(symbol);
    make_known_to_host(as_address(*pointer));
    return cudaSuccess;
}

}  // namespace cpu_device
