// SPDX-License-Identifier: MIT
//
// Matrix products for cuBLAS, by loops.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "common/cpu_device/libraries/elements.hpp"
#include "common/cpu_device/library_work.hpp"
#include "cublas_api.h"

namespace cpu_device::blas {

// Element (i, j) lies i * row_step + j * column_step elements behind `at`.
struct Matrix {
    cudaDataType type;
    void* at;
    int64_t rows, columns;
    int64_t row_step, column_step;
    bool is_conjugate = false;

    void* address(int64_t i, int64_t j) const {
        return static_cast<char*>(at) +
               (i * row_step + j * column_step) * static_cast<int64_t>(bytes_of(type));
    }
};

// Column-major, with columns `ld` elements apart.
Matrix matrix(cudaDataType type, const void* at, int64_t rows, int64_t columns, int64_t ld);

// op(A).
Matrix operated(Matrix of, cublasOperation_t op);

LibraryOperand operand_of(const char* name, const Matrix& of, bool is_read, bool is_written);

// A scalar that the caller gives, or a result that it gets: on the host, or on the device.
struct Scalar {
    const void* at;
    cudaDataType type;
    bool is_on_device;
    Number value = 0;  // of one on the host, as it was at the call
};

// In what the sums of a product are computed.
enum class Arithmetic { of_float, of_double, of_complex_float, of_complex_double, of_integers };

// D = alpha op(A) op(B) + beta C. `finish`, if any, gets what would be stored, column by column, and may change it.
struct Product {
    Matrix a, b, c, d;
    Arithmetic arithmetic;
    Number alpha, beta;
    std::function<void(std::vector<double>& values)> finish;
};
void multiply(const Product& product);

}  // namespace cpu_device::blas
