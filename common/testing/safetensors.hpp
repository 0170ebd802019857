// SPDX-License-Identifier: MIT
// .safetensors files as a test wants them, good and bad.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace testing {

// A header's size, the header, the bytes of its tensors.
inline std::string safetensors(const std::string& header, const std::string& data) {
    std::string bytes;
    for (int i = 0; i < 8; ++i)
        bytes += static_cast<char>(uint64_t{header.size()} >> (8 * i) & 0xff);
    return bytes + header + data;
}

// "name":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}
inline std::string saved_tensor(const std::string& name, const std::string& type,
                                const std::string& shape, uint64_t begin, uint64_t end) {
    return "\"" + name + "\":{\"dtype\":\"" + type + "\",\"shape\":" + shape +
           ",\"data_offsets\":[" + std::to_string(begin) + "," + std::to_string(end) + "]}";
}

// A file of tensors, one behind the other.
class SafetensorsFile {
public:
    template <class T = float>
    void add(const std::string& name, const std::vector<int64_t>& shape,
             const std::vector<T>& values, const std::string& type = "F32") {
        std::string sizes;
        for (const int64_t size : shape) sizes += (sizes.empty() ? "" : ",") + std::to_string(size);
        const size_t begin = data_.size();
        data_.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
        header_ += (header_.empty() ? "" : ",") +
                   saved_tensor(name, type, "[" + sizes + "]", begin, data_.size());
    }
    std::string bytes() const { return safetensors("{" + header_ + "}", data_); }

private:
    std::string header_, data_;
};

}  // namespace testing
