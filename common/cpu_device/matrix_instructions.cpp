// SPDX-License-Identifier: MIT
#include "cpu_device/matrix_instructions.h"

#include <algorithm>
#include <cstring>

#include "matrix_elements.hpp"
#include "meetings.hpp"

namespace cpu_device {
namespace {

constexpr size_t kMostInRow = 256;  // elements along k: of b1

// The four bits of a chunk in a row of a sparse A.
unsigned metadata_of(const Product& product, const WarpRegisters& all, unsigned half,
                     unsigned chunk, unsigned chunks) {
    const unsigned quad = lane_id() / 4 * 4, at = product.a_registers + product.b_registers;
    // Lanes have four chunks of both rows, or eight of one.
    if (bits_of(product.of_a) >= 16) {
        const unsigned from = quad + product.selector * (chunks / 4) + chunk / 4;
        return all.words(from)[at] >> (16 * half + 4 * (chunk % 4)) & 15u;
    }
    const unsigned from = quad + 2 * product.selector + chunk / 8 * 2 + half;
    return all.words(from)[at] >> 4 * (chunk % 8) & 15u;
}

// The place of element k of a row in the order in which multiply() gathers it: by lane, register, part of a register.
unsigned place_of(unsigned k, unsigned per_register, unsigned registers) {
    return (k / per_register % 4 * registers + k / per_register / 4) * per_register +
           k % per_register;
}

// Moves the kept elements of a sparse row to the places of the elements of B that multiply them, and fills the rest with
// zeros.
template <class Sum>
void spread(Sum* row, const Product& product, const WarpRegisters& all, unsigned half) {
    const unsigned bits = bits_of(product.of_a), per_register = 32 / bits,
                   registers = product.a_registers / 2, count = registers * 4 * per_register;
    const unsigned unit = bits == 4 ? 2 : 1;               // of s4 a number names a pair
    const unsigned per_chunk = bits == 32 ? 1 : 2 * unit;  // of tf32 both numbers name one
    Sum kept[kMostInRow];
    std::copy(row, row + count, kept);
    std::fill(row, row + 2 * size_t{count}, Sum{0});
    for (unsigned i = 0; i < count; ++i) {
        const Sum value = kept[place_of(i, per_register, registers)];
        if (value == 0) continue;
        const unsigned chunk = i / per_chunk;
        const unsigned named = metadata_of(product, all, half, chunk, count / per_chunk);
        const unsigned first = named & 3, second = named >> 2;
        const bool is_good = bits == 32           ? named == 4 || named == 14
                             : product.is_ordered ? first < second
                                                  : first != second;
        if (!is_good) {
            fail(cudaErrorIllegalInstruction,
                 "mma.sp: the metadata of row %u, elements %u to %u, are 0x%x: %s",
                 lane_id() / 4 + 8 * half, chunk * 2 * per_chunk, (chunk + 1) * 2 * per_chunk - 1,
                 named,
                 bits == 32 ? "of tf32 they are 0x4 or 0xe"
                 : first == second
                     ? "they name the same element twice"
                     : "with ::ordered_metadata the first element named is the lower one");
        }
        const unsigned within = i % per_chunk / unit;
        const unsigned index = bits == 32 ? first / 2 : within == 0 ? first : second;
        const unsigned k = chunk * 2 * per_chunk + index * unit + i % unit;
        row[place_of(k, per_register, product.b_registers)] = value;
    }
}

template <class Sum>
void multiply(const Product& product, const void* a_and_b, Sum* sums) {
    const unsigned words = product.of_a == Element::f64 ? 2 : 1;  // of a register
    const unsigned of_b = product.a_registers * words;            // where B begins
    const WarpRegisters all =
        show_registers(Collective::mma, a_and_b,
                       (product.a_registers + product.b_registers + (product.is_sparse ? 1 : 0)) *
                           words * sizeof(uint32_t));
    const unsigned lane = lane_id();
    const auto rows = static_cast<unsigned>(product.m) / 8;
    // Both rows of A and both columns of B: each lies in the registers of four lanes.
    Sum a[2][kMostInRow], b[2][kMostInRow];
    size_t length = 0;
    for (unsigned half = 0; half < 2; ++half) {
        Sum *of_row = a[half], *of_column = b[half];
        for (unsigned quarter = 0; quarter < 4; ++quarter) {
            const uint32_t* const from_a = all.words(lane / 4 * 4 + quarter);
            if (half < rows) {
                for (unsigned i = half; i < product.a_registers; i += rows)
                    of_row = append(of_row, product.of_a, from_a + size_t{i} * words);
            }
            const uint32_t* const from_b = all.words((lane % 4 * 2 + half) * 4 + quarter) + of_b;
            for (unsigned i = 0; i < product.b_registers; ++i)
                of_column = append(of_column, product.of_b, from_b + size_t{i} * words);
        }
        length = static_cast<size_t>(of_column - b[half]);
        if (product.is_sparse) spread(a[half], product, all, half);
    }
    for (unsigned row = 0; row < rows; ++row) {
        for (unsigned column = 0; column < 2; ++column) {
            Sum sum = 0;
            if (product.counts_differing) {
                for (size_t i = 0; i < length; ++i) sum += a[row][i] != b[column][i];
            } else {
                for (size_t i = 0; i < length; ++i) sum += a[row][i] * b[column][i];
            }
            sums[2 * row + column] += sum;
        }
    }
}

}  // namespace

WarpRegisters show_registers(Collective kind, const void* mine, size_t bytes) {
    Lane& lane = *current.lane;
    unsigned char* const shown = lane.shown[lane.next_shown ^= 1];
    std::memcpy(shown, mine, bytes);
    return {meet_all_lanes(kind, as_address(shown), as_address(__builtin_return_address(0)))};
}

void multiply_registers(const Product& product, const void* a_and_b, double* sums) {
    multiply(product, a_and_b, sums);
}

void multiply_registers(const Product& product, const void* a_and_b, int64_t* sums) {
    multiply(product, a_and_b, sums);
}

// Registers: two of A, two of B. The lanes from 16 on have the rows from 4 on of A, and the columns from 4 on of B.
void multiply_quad_pairs(const QuadPairProduct& product, const void* a_and_b, double* sums) {
    constexpr unsigned kDepth = 4, kSums = 8, kOfB = 2;
    const WarpRegisters all = show_registers(Collective::mma, a_and_b, 2 * kOfB * sizeof(uint32_t));
    const unsigned lane = lane_id(), quad = lane % 16 / 4 * 4;
    const auto element = [&](unsigned across, unsigned k, bool k_in_lane, unsigned operand) {
        const unsigned from = quad + across / 4 * 16 + (k_in_lane ? across % 4 : k);
        const unsigned number = k_in_lane ? k : across % 4;
        const uint32_t word = all.words(from)[operand + number / 2];
        return static_cast<double>(values_of_f16()[word >> number % 2 * 16 & 0xffffu]);
    };
    for (unsigned i = 0; i < kSums; ++i) {
        const unsigned below = lane / 16 * 4;
        const unsigned row = below + (product.sums_by_rows ? lane % 4 : lane % 2 + i % 4 / 2 * 2);
        const unsigned column = product.sums_by_rows ? i : i / 4 * 4 + lane % 4 / 2 * 2 + i % 2;
        for (unsigned k = 0; k < kDepth; ++k) {
            sums[i] += element(row, k, product.a_by_rows, 0) *
                       element(column, k, !product.b_by_rows, kOfB);
        }
    }
}

}  // namespace cpu_device
