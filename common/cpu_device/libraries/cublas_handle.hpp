// SPDX-License-Identifier: MIT
//
// What cuBLAS's calls have in common: the handle, scalars of the host's or the device's, and what is said where an
// argument is wrong.
#pragma once

#include "common/cpu_device/libraries/product.hpp"

struct cublasContext {
    cudaStream_t stream = nullptr;
    void* workspace = nullptr;
    cublasPointerMode_t pointer_mode = CUBLAS_POINTER_MODE_HOST;
    cublasAtomicsMode_t atomics_mode = CUBLAS_ATOMICS_NOT_ALLOWED;
    cublasMath_t math_mode = CUBLAS_DEFAULT_MATH;
};

namespace cpu_device::blas {

// One call: its name, handle, and whether its arguments were right so far. What is wrong is said once, with the line.
class Call {
public:
    Call(const char* name, cublasHandle_t handle);
    // Of cuBLASLt, whose handles say nothing.
    Call(const char* name, cudaStream_t stream, bool scalars_on_device);

    const char* name() const { return name_; }

    // Unless `right`, the call is refused.
    void require(bool right, const char* format, ...) __attribute__((format(printf, 3, 4)));
    // That `ld` is enough for a column of `rows`.
    void require_ld(const char* matrix, int64_t ld, int64_t rows);
    void require_type(const char* matrix, cudaDataType type);

    Scalar scalar(const char* name, cudaDataType type, const void* at);

    // Puts the work into the handle's stream, if all was right.
    cublasStatus_t submit(std::function<cudaError_t()> work) const;

private:
    const char* name_;
    cudaStream_t stream_ = nullptr;
    bool scalars_on_device_ = false;
    cublasStatus_t status_ = CUBLAS_STATUS_SUCCESS;
};

// Its value, read where it lies. An error where that is no device memory.
cudaError_t read_scalar(const char* call, const Scalar& scalar, Number& value);

}  // namespace cpu_device::blas
