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
    uint64_t begin = 0, end = 0;  // its bytes, after the header
};

class Safetensors {
public:
    // Reads the header, in time n log n of its tensors. FileError for a truncated file, tensors that overlap, leave
    // gaps or lie beyond the file's end, sizes that contradict their shapes, a name that stands twice, and for files
    // of another kind, with what they are and how to convert them.
    explicit Safetensors(std::string path);

    const std::string& path() const { return path_; }
    const std::map<std::string, SavedTensor>& tensors() const { return tensors_; }

    // FileError where it has no such tensor, or one of another shape, after which the message says `why`, or of
    // elements other than F32, F16, BF16, F64, I8 and F8_E4M3.
    void require(const std::string& name, const std::vector<int64_t>& shape,
                 const std::string& why = "") const;

    // One tensor's values, row-major; every type that is read fits a double exactly. FileError as require() has it.
    std::vector<double> read(const std::string& name, const std::vector<int64_t>& shape) const;

private:
    std::string path_;
    uint64_t data_ = 0;  // where the bytes begin
    std::map<std::string, SavedTensor> tensors_;
};

}  // namespace runner
