// SPDX-License-Identifier: MIT
//
// In place of the header of Thrust's sequential algorithms that is called so: thrust::device_malloc gives what
// cudaMallocManaged does.
#pragma once
#include <cuda_runtime.h>
#include <thrust/detail/config.h>
#include <thrust/detail/raw_pointer_cast.h>
#include <thrust/system/detail/sequential/execution_policy.h>

THRUST_NAMESPACE_BEGIN
namespace system::detail::sequential {

template <class Policy>
void* malloc(execution_policy<Policy>&, std::size_t bytes) {
    void* memory = nullptr;
    return cudaMallocManaged(&memory, bytes) == cudaSuccess ? memory : nullptr;
}

template <class Policy, class Pointer>
void free(execution_policy<Policy>&, Pointer memory) {
    cudaFree(thrust::raw_pointer_cast(memory));
}

}  // namespace system::detail::sequential
THRUST_NAMESPACE_END
