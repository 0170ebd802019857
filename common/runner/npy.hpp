// SPDX-License-Identifier: MIT
// NumPy's .npy files: float32 and float16 arrays in C order, read with an eye to what users really
// pass.
#pragma once
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace runner {

// A file that cannot be used: its name, what is wrong with it, and what would be right.
class FileError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

struct Array {
    std::vector<int64_t> shape;
    std::vector<float> values;  // row-major; float16 is widened exactly
};

// Reads `path`, which must hold an array of `rank` dimensions. FileError otherwise.
Array read_npy(const std::string& path, size_t rank);

// Writes float32 values of that shape. The file appears whole or not at all. FileError if it
// cannot.
void write_npy(const std::string& path, const std::vector<int64_t>& shape,
               const std::vector<float>& values);

}  // namespace runner
