// SPDX-License-Identifier: MIT
// Device memory whose element type is known only when the program runs.
#pragma once
#include <algorithm>
#include <vector>

#include "common/runner/device.hpp"
#include "common/runner/dtype.hpp"

namespace runner {

class DeviceArray {
public:
    explicit DeviceArray(DType dtype = DType::float32, size_t count = 0)
        : dtype_(dtype), buffer_(count * size_of(dtype)) {}

    DType dtype() const { return dtype_; }
    void* data() { return buffer_.data(); }
    const void* data() const { return buffer_.data(); }
    size_t size() const { return buffer_.size() / size_of(dtype_); }
    size_t bytes() const { return buffer_.bytes(); }
    void poison() { buffer_.poison(); }

    // size() values, each rounded once to the element type.
    void upload(const std::vector<double>& values) {
        visit(dtype_, [&](auto of) {
            using T = typename decltype(of)::type;
            std::vector<T> rounded;
            rounded.reserve(values.size());
            for (const double value : values) rounded.push_back(static_cast<T>(value));
            check_cuda(cudaMemcpy(buffer_.data(), rounded.data(), bytes(), cudaMemcpyHostToDevice),
                       "copying to the device");
        });
    }
    std::vector<double> values() const {
        return visit(dtype_, [&](auto of) {
            using T = typename decltype(of)::type;
            std::vector<T> elements(size());
            check_cuda(cudaMemcpy(elements.data(), buffer_.data(), bytes(), cudaMemcpyDeviceToHost),
                       "copying from the device");
            std::vector<double> values(elements.size());
            std::transform(elements.begin(), elements.end(), values.begin(),
                           [](T each) { return to_double(each); });
            return values;
        });
    }

private:
    DType dtype_;
    DeviceBuffer<unsigned char> buffer_;
};

}  // namespace runner
