// SPDX-License-Identifier: MIT
// NumPy's .npy files: float16, float32 and float64 arrays in either byte order, in C or Fortran order, read
// with an eye to what users really pass.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "common/io/files.hpp"
#include "common/runner/operand.hpp"

namespace runner {

using io::FileError;

struct Array {
    std::vector<int64_t> shape;
    std::vector<double> values;  // row-major; every type fits a double exactly
    DType dtype = DType::float32;
};

// Reads an array of any dimensions. FileError, with what is there and what would be right, for other types of
// elements, damaged files and files of another kind.
Array read_npy(const std::string& path);

// Writes an array of these values, row-major, rounded to the type; as float32 where that is bfloat16, of
// which NumPy knows nothing. The file appears whole or not at all. FileError if it cannot.
void write_npy(const std::string& path, const std::vector<int64_t>& shape,
               const std::vector<double>& values, ElementType type);

}  // namespace runner
