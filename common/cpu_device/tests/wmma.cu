// SPDX-License-Identifier: MIT
// Fragments: products of every shape, type and layout, what moves them, and their wrong uses.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <mma.h>

#include <algorithm>
#include <string>
#include <vector>

#include "common/cpu_device/tests/failures.cuh"
#include "common/cpu_device/tests/recorded_accesses.hpp"

extern __shared__ __align__(32) unsigned char shared_bytes[];

namespace wmma_tests {

using namespace nvcuda::wmma;

template <class T>
float value(T x) {
    return static_cast<float>(x);
}

// Small whole numbers, whose products are exact.
template <class T>
std::vector<T> numbers(int count, int seed) {
    std::vector<T> all;
    for (int i = 0; i < count; ++i)
        all.push_back(static_cast<T>(static_cast<float>((i * 7 + seed) % 11 - 5)));
    return all;
}

// T is what elements are kept in, Element what they are.
template <int m, int n, int k, class Element, class T, class Sum, class LayoutA, class LayoutB>
__global__ void multiply_kernel(const T* a, const T* b, const Sum* c, Sum* d, int lda, int ldb,
                                int ldc, layout_t layout) {
    fragment<matrix_a, m, n, k, Element, LayoutA> of_a;
    fragment<matrix_b, m, n, k, Element, LayoutB> of_b;
    fragment<accumulator, m, n, k, Sum> sum;
    load_matrix_sync(of_a, a, lda);
    load_matrix_sync(of_b, b, ldb);
    load_matrix_sync(sum, c, ldc, layout);
    for (int i = 0; i < of_a.num_elements; ++i) of_a.x[i] = of_a.x[i] * T(2.f);
    mma_sync(sum, of_a, of_b, sum);
    store_matrix_sync(d, sum, ldc, layout);
}

// 2 a b + c against plain loops. The lines of a, b and c lie further apart than they are long.
template <int m, int n, int k, class Element, class T, class Sum, class LayoutA, class LayoutB>
void check_product(layout_t layout) {
    const bool a_by_rows = std::is_same_v<LayoutA, row_major>;
    const bool b_by_rows = std::is_same_v<LayoutB, row_major>;
    const bool c_by_rows = layout == mem_row_major;
    constexpr int kApart = 40;
    const auto at = [](bool by_rows, int row, int col) {
        return static_cast<size_t>(by_rows ? row * kApart + col : col * kApart + row);
    };
    constexpr int kSize = 32 * kApart;
    const auto a = numbers<T>(kSize, 1), b = numbers<T>(kSize, 2);
    const auto c = numbers<Sum>(kSize, 3);
    DeviceArray<T> on_a(kSize), on_b(kSize);
    DeviceArray<Sum> on_c(kSize), on_d(kSize);
    on_a.fill(a);
    on_b.fill(b);
    on_c.fill(c);
    on_d.fill(std::vector<Sum>(kSize, Sum(-999.f)));
    multiply_kernel<m, n, k, Element, T, Sum, LayoutA, LayoutB><<<1, 32>>>(
        on_a.data(), on_b.data(), on_c.data(), on_d.data(), kApart, kApart, kApart, layout);
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    const std::vector<Sum> d = on_d.read();
    int wrong = 0, untouched = 0;
    for (int row = 0; row < m; ++row) {
        for (int col = 0; col < n; ++col) {
            float want = value(c[at(c_by_rows, row, col)]);
            for (int p = 0; p < k; ++p)
                want += 2 * value(a[at(a_by_rows, row, p)]) * value(b[at(b_by_rows, p, col)]);
            wrong += value(d[at(c_by_rows, row, col)]) != want;
        }
    }
    for (const Sum each : d) untouched += value(each) == -999;
    INFO(m << " x " << n << ", " << a_by_rows << b_by_rows << c_by_rows);
    CHECK(wrong == 0);
    CHECK(untouched == kSize - m * n);
}

template <int m, int n, int k, class Element, class T, class Sum>
void check_layouts() {
    for (const layout_t layout : {mem_row_major, mem_col_major}) {
        check_product<m, n, k, Element, T, Sum, row_major, row_major>(layout);
        check_product<m, n, k, Element, T, Sum, row_major, col_major>(layout);
        check_product<m, n, k, Element, T, Sum, col_major, row_major>(layout);
        check_product<m, n, k, Element, T, Sum, col_major, col_major>(layout);
    }
}

template <class T, class Sum>
void check_shapes() {
    check_layouts<16, 16, 16, T, T, Sum>();
    check_layouts<32, 8, 16, T, T, Sum>();
    check_layouts<8, 32, 16, T, T, Sum>();
}

TEST_CASE("fragments multiply in every shape, type and layout") {
    check_shapes<__half, float>();
    check_shapes<__half, __half>();
    check_shapes<__nv_bfloat16, float>();
    check_layouts<16, 16, 8, precision::tf32, float, float>();
}

TEST_CASE("tf32 keeps 10 bits of mantissa") {
    CHECK(__float_to_tf32(1.f + 0x1p-11f) == 1.f + 0x1p-10f);  // halfway, away from 0
    CHECK(__float_to_tf32(-1.f - 0x1p-11f) == -1.f - 0x1p-10f);
    CHECK(__float_to_tf32(1.f + 0x1p-12f) == 1.f);
    CHECK(__float_to_tf32(INFINITY) == INFINITY);
}

TEST_CASE("fragments have as many elements as in the toolkit's mma.h") {
    CHECK(fragment<matrix_a, 16, 16, 16, __half, row_major>::num_elements == 16);
    CHECK(fragment<matrix_b, 32, 8, 16, __half, row_major>::num_elements == 16);
    CHECK(fragment<matrix_a, 16, 16, 16, __nv_bfloat16, row_major>::num_elements == 8);
    CHECK(fragment<matrix_a, 32, 8, 16, __nv_bfloat16, row_major>::num_elements == 16);
    CHECK(fragment<matrix_b, 32, 8, 16, __nv_bfloat16, col_major>::num_elements == 4);
    CHECK(fragment<matrix_a, 8, 32, 16, __nv_bfloat16, col_major>::num_elements == 4);
    CHECK(fragment<matrix_b, 8, 32, 16, __nv_bfloat16, row_major>::num_elements == 16);
    CHECK(fragment<matrix_a, 16, 16, 8, precision::tf32, row_major>::num_elements == 4);
    CHECK(fragment<matrix_b, 16, 16, 8, precision::tf32, col_major>::num_elements == 4);
    CHECK(fragment<accumulator, 16, 16, 16, float>::num_elements == 8);
    CHECK(fragment<accumulator, 8, 32, 16, __half>::num_elements == 8);
}

// One half has digits that the product of others would push out of a float.
__global__ void round_kernel(float* to) {
    fragment<matrix_a, 16, 16, 16, __half, row_major> a;
    fragment<matrix_b, 16, 16, 16, __half, col_major> b;
    fragment<accumulator, 16, 16, 16, float> sum;
    fill_fragment(a, 1.f);
    fill_fragment(b, 0.25f);
    fill_fragment(sum, 16777216.f);  // 2^24: a single 0.25 more changes nothing, 16 of them do
    mma_sync(sum, a, b, sum);
    store_matrix_sync(to, sum, 16, mem_row_major);
}

TEST_CASE("a product is added up exactly and rounded once") {
    DeviceArray<float> to(256);
    round_kernel<<<1, 32>>>(to.data());
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    for (const float each : to.read()) CHECK(each == 16777220.f);
}

// ---------------------------------------------------------------- what is moved

template <class Fragment, class T>
__global__ void load_kernel(const T* from, T* to) {
    auto* tile = reinterpret_cast<T*>(shared_bytes);
    for (unsigned i = threadIdx.x; i < 1024; i += 32) tile[i] = from[i];
    __syncwarp();
    Fragment f;
    load_matrix_sync(f, tile, 24);
    to[threadIdx.x] = f.x[0];
}

template <class T, class Use, int m, int n, class Layout>
std::string loads_from_shared() {
    DeviceArray<T> from(1024), to(32);
    from.fill(numbers<T>(1024, 1));
    const std::string all = accesses_of(
        [&] {
            load_kernel<fragment<Use, m, n, 16, T, Layout>>
                <<<1, 32, 4096>>>(static_cast<const T*>(from.data()), to.data());
        },
        "shared load");
    CHECK(cudaGetLastError() == cudaSuccess);
    return all;
}

template <class T, class Use, int m, int n, class Layout>
__global__ void load_global_kernel(const T* from, T* to) {
    fragment<Use, m, n, 16, T, Layout> f;
    load_matrix_sync(f, from, 24);
    to[threadIdx.x] = f.x[0];
}

template <class T, class Use, int m, int n, class Layout>
std::string loads_from_global() {
    DeviceArray<T> from(1024), to(32);
    from.fill(numbers<T>(1024, 1));
    const std::string all = accesses_of(
        [&] { load_global_kernel<T, Use, m, n, Layout><<<1, 32>>>(from.data(), to.data()); },
        "global load");
    CHECK(cudaGetLastError() == cudaSuccess);
    return all;
}

// As in nvcc's machine code for sm_90: LDSM .x4 or .x2 of half in shared memory, else four bytes of each
// block.
TEST_CASE("what a load of A or B touches") {
    CHECK(loads_from_shared<__half, matrix_a, 16, 16, row_major>() == "shared load 16: 32");
    CHECK(loads_from_shared<__half, matrix_b, 16, 16, row_major>() == "shared load 16: 32");
    CHECK(loads_from_shared<__half, matrix_b, 16, 16, col_major>() == "shared load 16: 32");
    CHECK(loads_from_shared<__half, matrix_a, 32, 8, row_major>() == "shared load 16: 64");
    CHECK(loads_from_shared<__half, matrix_b, 32, 8, col_major>() == "shared load 16: 16");
    CHECK(loads_from_shared<__half, matrix_a, 8, 32, row_major>() == "shared load 16: 16");
    CHECK(loads_from_shared<__nv_bfloat16, matrix_a, 16, 16, row_major>() == "shared load 4: 128");
    CHECK(loads_from_shared<__nv_bfloat16, matrix_b, 32, 8, col_major>() == "shared load 4: 64");
    CHECK(loads_from_global<__half, matrix_a, 16, 16, col_major>() == "global load 4: 128");
    CHECK(loads_from_global<__half, matrix_a, 32, 8, row_major>() == "global load 4: 256");
    CHECK(loads_from_global<__nv_bfloat16, matrix_b, 8, 32, row_major>() == "global load 4: 256");
}

template <class Sum, int m, int n>
__global__ void sums_kernel(Sum* to, layout_t layout) {
    fragment<accumulator, m, n, 16, Sum> sum;
    load_matrix_sync(sum, to, 32, layout);
    store_matrix_sync(to, sum, 32, layout);
}

template <class Sum, int m, int n>
std::string moves_of_sums(layout_t layout) {
    DeviceArray<Sum> to(1024);
    to.fill(numbers<Sum>(1024, 1));
    const std::string all =
        accesses_of([&] { sums_kernel<Sum, m, n><<<1, 32>>>(to.data(), layout); });
    CHECK(cudaGetLastError() == cudaSuccess);
    return all;
}

TEST_CASE("what a load or store of accumulators touches") {
    const std::string pairs = "global load 8: 128, global store 8: 128";
    const std::string singles = "global load 4: 256, global store 4: 256";
    const std::string halves = "global load 4: 128, global store 4: 128";
    CHECK(moves_of_sums<float, 16, 16>(mem_row_major) == pairs);
    CHECK(moves_of_sums<float, 16, 16>(mem_col_major) == singles);
    CHECK(moves_of_sums<float, 32, 8>(mem_row_major) == pairs);
    CHECK(moves_of_sums<float, 8, 32>(mem_row_major) == singles);
    CHECK(moves_of_sums<float, 8, 32>(mem_col_major) == pairs);
    CHECK(moves_of_sums<__half, 16, 16>(mem_row_major) == halves);
    CHECK(moves_of_sums<__half, 16, 16>(mem_col_major) == halves);
}

// ---------------------------------------------------------------- wrong uses

enum class Mistake { none, exited, elsewhere, another_address, misaligned, odd_lines };

__global__ void wrong_kernel(const __half* from, __half* to, Mistake mistake) {
    const unsigned lane = threadIdx.x;
    if (mistake == Mistake::exited && lane == 5) return;
    fragment<matrix_a, 16, 16, 16, __half, row_major> f;
    if (mistake == Mistake::elsewhere && lane == 7) {
        __syncwarp();
    } else {
        const __half* mine = mistake == Mistake::another_address && lane > 2 ? from + 16 : from;
        if (mistake == Mistake::misaligned) mine = from + 8;
        load_matrix_sync(f, mine, mistake == Mistake::odd_lines ? 20 : 16);
    }
    to[lane] = f.x[0];
}

void check_mistake(Mistake mistake, cudaError_t code, std::initializer_list<std::string> parts,
                   unsigned threads = 32) {
    DeviceArray<__half> from(512), to(32);
    from.fill(numbers<__half>(512, 1));
    wrong_kernel<<<1, threads>>>(from.data(), to.data(), mistake);
    check_failure(code, parts);
}

// All elements are 1. The first four lanes pass `metadata`: rows 0 and 8 are theirs.
template <int kSelector>
__global__ void sparse_kernel(float* to, unsigned metadata) {
    float d[4] = {};
    const unsigned ones = 0x3c003c00u, e = threadIdx.x < 4 ? metadata : 0x44444444u;
    asm volatile(
        "mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
        "{%4, %4}, {%4, %4}, {%0, %1, %2, %3}, %5, %6;"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(ones), "r"(e), "n"(kSelector));
    to[threadIdx.x] = d[0];
}

TEST_CASE("metadata of a sparse matrix name two elements, in order, and the selector some lane") {
    DeviceArray<float> to(32);
    sparse_kernel<3><<<1, 32>>>(to.data(), 0xedc98e44u);
    CHECK(to.read() == std::vector<float>(32, 8));
    sparse_kernel<0><<<1, 32>>>(to.data(), 0x44444454u);
    check_failure(cudaErrorIllegalInstruction,
                  {"mma.sp: the metadata of row 0, elements 4 to 7, are 0x5: they name the same "
                   "element twice"});
    sparse_kernel<0><<<1, 32>>>(to.data(), 0x44144444u);
    check_failure(cudaErrorIllegalInstruction,
                  {"row 8, elements 4 to 7, are 0x1: with ::ordered_metadata the first element "
                   "named is the lower one"});
    sparse_kernel<4><<<1, 32>>>(to.data(), 0x44444444u);
    check_failure(cudaErrorIllegalInstruction, {"mma.sp has the selector 4, which ends at 3"});
}

TEST_CASE("a warp's matrix wants all of its lanes, and one matrix of all") {
    check_mistake(Mistake::exited, cudaErrorLaunchFailure,
                  {"wmma::load_matrix_sync needs all 32 lanes of a warp, and lane 5 has exited"});
    check_mistake(Mistake::none, cudaErrorLaunchFailure,
                  {"lane 20 is not there: the block's size is no multiple of 32"}, 20);
    check_mistake(
        Mistake::elsewhere, cudaErrorLaunchFailure,
        {"waits in wmma::load_matrix_sync for lanes of its mask 0xffffffff that never arrive: "
         "lane 7 waits in __syncwarp"});
    check_mistake(
        Mistake::another_address, cudaErrorLaunchFailure,
        {"wmma::load_matrix_sync wants one matrix of all lanes: lane 3 gives another address or "
         "distance of lines than lane 0"});
    check_mistake(Mistake::misaligned, cudaErrorMisalignedAddress,
                  {"wmma::load_matrix_sync at 0x", "the address must be a multiple of 32"});
    check_mistake(
        Mistake::odd_lines, cudaErrorMisalignedAddress,
        {"wmma::load_matrix_sync with lines 20 elements apart: it must be a multiple of 8"});
}

__global__ void beyond_kernel(const float* from, float* to) {
    fragment<accumulator, 16, 16, 16, float> sum;
    load_matrix_sync(sum, from, 16, mem_row_major);
    store_matrix_sync(to, sum, 16, mem_row_major);
}

TEST_CASE("a fragment that is stored beyond the memory that there is") {
    DeviceArray<float> from(256), to(250);
    from.fill(numbers<float>(256, 1));
    beyond_kernel<<<1, 32>>>(from.data(), to.data());
    check_failure(cudaErrorIllegalAddress, {"kernel beyond_kernel", "store"});
}

__global__ void half_product_kernel(float* to) {
    fragment<matrix_a, 16, 16, 16, __half, row_major> a;
    fragment<matrix_b, 16, 16, 16, __half, row_major> b;
    fragment<accumulator, 16, 16, 16, float> sum;
    fill_fragment(a, 1.f);
    fill_fragment(b, 1.f);
    fill_fragment(sum, 0.f);
    if (threadIdx.x < 16) mma_sync(sum, a, b, sum);
    __syncwarp();
    to[threadIdx.x] = sum.x[0];
}

TEST_CASE("half a warp multiplies nothing") {
    DeviceArray<float> to(32);
    half_product_kernel<<<1, 32>>>(to.data());
    check_failure(cudaErrorLaunchFailure,
                  {"waits in wmma::mma_sync", "lane 16 waits in __syncwarp"});
}

}  // namespace wmma_tests
