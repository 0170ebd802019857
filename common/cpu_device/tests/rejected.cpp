// SPDX-License-Identifier: MIT
// Kernels that do not compile for the CPU device: what the compiler says must be a sentence that helps.
#include <string>

#include "common/testing/catch.hpp"
#include "common/testing/folder.hpp"
#include "common/testing/shell.hpp"

namespace {

// What the compiler prints for a file with these lines; empty if it compiles.
std::string complaints(const std::string& includes, const std::string& lines) {
    const Folder folder;
    folder.write("k.cpp", includes + "\n" + lines + "\n");
    return testing::ran_in(folder.path, "'" CPU_DEVICE_TEST_COMPILER
                                        "' -std=c++17 -O1 -w -I '" CPU_DEVICE_TEST_INCLUDE
                                        "' -c k.cpp -o /dev/null")
        .text;
}

TEST_CASE("what CUDA takes, compiles") {
    CHECK(complaints("#include <cuda_runtime.h>",
                     "__global__ void kernel(float4* x) { x[0] = __ldg(x + 1); }")
              .empty());
}

TEST_CASE("types that CUDA's functions do not take") {
    const std::string runtime = "#include <cuda_runtime.h>";
    CHECK_THAT(
        complaints(runtime,
                   "struct Pair { float a, b; };\n"
                   "__global__ void kernel(Pair* x) { x[0] = __shfl_xor_sync(~0u, x[1], 1); }"),
        ContainsSubstring("a struct goes member by member"));
    CHECK_THAT(complaints(runtime, "__global__ void kernel(long* x) { atomicAdd(x, 1); }"),
               ContainsSubstring("atomicAdd takes int, unsigned, unsigned long long"));
    CHECK_THAT(complaints(runtime, "__global__ void kernel(float* x) { atomicMax(x, 1); }"),
               ContainsSubstring("atomicMax takes int"));
    CHECK_THAT(complaints(runtime, "__global__ void kernel(double4* x) { x[0] = __ldg(x + 1); }"),
               ContainsSubstring("packs of at most 16 bytes"));
}

TEST_CASE("what the CPU device does not have") {
    CHECK_THAT(complaints("#include <cooperative_groups.h>",
                          "namespace cg = cooperative_groups;\n"
                          "__global__ void kernel() {\n"
                          "    cg::tiled_partition<64>(cg::this_thread_block()).sync();\n"
                          "}"),
               ContainsSubstring("tiles of 1, 2, 4, 8, 16 and 32 threads"));
    CHECK_THAT(
        complaints("#include <cuda_runtime.h>",
                   "__device__ int factorial(int n) { return n < 2 ? 1 : n * factorial(n - 1); }\n"
                   "__global__ void kernel(int* x) { *x = factorial(*x); }"),
        ContainsSubstring("recursive"));
}

}  // namespace
