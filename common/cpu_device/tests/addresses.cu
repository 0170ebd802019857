// SPDX-License-Identifier: MIT
// What is said of an address that a kernel must not touch: the nearest memory, and how it may have
// come about.
#include <cuda_runtime.h>

#include "../named_arrays.hpp"
#include "failures.cuh"

namespace addresses_tests {

__global__ void store_at(float* to, long long index) {
    to[index] = 1.f;
}

__global__ void store_at_product(float* to, int rows, int cols) {
    to[static_cast<int>(static_cast<unsigned>(rows) * static_cast<unsigned>(cols))] = 1.f;
}

TEST_CASE("an index before an array names the array, and how far before") {
    DeviceArray<float> first(1000), second(1000), third(1 << 18);
    for (const float* array : {first.data(), second.data(), third.data()}) {
        store_at<<<1, 1>>>(const_cast<float*>(array), -3000);
        char low[32];
        std::snprintf(low, sizeof low, "%p", static_cast<const void*>(array));
        check_failure(cudaErrorIllegalAddress, {"12000 bytes before the allocation of", low});
        CHECK_THAT(std::string(cpu_device::last_error_text()), !ContainsSubstring("wrapped"));
    }
}

TEST_CASE("where a product may have wrapped, that is said, of the array that the kernel got") {
    DeviceArray<float> first(1000), second(2000), third(3000);
    char low[32];
    std::snprintf(low, sizeof low, "%p", static_cast<const void*>(second.data()));
    store_at_product<<<1, 1>>>(second.data(), 50000, 50000);
    check_failure(cudaErrorIllegalAddress, {"7179869184 bytes before the allocation of 8000 bytes",
                                            low, "a product of 32 bits may have wrapped"});
    store_at<<<1, 1>>>(second.data(), 0xffffffffLL);
    check_failure(cudaErrorIllegalAddress, {"past the end of the allocation of 8000 bytes", low,
                                            "an unsigned difference gone below 0"});
}

TEST_CASE("where the arrays of a launch have names, a bad address is an element of one") {
    DeviceArray<float> x(99), y(99);
    cpu_device::name_arrays(
        {{reinterpret_cast<uintptr_t>(x.data()), sizeof(float), "x", "99 elements"},
         {reinterpret_cast<uintptr_t>(y.data()), sizeof(float), "y", "3 x 33 = 99 elements"}});
    store_at<<<1, 1>>>(y.data(), 99);
    check_failure(cudaErrorIllegalAddress,
                  {"store of 4 bytes at y[99], past the end of y, which has 3 x 33 = 99 elements"});
    store_at<<<1, 1>>>(x.data(), -1);
    check_failure(cudaErrorIllegalAddress, {"at x[-1], before x, which has 99 elements"});
    cpu_device::name_arrays({});
}

template <class T>
__global__ void store_by_wrapper(T* to) {
    wrapped_store(to - 1, T(1));
}

TEST_CASE("what a header of a library does wrong is placed in the kernel that calls it as well") {
    DeviceArray<float> x(1000);
    store_by_wrapper<<<1, 1>>>(x.data());
    check_failure(cudaErrorIllegalAddress, {"common/cpu_device/tests/failures.cuh:", ", called at ",
                                            "common/cpu_device/tests/addresses.cu:"});
    store_at<<<1, 1>>>(x.data(), -1);
    check_failure(cudaErrorIllegalAddress, {"addresses.cu:"});
    CHECK_THAT(std::string(cpu_device::last_error_text()), !ContainsSubstring("called at"));
}

TEST_CASE("an offset from a null pointer is said as that") {
    store_at<<<1, 1>>>(nullptr, 100000);
    check_failure(cudaErrorIllegalAddress, {"400000 bytes behind a null pointer"});
    store_at<<<1, 1>>>(nullptr, -3000);
    check_failure(cudaErrorIllegalAddress, {"12000 bytes before a null pointer"});
    store_at<<<1, 1>>>(reinterpret_cast<float*>(0x123456789abc), 0);
    check_failure(cudaErrorIllegalAddress, {"where nothing is: the pointer was never set"});
    DeviceArray<float*> unwritten(1);
    store_at<<<1, 1>>>(unwritten.read()[0], 0);
    check_failure(cudaErrorIllegalAddress, {"a pointer that nobody has written"});
}

__global__ void store_before_shared(float* to, int before) {
    __shared__ float row[64];
    float* const from = row;
    from[-before] = 1.f;
    to[threadIdx.x] = row[threadIdx.x];
}

__global__ void store_before_dynamic(float* to, int before) {
    extern __shared__ float row[];
    row[-before] = 1.f;
    to[threadIdx.x] = row[threadIdx.x];
}

TEST_CASE("an index before shared memory names that, however far") {
    DeviceArray<float> to(64);
    store_before_shared<<<1, 64>>>(to.data(), 200000);
    check_failure(cudaErrorIllegalAddress, {"before the", "shared"});
    store_before_dynamic<<<1, 64, 256>>>(to.data(), 1);
    check_failure(
        cudaErrorIllegalAddress,
        {"4 bytes before the 256 bytes of dynamic shared memory that the launch asked for"});
}

__global__ void overrun_local(float* to, int count) {
    float few[8];
    float* const values = few;
    for (int i = 0; i < count; i++) values[i] = static_cast<float>(i);
    to[threadIdx.x] = few[count % 8];
}

TEST_CASE("a local array that a pointer overruns ends the launch, and not the program") {
    DeviceArray<float> to(32);
    overrun_local<<<1, 32>>>(to.data(), 8);
    CHECK(cudaGetLastError() == cudaSuccess);
    overrun_local<<<1, 32>>>(to.data(), 50000);
    check_failure(cudaErrorIllegalAddress, {"kernel overrun_local, block (0,0,0), thread (0,0,0)",
                                            "past the end of all local variables of the thread"});
}

// ---------------------------------------------------------------- calls that gave no memory

template <class Allocate>
void check_unchecked(const char* call, Allocate allocate) {
    float* nothing = nullptr;
    const int line = __LINE__ + 1;
    CHECK(allocate(&nothing, size_t{1} << 43) == cudaErrorMemoryAllocation);
    CHECK(nothing == nullptr);
    cudaGetLastError();
    store_at<<<1, 1>>>(nothing, 0);
    check_failure(cudaErrorIllegalAddress,
                  {"a null pointer", std::string("; ") + call + " of 8796093022208 bytes at ",
                   at_line("addresses.cu", line).substr(0, 12),
                   "gave no memory: out of memory, for the device has "});
}

TEST_CASE("a null pointer names the call that gave no memory, where, and what it asked for") {
    check_unchecked("cudaMalloc", [](float** to, size_t bytes) { return cudaMalloc(to, bytes); });
    check_unchecked("cudaMallocManaged",
                    [](float** to, size_t bytes) { return cudaMallocManaged(to, bytes); });
    check_unchecked("cudaMallocAsync", [](float** to, size_t bytes) {
        return cudaMallocAsync(to, bytes, cudaStream_t{});
    });
    check_unchecked("cudaHostAlloc", [](float** to, size_t bytes) {
        return cudaHostAlloc(reinterpret_cast<void**>(to), bytes, 0);
    });
    float* nothing = nullptr;
    const int too_many = 50000;
    cudaMalloc(&nothing, static_cast<size_t>(static_cast<int>(too_many * 50000u)) * sizeof(float));
    cudaGetLastError();
    store_at<<<1, 1>>>(nothing, 0);
    check_failure(cudaErrorIllegalAddress, {"a number below 0 became a size"});
    CHECK(cudaMalloc(&nothing, 0) == cudaSuccess);
    store_at<<<1, 1>>>(nothing, 0);
    check_failure(cudaErrorIllegalAddress, {"; cudaMalloc of 0 bytes at "});
}

}  // namespace addresses_tests
