// SPDX-License-Identifier: MIT
// NumPy's .npy files: float16, float32 and float64 arrays in C order, read with an eye to what users
// really pass.
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

// Reads `path`, which must hold an array of `rank` dimensions. FileError otherwise.
Array read_npy(const std::string& path, size_t rank);

// Writes an array of these values, row-major, rounded to the type; as float32 where that is bfloat16, of
// which NumPy knows nothing. The file appears whole or not at all. FileError if it cannot.
void write_npy(const std::string& path, const std::vector<int64_t>& shape,
               const std::vector<double>& values, ElementType type);

}  // namespace runner
