// SPDX-License-Identifier: MIT
// What tests of PTX's instructions share. A list of forms is a macro whose rows are
//   FORM(name, what d is, asm(...))
// and which stands twice: in a kernel, where the asm writes d, and in a function of the host, which computes d.
// Both see the operands as variables.
#pragma once
#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "common/testing/catch.hpp"
#include "common/testing/skip.hpp"

namespace ptx_tests {

struct Operands {
    uint64_t a, b, c;
};

struct Expected {
    const char* name;
    uint64_t bits;
    double
        tolerance;  // where it is not 0, the bits are a double's that a float must be as near as that
};

template <class T>
__host__ __device__ inline uint64_t bits_of(T value) {
    uint64_t bits = 0;
    static_assert(sizeof(T) <= sizeof(bits), "a register");
    memcpy(&bits, &value, sizeof(T));
    return bits;
}

// In a kernel: `results` is where the thread's results begin, `step` lies between them. Some forms exist from sm_90 on.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
#define PTX_ON_DEVICE(name, what, ...)
#else
#define PTX_ON_DEVICE(name, what, ...) \
    {                                  \
        Result d{};                    \
        __VA_ARGS__;                   \
        *results = bits_of(d);         \
        results += step;               \
    }
#endif
#define PTX_ON_HOST(name, what, ...)                          \
    {                                                         \
        const Result d = static_cast<Result>(what);           \
        expected.push_back({name, ptx_tests::bits_of(d), 0}); \
    }

#define PTX_NEAR_ON_DEVICE(name, what, tolerance, ...) PTX_ON_DEVICE(name, what, __VA_ARGS__)
#define PTX_NEAR_ON_HOST(name, what, tolerance, ...) \
    expected.push_back({name, ptx_tests::bits_of(static_cast<double>(what)), tolerance});

// Random operands, after all triples of the special ones that fit.
inline std::vector<Operands> operands_with(const std::vector<uint64_t>& special, size_t count) {
    std::mt19937_64 random(1);
    std::vector<Operands> result;
    for (size_t i = 0; i < special.size(); ++i) {
        for (size_t j = 0; j < special.size(); ++j)
            result.push_back({special[i], special[j], special[(i + 3 * j) % special.size()]});
    }
    while (result.size() < count) result.push_back({random(), random(), random()});
    return result;
}

// Whether a result is what it should be.
using Same = bool (*)(uint64_t got, const Expected& expected);
inline bool same_bits(uint64_t got, const Expected& expected) {
    return got == expected.bits;
}
inline bool near(uint64_t got, const Expected& expected) {
    float result = 0;
    double exact = 0;
    memcpy(&result, &got, sizeof(result));
    memcpy(&exact, &expected.bits, sizeof(exact));
    return std::fabs(static_cast<double>(result) - exact) <= expected.tolerance;
}

using Kernel = void (*)(const Operands* operands, uint64_t* results, size_t count);
using Plain = std::vector<Expected> (*)(const Operands& operands);

// Holds the results of the kernel's forms to those of the host's function.
inline void check_forms(Kernel kernel, Plain plain, const std::vector<Operands>& operands,
                        Same same = same_bits) {
    int major = 0;
    REQUIRE(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0) == cudaSuccess);
    if (major < 9) return testing::skip("PTX of sm_90 needs such a GPU");
    const size_t count = operands.size(), forms = plain(operands[0]).size();
    Operands* in = nullptr;
    uint64_t* out = nullptr;
    REQUIRE(cudaMalloc(&in, count * sizeof(Operands)) == cudaSuccess);
    REQUIRE(cudaMalloc(&out, count * forms * sizeof(uint64_t)) == cudaSuccess);
    REQUIRE(cudaMemcpy(in, operands.data(), count * sizeof(Operands), cudaMemcpyHostToDevice) ==
            cudaSuccess);
    constexpr unsigned kThreads = 128;
    kernel<<<static_cast<unsigned>((count + kThreads - 1) / kThreads), kThreads>>>(in, out, count);
    REQUIRE(cudaGetLastError() == cudaSuccess);
    std::vector<uint64_t> results(count * forms);
    REQUIRE(cudaMemcpy(results.data(), out, results.size() * sizeof(uint64_t),
                       cudaMemcpyDeviceToHost) == cudaSuccess);
    cudaFree(in);
    cudaFree(out);

    std::vector<size_t> wrong(forms);
    for (size_t i = 0; i < count; ++i) {
        const std::vector<Expected> expected = plain(operands[i]);
        for (size_t form = 0; form < forms; ++form) {
            const uint64_t got = results[form * count + i];
            if (same(got, expected[form])) continue;
            if (wrong[form]++ != 0) continue;
            std::ostringstream said;
            said << expected[form].name << std::hex << " of " << operands[i].a << ", "
                 << operands[i].b << ", " << operands[i].c << " is " << got << ", not "
                 << expected[form].bits;
            INFO(said.str());
            CHECK(same(got, expected[form]));
        }
    }
    CHECK(forms > 0);
}

}  // namespace ptx_tests
