// SPDX-License-Identifier: MIT
//
// The operands of wgmma: reads them from shared memory as descriptors say, and multiplies them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cpu_device/wgmma.h"
#include "failure.hpp"

namespace cpu_device {

constexpr unsigned kRowsOfWarp = 16;  // of D, and of A

// Matrix A, or B with its columns taken as rows: each row has k elements.
struct MatrixInMemory {
    char name;  // 'A', 'B'
    uint64_t descriptor;
    Element element;
    unsigned k;
    bool is_transposed;  // neighbours in memory belong to different rows
};

// Rows of a matrix as doubles, in blocks of eight: element k of a row is at
// row / 8 * 8 * k_of_row + row % 8 * row_step + k * k_step.
struct Numbers {
    double* at;
    size_t k_of_row, row_step, k_step;

    double* row(size_t number) const {
        return at + number / 8 * 8 * k_of_row + number % 8 * row_step;
    }
};

// The product and the line that read_by_wgmma() gets with each chunk: see async_proxy.hpp. Number 0: no calls. Sets
// *any_written where anything has written one of the chunks.
struct NotedReads {
    uint64_t operation;
    uintptr_t place;
    bool* any_written;
};

// Ends the launch at the running lane's instruction. It is often in a wrapper, so those that call it are named as well.
[[noreturn, gnu::format(printf, 2, 3)]] void fail_at_wgmma(cudaError_t code, const char* format,
                                                           ...);

// Fails if the descriptor has bits set that must be 0, if the matrix begins where its swizzle pattern does not, or if some
// of its rows, which are as many, overlap.
void check_descriptor(const MatrixInMemory& matrix, unsigned rows);

// Where the matrix begins in the block's shared memory.
uintptr_t beginning_of(const MatrixInMemory& matrix);

// Reads `rows` rows from `first` on into rows 0 and up of `to`. Fails outside the block's shared memory.
void gather(const MatrixInMemory& matrix, unsigned first, unsigned rows, const Numbers& to,
            NotedReads noted);

// Reads the 16 rows of A that the lanes of a warp hold in four registers each.
void gather_registers(Element element, unsigned k, const uint32_t (*of_lane)[4], const Numbers& to);

// Computes sums[row * n + column] for 16 rows of A (row_step k, k_step 1) and n columns of B (row_step 1, k_step 8).
void multiply_rows(const double* a, const double* b, unsigned k, unsigned n, double* sums);

}  // namespace cpu_device
