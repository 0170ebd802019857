// SPDX-License-Identifier: MIT
// NumPy's .npy files: float16, float32 and float64 arrays in C order, read with an eye to what users
// really pass.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "common/io/files.hpp"
#include "common/runner/dtype.hpp"

namespace runner {

using io::FileError;

struct Array {
    std::vector<int64_t> shape;
    std::vector<double> values;  // row-major; every type fits a double exactly
    DType dtype = DType::float32;
};

// Reads `path`, which must hold an array of `rank` dimensions. FileError otherwise.
Array read_npy(const std::string& path, size_t rank);

// Writes the array, as float32 where its type is bfloat16, of which NumPy knows nothing. The file
// appears whole or not at all. FileError if it cannot.
void write_npy(const std::string& path, const Array& array);

}  // namespace runner
