// SPDX-License-Identifier: MIT
// Loads and stores with cache hints move what they say, for every type they take.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstring>
#include <vector>

#include "common/cpu_device/tests/device_map.cuh"

namespace cache_hints_tests {

// Element i of y is made of element i of x by way of one load and one store.
template <class T>
__global__ void hints_kernel(const T* x, T* y) {
    y[0] = __ldg(x + 0);
    y[1] = __ldca(x + 1);
    y[2] = __ldcg(x + 2);
    y[3] = __ldcs(x + 3);
    y[4] = __ldcv(x + 4);
    y[5] = __ldlu(x + 5);
    __stwb(y + 6, x[6]);
    __stcg(y + 7, x[7]);
    __stcs(y + 8, x[8]);
    __stwt(y + 9, x[9]);
}

template <class T>
void check_hints() {
    std::vector<T> x(10);
    std::vector<unsigned char> pattern(sizeof(T) * x.size());
    for (size_t i = 0; i < pattern.size(); ++i) pattern[i] = static_cast<unsigned char>(31 * i + 7);
    std::memcpy(static_cast<void*>(x.data()), pattern.data(), pattern.size());
    DeviceVector<T> device_x(x), y{std::vector<T>(x.size())};
    hints_kernel<T><<<1, 1>>>(device_x.data(), y.data());
    require_success();
    CAPTURE(sizeof(T));
    CHECK(std::memcmp(y.values().data(), x.data(), pattern.size()) == 0);
}

TEST_CASE("loads and stores with cache hints") {
    check_hints<char>();
    check_hints<short>();
    check_hints<unsigned>();
    check_hints<long long>();
    check_hints<float>();
    check_hints<double>();
    check_hints<float2>();
    check_hints<float4>();
    check_hints<double2>();
    check_hints<uint4>();
    check_hints<short4>();
    check_hints<uchar4>();
    check_hints<__half>();
    check_hints<__half2>();
    check_hints<__nv_bfloat16>();
    check_hints<__nv_bfloat162>();
}

}  // namespace cache_hints_tests
