// SPDX-License-Identifier: MIT
//
// In place of the header of Thrust's C++ back end that is called so: a device_vector's memory is the device's, so that
// kernels can use it, and managed, so that the algorithms of the host can.
#pragma once
#include <cuda_runtime.h>
#include <thrust/detail/config.h>
#include <thrust/mr/fancy_pointer_resource.h>
#include <thrust/mr/memory_resource.h>
#include <thrust/system/cpp/pointer.h>
#include <thrust/system/detail/bad_alloc.h>

THRUST_NAMESPACE_BEGIN
namespace system::cpp {

namespace detail {

struct managed_resource final : thrust::mr::memory_resource<> {
    void* do_allocate(std::size_t bytes, std::size_t) override {
        void* memory = nullptr;
        if (const cudaError_t error = cudaMallocManaged(&memory, bytes)) {
            throw thrust::system::detail::bad_alloc(cudaGetErrorString(error));
        }
        return memory;
    }
    void do_deallocate(void* memory, std::size_t, std::size_t) override { cudaFree(memory); }
};

using native_resource =
    thrust::mr::fancy_pointer_resource<managed_resource, thrust::cpp::pointer<void>>;
using universal_native_resource =
    thrust::mr::fancy_pointer_resource<managed_resource, thrust::cpp::universal_pointer<void>>;

}  // namespace detail

using memory_resource = detail::native_resource;
using universal_memory_resource = detail::universal_native_resource;
using universal_host_pinned_memory_resource = universal_memory_resource;

}  // namespace system::cpp
THRUST_NAMESPACE_END
