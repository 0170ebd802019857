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

double count_of(int64_t elements) {
    return static_cast<double>(elements);
}

double bytes_of(DType dtype) {
    return static_cast<double>(size_of(dtype));
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

MemoryNeeded memory_needed(const Variant& variant, size_t workspace_bytes, Shape shape,
                           DType dtype) {
    const double of_x = count_of(elements(shape)) * bytes_of(dtype);
    const double of_x2 =
        count_of(elements(shape)) * static_cast<double>(x2_size(variant.operation, dtype));
    const double of_y = count_of(output_elements(variant.operation, shape)) * bytes_of(dtype);
    return {of_x + of_x2 + 2 * of_y + static_cast<double>(workspace_bytes), 0};
}

double host_copy_of_input(Shape shape, DType dtype) {
    return count_of(elements(shape)) * bytes_of(dtype);  // its values are there already
}

double host_copy_of_result(Operation operation, Shape shape, DType dtype) {
    return count_of(output_elements(operation, shape)) * (bytes_of(dtype) + sizeof(double));
}

std::string shortage(const MemoryNeeded& needed) {
    if (needed.on_device + needed.on_host < kNotWorthAsking) return "";
    const bool gpu = std::string(build_info().backend) == "cuda";
    if (!gpu) return io::memory_shortage(needed.on_device + needed.on_host, needed.on_host);
    const std::string device = shortage_on_gpu(needed.on_device);
    return device.empty() ? io::memory_shortage(needed.on_host, needed.on_host) : device;
}

}  // namespace runner
