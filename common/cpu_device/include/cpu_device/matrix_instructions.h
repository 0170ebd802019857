// SPDX-License-Identifier: MIT
// What ldmatrix, stmatrix, movmatrix and mma ask of the CPU device: the lanes of a warp see each other's registers.
#pragma once
#include "cpu_device/integers.h"
#include <cstddef>

#include "cpu_device/core.h"

namespace cpu_device {

// The registers of all lanes.
struct WarpRegisters {
    const uint64_t* of_lane;  // where each lane's are

    const uint32_t* words(unsigned lane) const {
        return reinterpret_cast<const uint32_t*>(of_lane[lane]);
    }
    // For kernels: hidden from the memory hooks, for it is the runtime's memory.
    __attribute__((noinline, no_sanitize("thread"))) uint32_t word(unsigned lane,
                                                                   unsigned i) const {
        return words(lane)[i];
    }
};

// The most that a lane shows to the others: operands A and B of an m16n8k16 of doubles.
constexpr size_t kShownBytes = 96;

// Waits for all 32 lanes, and fails unless all are there and work on a matrix in that way. Each shows a copy of `bytes`
// at `mine`. What is returned is valid until this lane's next call but one.
WarpRegisters show_registers(Collective kind, const void* mine, size_t bytes);

// What an element is in a product.
enum class Element : uint8_t { f64, tf32, f16, bf16, e4m3, e5m2, s8, u8, s4, u4, b1 };

// A product m x 8 x k, m 8 or 16, of a lane's registers. In registers of A and B an element lies as PTX says of
// mma.m16n8k16 and its like: register r has row lane / 4 (+ 8 where r is odd and m is 16), and of k a run of as many as
// fit a register, run lane % 4 (+ 4 for each further pair).
struct Product {
    int m;
    Element of_a, of_b;
    unsigned a_registers, b_registers;  // of 8 bytes for f64, else of 4
    bool counts_differing;              // b1: xor, then popc; otherwise and
    // A sparse A keeps half of each chunk of a row, and four bits of metadata say which half: two indices of two bits.
    // A chunk has 4 elements; of tf32 it has 2, of s4 and u4 it has 8, which are kept in pairs. The register of metadata
    // follows those of B.
    bool is_sparse = false;
    unsigned selector = 0;    // which of four neighbouring lanes have the metadata
    bool is_ordered = false;  // the first index is the smaller one
};

// Shows the registers of A and B, and adds the lane's m / 4 sums of the product to `sums`: rows lane / 4, lane / 4 + 8,
// columns lane % 4 * 2 and the next. Floats are added exactly as far as a double goes, integers without end.
void multiply_registers(const Product& product, const void* a_and_b, double* sums);
void multiply_registers(const Product& product, const void* a_and_b, int64_t* sums);

// mma.m8n8k4 of half: four products at once, each of a quad pair's lanes, 4 q to 4 q + 3 and those 16 further on.
struct QuadPairProduct {
    bool a_by_rows, b_by_rows;  // which of its elements a lane holds: a row's or a column's
    bool
        sums_by_rows;  // a lane's 8 sums are a row (f16); otherwise 2 x 2 in either half of the columns (f32)
};
void multiply_quad_pairs(const QuadPairProduct& product, const void* a_and_b, double* sums);

}  // namespace cpu_device
