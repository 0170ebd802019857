// SPDX-License-Identifier: MIT
// .safetensors files, in which weights of models lie: a header in JSON that says where each tensor's bytes are,
// then the bytes. What the header says is held against the file before anything is allocated for it.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "common/io/files.hpp"

namespace runner {

using io::FileError;

struct SavedTensor {
    std::string type;  // "F16"
    std::vector<int64_t> shape;
    uint64_t begin = 0, end = 0;  // its bytes, behind the header
};

class Safetensors {
public:
    // Reads the header. FileError, one line, where that or what it says is no such file: truncated, with tensors
    // that overlap, that leave gaps or the file, that have other sizes than their shapes, or one name twice.
    explicit Safetensors(std::string path);

    const std::string& path() const { return path_; }
    const std::map<std::string, SavedTensor>& tensors() const { return tensors_; }

    // One tensor's values, row-major; every type that is read fits a double exactly. FileError where it is not
    // there, or of another shape, or its elements are none of F32, F16, BF16, F64.
    std::vector<double> read(const std::string& name, const std::vector<int64_t>& shape) const;

private:
    std::string path_;
    uint64_t data_ = 0;  // where the bytes begin
    std::map<std::string, SavedTensor> tensors_;
};

}  // namespace runner
