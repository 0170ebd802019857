// SPDX-License-Identifier: MIT
// Instructions on a warp's matrices, bit by bit against plain loops over small whole numbers.
#include <cuda_runtime.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "common/cpu_device/tests/ptx/elements.cuh"
#include "common/testing/catch.hpp"

namespace ptx_tests {
namespace {

constexpr unsigned kLanes = 32;

// ---------------------------------------------------------------- one instruction

// Registers of a lane: those of A, then of B, then of C; D goes where C was.
struct Shape {
    int m, k;
    ElementFormat a, b;
    ElementFormat sum;  // of f32, s32: 32 bits

    int word() const { return a.bits == 64 ? 64 : 32; }
    int per_register() const { return word() / a.bits; }
    int of_a() const { return m * k / 32 / per_register(); }
    int of_b() const { return 8 * k / 32 / per_register(); }
    int of_c() const { return m / 4 * sum.bits / word(); }
};
// The tables of the PTX ISA: which element is number i in register r of a lane.
int row_of_a(const Shape& shape, unsigned lane, int r) {
    return static_cast<int>(lane / 4) + (shape.m == 16 && r % 2 == 1 ? 8 : 0);
}
int depth_of_a(const Shape& shape, unsigned lane, int r, int i) {
    const int group = shape.m == 16 ? r / 2 : r;
    return static_cast<int>(lane % 4) * shape.per_register() + i + group * 4 * shape.per_register();
}
int depth_of_b(const Shape& shape, unsigned lane, int r, int i) {
    return static_cast<int>(lane % 4) * shape.per_register() + i + r * 4 * shape.per_register();
}
int row_of_c(unsigned lane, int i) {
    return static_cast<int>(lane / 4) + 8 * (i / 2);
}
int column_of_c(unsigned lane, int i) {
    return static_cast<int>(lane % 4) * 2 + i % 2;
}

enum class Products { multiplied, differing, both };  // of bits: xor.popc, and.popc

using Launch = void (*)(const uint64_t* in, uint64_t* out);

void check_launch(Launch launch, const std::vector<uint64_t>& in,
                  const std::vector<uint64_t>& wanted) {
    std::vector<uint64_t> got(wanted.size());
    uint64_t *from = nullptr, *to = nullptr;
    REQUIRE(cudaMalloc(&from, in.size() * sizeof(uint64_t)) == cudaSuccess);
    REQUIRE(cudaMalloc(&to, got.size() * sizeof(uint64_t)) == cudaSuccess);
    REQUIRE(cudaMemcpy(from, in.data(), in.size() * sizeof(uint64_t), cudaMemcpyHostToDevice) ==
            cudaSuccess);
    launch(from, to);
    REQUIRE(cudaMemcpy(got.data(), to, got.size() * sizeof(uint64_t), cudaMemcpyDeviceToHost) ==
            cudaSuccess);
    cudaFree(from);
    cudaFree(to);
    CHECK(got == wanted);
}

void check(const std::string& name, const Shape& shape, Launch launch,
           Products products = Products::multiplied) {
    INFO(name);
    const auto a = [&](int row, int k) { return element(shape.a, row * shape.k + k, 3); };
    const auto b = [&](int k, int column) { return element(shape.b, k * 8 + column, 1); };
    const auto c = [&](int row, int column) { return element(shape.sum, row * 8 + column, 2); };
    const int count = shape.of_a() + shape.of_b() + shape.of_c();
    std::vector<uint64_t> in(kLanes * static_cast<size_t>(count)), wanted;
    for (unsigned lane = 0; lane < kLanes; ++lane) {
        uint64_t* to = &in[lane * static_cast<size_t>(count)];
        for (int r = 0; r < shape.of_a(); ++r, ++to) {
            for (int i = 0; i < shape.per_register(); ++i)
                *to |= shape.a.of(a(row_of_a(shape, lane, r), depth_of_a(shape, lane, r, i)))
                       << i * shape.a.bits;
        }
        for (int r = 0; r < shape.of_b(); ++r, ++to) {
            for (int i = 0; i < shape.per_register(); ++i)
                *to |= shape.b.of(b(depth_of_b(shape, lane, r, i), static_cast<int>(lane / 4)))
                       << i * shape.b.bits;
        }
        const int per_sum = shape.word() / shape.sum.bits;
        for (int i = 0; i < shape.m / 4; ++i) {
            const int row = row_of_c(lane, i), column = column_of_c(lane, i);
            to[i / per_sum] |= shape.sum.of(c(row, column)) << i % per_sum * shape.sum.bits;
            int sum = c(row, column);
            for (int k = 0; k < shape.k; ++k) {
                sum += products == Products::differing ? a(row, k) != b(k, column)
                                                       : a(row, k) * b(k, column);
            }
            if (i % per_sum == 0) wanted.push_back(0);
            wanted.back() |= shape.sum.of(sum) << i % per_sum * shape.sum.bits;
        }
    }
    check_launch(launch, in, wanted);
}

template <class T>
__device__ T as(uint64_t value) {
    T result;
    memcpy(&result, &value, sizeof(T));
    return result;
}
template <class T>
__device__ uint64_t bits(T value) {
    uint64_t result = 0;
    memcpy(&result, &value, sizeof(T));
    return result;
}

// The lane's registers of A, B and C.
template <class Word, class Sum, int na, int nb, int nc>
__device__ void load(Word (&a)[na], Word (&b)[nb], Sum (&d)[nc], const uint64_t* in) {
    const uint64_t* const mine = in + threadIdx.x * (na + nb + nc);
    for (int i = 0; i < na; ++i) a[i] = as<Word>(mine[i]);
    for (int i = 0; i < nb; ++i) b[i] = as<Word>(mine[na + i]);
    for (int i = 0; i < nc; ++i) d[i] = as<Sum>(mine[na + nb + i]);
}
template <class Sum, int nc>
__device__ void store(const Sum (&d)[nc], uint64_t* out) {
    for (int i = 0; i < nc; ++i) out[threadIdx.x * nc + i] = bits(d[i]);
}

#define MMA_KERNEL(kernel, Word, Sum, na, nb, nc, instruction)  \
    __global__ void kernel(const uint64_t* in, uint64_t* out) { \
        Word a[na], b[nb];                                      \
        Sum d[nc];                                              \
        load(a, b, d, in);                                      \
        instruction;                                            \
        store(d, out);                                          \
    }                                                           \
    void launch_##kernel(const uint64_t* in, uint64_t* out) {   \
        kernel<<<1, kLanes>>>(in, out);                         \
    }

#define ASM_1_1_2(shape, d_type, a_type, b_type, D, A)                                  \
    asm volatile("mma.sync.aligned." #shape ".row.col." #d_type "." #a_type "." #b_type \
                 "." #d_type                                                            \
                 ""                                                                     \
                 " {%0, %1}, {%2}, {%3}, {%0, %1};"                                     \
                 : D(d[0]), D(d[1])                                                     \
                 : A(a[0]), A(b[0]))
#define ASM_2_1_2(shape, d_type, a_type, b_type, D, A)                                  \
    asm volatile("mma.sync.aligned." #shape ".row.col." #d_type "." #a_type "." #b_type \
                 "." #d_type                                                            \
                 ""                                                                     \
                 " {%0, %1}, {%2, %3}, {%4}, {%0, %1};"                                 \
                 : D(d[0]), D(d[1])                                                     \
                 : A(a[0]), A(a[1]), A(b[0]))
#define ASM_4_2_2(shape, d_type, a_type, b_type, D, A)                                  \
    asm volatile("mma.sync.aligned." #shape ".row.col." #d_type "." #a_type "." #b_type \
                 "." #d_type                                                            \
                 ""                                                                     \
                 " {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%0, %1};"                     \
                 : D(d[0]), D(d[1])                                                     \
                 : A(a[0]), A(a[1]), A(a[2]), A(a[3]), A(b[0]), A(b[1]))
#define ASM_2_1_4(shape, d_type, a_type, b_type, D, A)                                  \
    asm volatile("mma.sync.aligned." #shape ".row.col." #d_type "." #a_type "." #b_type \
                 "." #d_type                                                            \
                 ""                                                                     \
                 " {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"                 \
                 : D(d[0]), D(d[1]), D(d[2]), D(d[3])                                   \
                 : A(a[0]), A(a[1]), A(b[0]))
#define ASM_4_2_4(shape, d_type, a_type, b_type, D, A)                                  \
    asm volatile("mma.sync.aligned." #shape ".row.col." #d_type "." #a_type "." #b_type \
                 "." #d_type                                                            \
                 ""                                                                     \
                 " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"     \
                 : D(d[0]), D(d[1]), D(d[2]), D(d[3])                                   \
                 : A(a[0]), A(a[1]), A(a[2]), A(a[3]), A(b[0]), A(b[1]))
#define ASM_8_4_4(shape, d_type, a_type, b_type, D, A)                                           \
    asm volatile("mma.sync.aligned." #shape ".row.col." #d_type "." #a_type "." #b_type          \
                 "." #d_type                                                                     \
                 ""                                                                              \
                 " {%0, %1, %2, %3}, {%4, %5, %6, %7, %8, %9, %10, %11}, {%12, %13, %14, %15}, " \
                 "{%0, %1, %2, %3};"                                                             \
                 : D(d[0]), D(d[1]), D(d[2]), D(d[3])                                            \
                 : A(a[0]), A(a[1]), A(a[2]), A(a[3]), A(a[4]), A(a[5]), A(a[6]), A(a[7]),       \
                   A(b[0]), A(b[1]), A(b[2]), A(b[3]))
#define ASM_4_2_4_satfinite(shape, d_type, a_type, b_type, D, A)                                  \
    asm volatile("mma.sync.aligned." #shape ".row.col.satfinite." #d_type "." #a_type "." #b_type \
                 "." #d_type                                                                      \
                 ""                                                                               \
                 " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"               \
                 : D(d[0]), D(d[1]), D(d[2]), D(d[3])                                             \
                 : A(a[0]), A(a[1]), A(a[2]), A(a[3]), A(b[0]), A(b[1]))
#define ASM_2_1_4_popc(shape, d_type, a_type, b_type, D, A)                             \
    asm volatile("mma.sync.aligned." #shape ".row.col." #d_type "." #a_type "." #b_type \
                 "." #d_type                                                            \
                 ".and.popc"                                                            \
                 " {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"                 \
                 : D(d[0]), D(d[1]), D(d[2]), D(d[3])                                   \
                 : A(a[0]), A(a[1]), A(b[0]))
#define ASM_4_2_4_popc(shape, d_type, a_type, b_type, D, A)                             \
    asm volatile("mma.sync.aligned." #shape ".row.col." #d_type "." #a_type "." #b_type \
                 "." #d_type                                                            \
                 ".and.popc"                                                            \
                 " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"     \
                 : D(d[0]), D(d[1]), D(d[2]), D(d[3])                                   \
                 : A(a[0]), A(a[1]), A(a[2]), A(a[3]), A(b[0]), A(b[1]))

// Each product: its kernel's name, form and registers, C++'s types and constraints, PTX's types, and what it computes.
#define ALL_PRODUCTS(ROW)                                                                          \
    ROW(f16_k16, 4_2_4, 4, 2, 4, uint32_t, float, "r", "+f", m16n8k16, f32, f16, f16, 16, 16,      \
        kF16, kF16, kF32)                                                                          \
    ROW(f16_k8_in_f16, 2_1_2, 2, 1, 2, uint32_t, uint32_t, "r", "+r", m16n8k8, f16, f16, f16, 16,  \
        8, kF16, kF16, kSumF16)                                                                    \
    ROW(f16_k16_in_f16, 4_2_2, 4, 2, 2, uint32_t, uint32_t, "r", "+r", m16n8k16, f16, f16, f16,    \
        16, 16, kF16, kF16, kSumF16)                                                               \
    ROW(bf16_k8, 2_1_4, 2, 1, 4, uint32_t, float, "r", "+f", m16n8k8, f32, bf16, bf16, 16, 8,      \
        kBf16, kBf16, kF32)                                                                        \
    ROW(bf16_k16, 4_2_4, 4, 2, 4, uint32_t, float, "r", "+f", m16n8k16, f32, bf16, bf16, 16, 16,   \
        kBf16, kBf16, kF32)                                                                        \
    ROW(tf32_k4, 2_1_4, 2, 1, 4, uint32_t, float, "r", "+f", m16n8k4, f32, tf32, tf32, 16, 4,      \
        kTf32, kTf32, kF32)                                                                        \
    ROW(tf32_k8, 4_2_4, 4, 2, 4, uint32_t, float, "r", "+f", m16n8k8, f32, tf32, tf32, 16, 8,      \
        kTf32, kTf32, kF32)                                                                        \
    ROW(e4m3, 4_2_4, 4, 2, 4, uint32_t, float, "r", "+f", m16n8k32, f32, e4m3, e4m3, 16, 32,       \
        kE4m3, kE4m3, kF32)                                                                        \
    ROW(e5m2_e4m3, 4_2_4, 4, 2, 4, uint32_t, float, "r", "+f", m16n8k32, f32, e5m2, e4m3, 16, 32,  \
        kE5m2, kE4m3, kF32)                                                                        \
    ROW(f64_m8, 1_1_2, 1, 1, 2, double, double, "d", "+d", m8n8k4, f64, f64, f64, 8, 4, kF64,      \
        kF64, kF64)                                                                                \
    ROW(f64_k4, 2_1_4, 2, 1, 4, double, double, "d", "+d", m16n8k4, f64, f64, f64, 16, 4, kF64,    \
        kF64, kF64)                                                                                \
    ROW(f64_k8, 4_2_4, 4, 2, 4, double, double, "d", "+d", m16n8k8, f64, f64, f64, 16, 8, kF64,    \
        kF64, kF64)                                                                                \
    ROW(f64_k16, 8_4_4, 8, 4, 4, double, double, "d", "+d", m16n8k16, f64, f64, f64, 16, 16, kF64, \
        kF64, kF64)                                                                                \
    ROW(s8_m8, 1_1_2, 1, 1, 2, uint32_t, uint32_t, "r", "+r", m8n8k16, s32, s8, s8, 8, 16, kS8,    \
        kS8, kS32)                                                                                 \
    ROW(s8_k16, 2_1_4, 2, 1, 4, uint32_t, uint32_t, "r", "+r", m16n8k16, s32, s8, s8, 16, 16, kS8, \
        kS8, kS32)                                                                                 \
    ROW(u8_s8_k32, 4_2_4, 4, 2, 4, uint32_t, uint32_t, "r", "+r", m16n8k32, s32, u8, s8, 16, 32,   \
        kU8, kS8, kS32)                                                                            \
    ROW(s8_u8_saturated, 4_2_4_satfinite, 4, 2, 4, uint32_t, uint32_t, "r", "+r", m16n8k32, s32,   \
        s8, u8, 16, 32, kS8, kU8, kS32)                                                            \
    ROW(s4_m8, 1_1_2, 1, 1, 2, uint32_t, uint32_t, "r", "+r", m8n8k32, s32, s4, u4, 8, 32, kS4,    \
        kU4, kS32)                                                                                 \
    ROW(u4_k32, 2_1_4, 2, 1, 4, uint32_t, uint32_t, "r", "+r", m16n8k32, s32, u4, u4, 16, 32, kU4, \
        kU4, kS32)                                                                                 \
    ROW(s4_k64, 4_2_4, 4, 2, 4, uint32_t, uint32_t, "r", "+r", m16n8k64, s32, s4, s4, 16, 64, kS4, \
        kS4, kS32)                                                                                 \
    ROW(b1_k128, 2_1_4_popc, 2, 1, 4, uint32_t, uint32_t, "r", "+r", m16n8k128, s32, b1, b1, 16,   \
        128, kB1, kB1, kS32)                                                                       \
    ROW(b1_k256, 4_2_4_popc, 4, 2, 4, uint32_t, uint32_t, "r", "+r", m16n8k256, s32, b1, b1, 16,   \
        256, kB1, kB1, kS32)

#define DEFINE_PRODUCT(name, form, na, nb, nc, Word, Sum, word, sum, shape, d_type, a_type, \
                       b_type, ...)                                                         \
    MMA_KERNEL(name, Word, Sum, na, nb, nc, ASM_##form(shape, d_type, a_type, b_type, sum, word))
#define CHECK_PRODUCT(name, form, na, nb, nc, Word, Sum, word, sum, shape, d_type, a_type, b_type, \
                      m, k, a, b, c)                                                               \
    check(#name, {m, k, a, b, c}, launch_##name);

ALL_PRODUCTS(DEFINE_PRODUCT)

// ---------------------------------------------------------------- sparse products

// Which elements of a chunk of A are kept: two numbers of two bits, each below 4.
struct Kept {
    int first, second;
};
Kept kept_of(int row, int chunk, bool is_ordered) {
    constexpr Kept kAll[] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
    const Kept ordered = kAll[(row * 5 + chunk * 3 + row / 8) % 6];
    return is_ordered || (row + chunk) % 2 == 0 ? ordered : Kept{ordered.second, ordered.first};
}

// Of A the registers hold half; of tf32 one of two elements, of s4 two pairs of four.
struct Sparse {
    Shape shape;
    int selector;
    bool is_ordered;

    int per_chunk() const { return shape.a.bits == 32 ? 1 : shape.a.bits == 4 ? 4 : 2; }
    int chunks() const { return shape.k / 2 / per_chunk(); }
    Kept kept(int row, int chunk) const {
        if (shape.a.bits != 32) return kept_of(row, chunk, is_ordered);
        return (row + chunk) % 3 == 0 ? Kept{2, 3} : Kept{0, 1};
    }
    // Where number i of those kept in a row lies.
    int depth(int row, int i) const {
        const int chunk = i / per_chunk(), within = i % per_chunk();
        const Kept pair = kept(row, chunk);
        if (shape.a.bits == 32) return 2 * chunk + pair.first / 2;
        if (shape.a.bits == 4)
            return 8 * chunk + 2 * (within < 2 ? pair.first : pair.second) + within % 2;
        return 4 * chunk + (within == 0 ? pair.first : pair.second);
    }
    uint64_t metadata(int row, int chunk) const {
        const Kept pair = kept(row, chunk);
        return static_cast<uint64_t>(pair.first | pair.second << 2);
    }
    // The figures of the PTX ISA: lanes hold four chunks of both rows, or eight of one; others are not looked at.
    uint64_t metadata_of(unsigned lane) const {
        constexpr uint64_t kNobodys = 0x5a0ff0a5;
        const int row = static_cast<int>(lane / 4), of_quad = static_cast<int>(lane % 4);
        const int lanes = chunks() / 4;  // that hold metadata
        const int number = of_quad - selector * lanes;
        if (number < 0 || number >= lanes) return kNobodys;
        uint64_t word = 0;
        for (int i = 0; i < 8; ++i) {
            const bool is_wide = shape.a.bits >= 16;
            const int half = is_wide ? i / 4 : number % 2;
            const int chunk = is_wide ? number * 4 + i % 4 : number / 2 * 8 + i;
            word |= metadata(row + 8 * half, chunk) << 4 * i;
        }
        return word;
    }
};

void check_sparse(const std::string& name, const Sparse& sparse, Launch launch) {
    INFO(name);
    const Shape& shape = sparse.shape;
    Shape held = shape;  // A as its registers hold it
    held.k /= 2;
    const auto b = [&](int k, int column) { return element(shape.b, k * 8 + column, 1); };
    const auto kept = [&](int row, int i) { return element(shape.a, row * held.k + i, 3); };
    const auto c = [&](int row, int column) { return element(shape.sum, row * 8 + column, 2); };
    std::vector<int> a(static_cast<size_t>(shape.m) * static_cast<size_t>(shape.k));
    const auto place = [&](int row, int k) {
        return static_cast<size_t>(row) * static_cast<size_t>(shape.k) + static_cast<size_t>(k);
    };
    for (int row = 0; row < shape.m; ++row) {
        for (int i = 0; i < held.k; ++i) a.at(place(row, sparse.depth(row, i))) = kept(row, i);
    }
    std::vector<uint64_t> in, wanted;
    for (unsigned lane = 0; lane < kLanes; ++lane) {
        for (int r = 0; r < held.of_a(); ++r) {
            in.push_back(0);
            for (int i = 0; i < shape.per_register(); ++i) {
                in.back() |= shape.a.of(kept(row_of_a(held, lane, r), depth_of_a(held, lane, r, i)))
                             << i * shape.a.bits;
            }
        }
        for (int r = 0; r < shape.of_b(); ++r) {
            in.push_back(0);
            for (int i = 0; i < shape.per_register(); ++i) {
                in.back() |=
                    shape.b.of(b(depth_of_b(shape, lane, r, i), static_cast<int>(lane / 4)))
                    << i * shape.b.bits;
            }
        }
        in.push_back(sparse.metadata_of(lane));
        const int per_sum = 32 / shape.sum.bits;
        for (int i = 0; i < 4; ++i) {
            const int row = row_of_c(lane, i), column = column_of_c(lane, i);
            int sum = c(row, column);
            if (i % per_sum == 0) {
                in.push_back(0);
                wanted.push_back(0);
            }
            in.back() |= shape.sum.of(sum) << i % per_sum * shape.sum.bits;
            for (int k = 0; k < shape.k; ++k) sum += a.at(place(row, k)) * b(k, column);
            wanted.back() |= shape.sum.of(sum) << i % per_sum * shape.sum.bits;
        }
    }
    check_launch(launch, in, wanted);
}

#define SPARSE_KERNEL(kernel, Sum, na, nb, nc, instruction)                          \
    __global__ void kernel(const uint64_t* in, uint64_t* out) {                      \
        uint32_t a[na], b[nb];                                                       \
        Sum d[nc];                                                                   \
        const uint64_t* const mine = in + threadIdx.x * ((na) + (nb) + 1 + (nc));    \
        for (int i = 0; i < (na); ++i) a[i] = static_cast<uint32_t>(mine[i]);        \
        for (int i = 0; i < (nb); ++i) b[i] = static_cast<uint32_t>(mine[(na) + i]); \
        const uint32_t e = static_cast<uint32_t>(mine[(na) + (nb)]);                 \
        for (int i = 0; i < (nc); ++i) d[i] = as<Sum>(mine[(na) + (nb) + 1 + i]);    \
        instruction;                                                                 \
        store(d, out);                                                               \
    }                                                                                \
    void launch_##kernel(const uint64_t* in, uint64_t* out) {                        \
        kernel<<<1, kLanes>>>(in, out);                                              \
    }

#define SPARSE_2_2_4(shape, d_type, a_type, b_type, D, selector)                                 \
    asm volatile("mma.sp::ordered_metadata.sync.aligned." #shape ".row.col." #d_type "." #a_type \
                 "." #b_type "." #d_type                                                         \
                 " {%0, %1, %2, %3}, {%4, %5}, {%6, %7}, {%0, %1, %2, %3}, %8, %9;"              \
                 : D(d[0]), D(d[1]), D(d[2]), D(d[3])                                            \
                 : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(b[1]), "r"(e), "n"(selector))
#define SPARSE_2_2_2(shape, d_type, a_type, b_type, D, selector)                                 \
    asm volatile("mma.sp::ordered_metadata.sync.aligned." #shape ".row.col." #d_type "." #a_type \
                 "." #b_type "." #d_type " {%0, %1}, {%2, %3}, {%4, %5}, {%0, %1}, %6, %7;"      \
                 : D(d[0]), D(d[1])                                                              \
                 : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(b[1]), "r"(e), "n"(selector))
#define SPARSE_4_4_4(shape, d_type, a_type, b_type, D, selector)                                 \
    asm volatile("mma.sp::ordered_metadata.sync.aligned." #shape ".row.col." #d_type "." #a_type \
                 "." #b_type "." #d_type                                                         \
                 " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9, %10, %11}, {%0, %1, %2, %3}, "   \
                 "%12, %13;"                                                                     \
                 : D(d[0]), D(d[1]), D(d[2]), D(d[3])                                            \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(b[2]),  \
                   "r"(b[3]), "r"(e), "n"(selector))
#define SPARSE_4_4_2(shape, d_type, a_type, b_type, D, selector)                                 \
    asm volatile("mma.sp::ordered_metadata.sync.aligned." #shape ".row.col." #d_type "." #a_type \
                 "." #b_type "." #d_type                                                         \
                 " {%0, %1}, {%2, %3, %4, %5}, {%6, %7, %8, %9}, {%0, %1}, %10, %11;"            \
                 : D(d[0]), D(d[1])                                                              \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(b[2]),  \
                   "r"(b[3]), "r"(e), "n"(selector))
#define UNORDERED_4_4_4(shape, d_type, a_type, b_type, D, selector)                             \
    asm volatile("mma.sp.sync.aligned." #shape ".row.col." #d_type "." #a_type "." #b_type      \
                 "." #d_type                                                                    \
                 " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9, %10, %11}, {%0, %1, %2, %3}, "  \
                 "%12, %13;"                                                                    \
                 : D(d[0]), D(d[1]), D(d[2]), D(d[3])                                           \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(b[2]), \
                   "r"(b[3]), "r"(e), "n"(selector))

#define UNORDERED_4_4_4_satfinite(shape, d_type, a_type, b_type, D, selector)                   \
    asm volatile("mma.sp.sync.aligned." #shape ".row.col.satfinite." #d_type "." #a_type        \
                 "." #b_type "." #d_type                                                        \
                 " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9, %10, %11}, {%0, %1, %2, %3}, "  \
                 "%12, %13;"                                                                    \
                 : D(d[0]), D(d[1]), D(d[2]), D(d[3])                                           \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(b[2]), \
                   "r"(b[3]), "r"(e), "n"(selector))

// Each: its kernel's name, form, registers, C++'s type of a sum, constraint and PTX's types; k, what A, B and C are, the
// selector, and whether metadata are in order.
#define ALL_SPARSE_PRODUCTS(ROW)                                                                   \
    ROW(sparse_f16_k16, SPARSE_2_2_4, 2, 2, 4, float, "+f", m16n8k16, f32, f16, f16, 16, kF16,     \
        kF16, kF32, 3, true)                                                                       \
    ROW(sparse_f16_k16_in_f16, SPARSE_2_2_2, 2, 2, 2, uint32_t, "+r", m16n8k16, f16, f16, f16, 16, \
        kF16, kF16, kSumF16, 1, true)                                                              \
    ROW(sparse_f16_k32, UNORDERED_4_4_4, 4, 4, 4, float, "+f", m16n8k32, f32, f16, f16, 32, kF16,  \
        kF16, kF32, 1, false)                                                                      \
    ROW(sparse_f16_k32_in_f16, SPARSE_4_4_2, 4, 4, 2, uint32_t, "+r", m16n8k32, f16, f16, f16, 32, \
        kF16, kF16, kSumF16, 0, true)                                                              \
    ROW(sparse_bf16_k16, SPARSE_2_2_4, 2, 2, 4, float, "+f", m16n8k16, f32, bf16, bf16, 16, kBf16, \
        kBf16, kF32, 0, true)                                                                      \
    ROW(sparse_bf16_k32, SPARSE_4_4_4, 4, 4, 4, float, "+f", m16n8k32, f32, bf16, bf16, 32, kBf16, \
        kBf16, kF32, 1, true)                                                                      \
    ROW(sparse_tf32_k8, SPARSE_2_2_4, 2, 2, 4, float, "+f", m16n8k8, f32, tf32, tf32, 8, kTf32,    \
        kTf32, kF32, 2, true)                                                                      \
    ROW(sparse_tf32_k16, SPARSE_4_4_4, 4, 4, 4, float, "+f", m16n8k16, f32, tf32, tf32, 16, kTf32, \
        kTf32, kF32, 1, true)                                                                      \
    ROW(sparse_s8_k32, SPARSE_2_2_4, 2, 2, 4, uint32_t, "+r", m16n8k32, s32, s8, u8, 32, kS8, kU8, \
        kS32, 1, true)                                                                             \
    ROW(sparse_s8_k64, UNORDERED_4_4_4_satfinite, 4, 4, 4, uint32_t, "+r", m16n8k64, s32, s8, s8,  \
        64, kS8, kS8, kS32, 0, false)                                                              \
    ROW(sparse_e4m3_k64, SPARSE_4_4_4, 4, 4, 4, float, "+f", m16n8k64, f32, e4m3, e5m2, 64, kE4m3, \
        kE5m2, kF32, 0, true)                                                                      \
    ROW(sparse_s4_k64, SPARSE_2_2_4, 2, 2, 4, uint32_t, "+r", m16n8k64, s32, s4, u4, 64, kS4, kU4, \
        kS32, 1, true)                                                                             \
    ROW(sparse_u4_k128, SPARSE_4_4_4, 4, 4, 4, uint32_t, "+r", m16n8k128, s32, u4, s4, 128, kU4,   \
        kS4, kS32, 0, true)

#define DEFINE_SPARSE(name, form, na, nb, nc, Sum, sum, shape, d_type, a_type, b_type, k, a_, b_, \
                      c_, selector, ...)                                                          \
    SPARSE_KERNEL(name, Sum, na, nb, nc, form(shape, d_type, a_type, b_type, sum, selector))
#define CHECK_SPARSE(name, form, na, nb, nc, Sum, sum, shape, d_type, a_type, b_type, k, a_, b_, \
                     c_, selector, ordered)                                                      \
    check_sparse(#name, {{16, k, a_, b_, c_}, selector, ordered}, launch_##name);

ALL_SPARSE_PRODUCTS(DEFINE_SPARSE)

// ---------------------------------------------------------------- m8n8k4 of half

// Where the tables of the PTX ISA have element i of a lane: of the matrices of quad pair lane % 16 / 4.
struct Place {
    int row, column;
};
Place place_in_a(bool by_rows, int lane, int i) {
    const int below = lane < 16 ? 0 : 4;
    return by_rows ? Place{lane % 4 + below, i} : Place{i % 4 + below, lane % 4};
}
Place place_in_b(bool by_rows, int lane, int i) {
    const int behind = lane < 16 ? 0 : 4;
    return by_rows ? Place{lane % 4, i + behind} : Place{i, lane % 4 + behind};
}
Place place_in_c(const ElementFormat& format, int lane, int i) {
    const int below = lane < 16 ? 0 : 4;
    if (format.bits == 16) return {lane % 4 + below, i};
    return {(lane & 1) + (i & 2) + below, (i & 4) + (lane & 2) + (i & 1)};
}

void check_quad_pairs(const std::string& name, bool a_by_rows, bool b_by_rows,
                      const ElementFormat& sum, Launch launch) {
    INFO(name);
    const auto a = [](int quad, Place at) {
        return element(kF16, quad * 5 + at.row * 4 + at.column, 3);
    };
    const auto b = [](int quad, Place at) {
        return element(kF16, quad * 3 + at.row * 8 + at.column, 1);
    };
    const auto c = [&](int quad, Place at) {
        return element(sum, quad + at.row * 8 + at.column, 2);
    };
    const int of_c = 8 * sum.bits / 32, per_sum = 32 / sum.bits;
    std::vector<uint64_t> in, wanted, got;
    for (int lane = 0; lane < static_cast<int>(kLanes); ++lane) {
        const int quad = lane % 16 / 4;
        std::vector<uint64_t> mine(static_cast<size_t>(4 + of_c)), sums(static_cast<size_t>(of_c));
        for (int i = 0; i < 4; ++i) {
            mine[static_cast<size_t>(i) / 2] |= kF16.of(a(quad, place_in_a(a_by_rows, lane, i)))
                                                << i % 2 * 16;
            mine[2 + static_cast<size_t>(i) / 2] |= kF16.of(b(quad, place_in_b(b_by_rows, lane, i)))
                                                    << i % 2 * 16;
        }
        for (int i = 0; i < 8; ++i) {
            const Place at = place_in_c(sum, lane, i);
            const auto word = static_cast<size_t>(i) / static_cast<size_t>(per_sum);
            int total = c(quad, at);
            mine[4 + word] |= sum.of(total) << i % per_sum * sum.bits;
            for (int k = 0; k < 4; ++k) total += a(quad, {at.row, k}) * b(quad, {k, at.column});
            sums[word] |= sum.of(total) << i % per_sum * sum.bits;
        }
        in.insert(in.end(), mine.begin(), mine.end());
        wanted.insert(wanted.end(), sums.begin(), sums.end());
    }
    got.resize(wanted.size());
    uint64_t *from = nullptr, *to = nullptr;
    REQUIRE(cudaMalloc(&from, in.size() * sizeof(uint64_t)) == cudaSuccess);
    REQUIRE(cudaMalloc(&to, got.size() * sizeof(uint64_t)) == cudaSuccess);
    REQUIRE(cudaMemcpy(from, in.data(), in.size() * sizeof(uint64_t), cudaMemcpyHostToDevice) ==
            cudaSuccess);
    launch(from, to);
    REQUIRE(cudaMemcpy(got.data(), to, got.size() * sizeof(uint64_t), cudaMemcpyDeviceToHost) ==
            cudaSuccess);
    cudaFree(from);
    cudaFree(to);
    CHECK(got == wanted);
}

#define QUADS_IN_F16(of_a, of_b)                                                            \
    asm volatile("mma.sync.aligned.m8n8k4." #of_a "." #of_b                                 \
                 ".f16.f16.f16.f16 {%0, %1, %2, %3}, {%4, %5}, {%6, %7}, {%0, %1, %2, %3};" \
                 : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])                           \
                 : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(b[1]))
#define QUADS_IN_F32(of_a, of_b)                                                                  \
    asm volatile("mma.sync.aligned.m8n8k4." #of_a "." #of_b                                       \
                 ".f32.f16.f16.f32 {%0, %1, %2, %3, %4, %5, %6, %7}, {%8, %9}, {%10, %11}, {%0, " \
                 "%1, %2, %3, %4, %5, %6, %7};"                                                   \
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]),        \
                   "+f"(d[6]), "+f"(d[7])                                                         \
                 : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(b[1]))
MMA_KERNEL(quads_row_col, uint32_t, uint32_t, 2, 2, 4, QUADS_IN_F16(row, col))
MMA_KERNEL(quads_col_row, uint32_t, uint32_t, 2, 2, 4, QUADS_IN_F16(col, row))
MMA_KERNEL(quads_row_row_f32, uint32_t, float, 2, 2, 8, QUADS_IN_F32(row, row))
MMA_KERNEL(quads_col_col_f32, uint32_t, float, 2, 2, 8, QUADS_IN_F32(col, col))

}  // namespace
}  // namespace ptx_tests

TEST_CASE("mma multiplies whole numbers as a plain loop does, for every shape and type") {
    using namespace ptx_tests;
    ALL_PRODUCTS(CHECK_PRODUCT)
}

TEST_CASE(
    "mma.sp multiplies what its metadata keep of A as a plain loop does, for every shape and "
    "type") {
    using namespace ptx_tests;
    ALL_SPARSE_PRODUCTS(CHECK_SPARSE)
}

TEST_CASE("mma.m8n8k4 of half multiplies in quad pairs") {
    using namespace ptx_tests;
    check_quad_pairs("row.col.f16", true, false, kSumF16, launch_quads_row_col);
    check_quad_pairs("col.row.f16", false, true, kSumF16, launch_quads_col_row);
    check_quad_pairs("row.row.f32", true, true, kF32, launch_quads_row_row_f32);
    check_quad_pairs("col.col.f32", false, false, kF32, launch_quads_col_col_f32);
}
