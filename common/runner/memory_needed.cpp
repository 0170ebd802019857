// SPDX-License-Identifier: MIT
#include "common/runner/memory_needed.hpp"

#include <cuda_runtime.h>

#include "common/io/memory.hpp"
#include "common/runner/build_info.hpp"
#include "common/runner/device.hpp"

namespace runner {
namespace {

// So little is always there: not worth a question to the system.
constexpr double kNotWorthAsking = 64e6;

// What the checker's tallies and the flushing of a GPU's caches take besides.
constexpr double kBesidesOnGpu = 256e6;

// In double: a shape that nobody has the memory for may have more than 64 bits count.
double elements_of(const Operand& operand) {
    double elements = 1;
    for (const int64_t dim : operand.dims) elements *= static_cast<double>(dim);
    return elements;
}
double bytes_of(const Operand& operand) {
    return elements_of(operand) * static_cast<double>(size_of(operand.type));
}

std::string shortage_on_gpu(double bytes) {
    size_t free_bytes = 0;
    size_t total = 0;
    check_cuda(cudaMemGetInfo(&free_bytes, &total), "asking for free memory");
    const double free_now = static_cast<double>(free_bytes);
    if (bytes + kBesidesOnGpu <= free_now) return "";
    return "needs " + io::gigabytes(bytes + kBesidesOnGpu) + " of the GPU's memory, and " +
           io::gigabytes(free_now) + " are free";
}

}  // namespace

MemoryNeeded memory_needed(const Operation& operation, size_t workspace_bytes, const Shape& shape,
                           DType dtype) {
    double bytes = static_cast<double>(workspace_bytes);
    for (const Operand& operand : operation.operands(shape, dtype))
        bytes += (operand.is_input() ? bytes_of(operand) : 0) +
                 (operand.is_output() ? 2 * bytes_of(operand) : 0);
    return {bytes, 0};
}

double host_copy_of_input(const Operation& operation, const Shape& shape, DType dtype) {
    return bytes_of(operation.operands(shape, dtype).front());  // its values are there already
}

double host_copy_of_results(const Operation& operation, const Shape& shape, DType dtype) {
    double bytes = 0;
    for (const Operand& operand : outputs_of(operation.operands(shape, dtype)))
        bytes += bytes_of(operand) + elements_of(operand) * sizeof(double);
    return bytes;
}

std::string shortage(const MemoryNeeded& needed) {
    if (needed.on_device + needed.on_host < kNotWorthAsking) return "";
    if (!on_gpu()) return io::memory_shortage(needed.on_device + needed.on_host, needed.on_host);
    const std::string device = shortage_on_gpu(needed.on_device);
    return device.empty() ? io::memory_shortage(needed.on_host, needed.on_host) : device;
}

}  // namespace runner
