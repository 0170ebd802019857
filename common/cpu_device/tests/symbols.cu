// SPDX-License-Identifier: MIT
// Variables of the device as the host names them. What CUDA 13.0's headers and runtime make of each form: the variable
// itself and its address as a const void* are symbols, a pointer to it is not, for it lies elsewhere.
#include <cuda_runtime.h>

#include "common/testing/catch.hpp"

namespace symbols_tests {

__constant__ float table[3];
__device__ int counter;
struct Holder {
    int values[2];
};
__device__ Holder holder;

TEST_CASE("the host copies to and from variables of the device") {
    const float values[3] = {1, 2, 3};
    float read[3] = {};
    REQUIRE(cudaMemcpyToSymbol(table, values, sizeof values) == cudaSuccess);
    REQUIRE(cudaMemcpyToSymbol(static_cast<const void*>(&table), values, 4, 8) == cudaSuccess);
    REQUIRE(cudaMemcpyFromSymbol(read, table, sizeof read) == cudaSuccess);
    CHECK((read[0] == 1 && read[1] == 2 && read[2] == 1));
    cudaStream_t stream = nullptr;
    REQUIRE(cudaStreamCreate(&stream) == cudaSuccess);
    const Holder of_host{{4, 5}};
    Holder back{};
    CHECK(cudaMemcpyToSymbolAsync(holder, &of_host, sizeof of_host, 0, cudaMemcpyHostToDevice,
                                  stream) == cudaSuccess);
    CHECK(cudaMemcpyFromSymbolAsync(&back, static_cast<const void*>(&holder), 4, 4,
                                    cudaMemcpyDeviceToHost, stream) == cudaSuccess);
    CHECK(cudaStreamSynchronize(stream) == cudaSuccess);
    CHECK(back.values[0] == 5);
    CHECK(cudaStreamDestroy(stream) == cudaSuccess);
    void* address = nullptr;
    int* typed = nullptr;
    size_t size = 0;
    CHECK(cudaGetSymbolAddress(&address, table) == cudaSuccess);
    CHECK(cudaGetSymbolAddress(reinterpret_cast<void**>(&typed),
                               static_cast<const void*>(&counter)) == cudaSuccess);
    CHECK((address != nullptr && typed != nullptr));
    CHECK((cudaGetSymbolSize(&size, table) == cudaSuccess && size == 12));
    CHECK(
        (cudaGetSymbolSize(&size, static_cast<const void*>(&holder)) == cudaSuccess && size == 8));
}

TEST_CASE("a pointer to a variable of the device, a part or a name of it is no symbol") {
    const float values[3] = {1, 2, 3};
    float read[3] = {};
    void* address = nullptr;
    size_t size = 0;
    float* const pointer = read;
    CHECK(cudaMemcpyToSymbol(&table, values, sizeof values) == cudaErrorInvalidSymbol);
    CHECK(cudaMemcpyToSymbol(&table[1], values, 4) == cudaErrorInvalidSymbol);
    CHECK(cudaMemcpyToSymbol(table[1], values, 4) == cudaErrorInvalidSymbol);
    CHECK(cudaMemcpyToSymbol("table", values, 4) == cudaErrorInvalidSymbol);
    CHECK(cudaMemcpyFromSymbol(read, &counter, 4) == cudaErrorInvalidSymbol);
    CHECK(cudaMemcpyFromSymbol(read, pointer, 4) == cudaErrorInvalidSymbol);
    CHECK(cudaGetSymbolAddress(&address, &counter) == cudaErrorInvalidSymbol);
    CHECK(cudaGetSymbolSize(&size, &counter) == cudaErrorInvalidSymbol);
    CHECK(cudaGetLastError() == cudaErrorInvalidSymbol);
    CHECK(cudaMemcpyToSymbol(table, values, 12, 4) == cudaErrorInvalidValue);
    CHECK(cudaGetLastError() == cudaErrorInvalidValue);
}

}  // namespace symbols_tests
