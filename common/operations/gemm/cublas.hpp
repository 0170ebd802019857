// SPDX-License-Identifier: MIT
// What cuBLAS and cuBLASLt have in common: how they are found, and how they see a row-major product. Both
// are opened at run time: nothing here needs them to build.
#pragma once
#include <dlfcn.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include <cuda_fp16.h>

#include "common/operations/gemm/operation.hpp"

namespace operations::gemm {

// The numbers of their C interfaces.
struct CublasTypes {
    int elements;  // cudaDataType_t, of A and B
    int results;   // cudaDataType_t
    int sums;      // cublasComputeType_t
    int scales;    // cudaDataType_t
};
// For int8_t, results, alpha and beta are ints.
CublasTypes cublas_types(DType dtype, Kind kind);

// Alpha or beta as cuBLAS requires it: of the type of the sums.
class CublasScale {
public:
    CublasScale(double value, Kind kind)
        : in_float_(static_cast<float>(value)),
          in_half_(static_cast<__half>(in_float_)),
          in_int_(static_cast<int>(value)),
          kind_(kind) {}
    const void* data() const {
        if (kind_ == Kind::half_sums) return &in_half_;
        return kind_ == Kind::s8 ? static_cast<const void*>(&in_int_) : &in_float_;
    }

private:
    float in_float_;
    __half in_half_;
    int in_int_;
    Kind kind_;
};

// They read matrices column by column, as which a row-major one is its transpose. So they get
// C^T = B^T A^T: B first, and n x m of a result.
struct CublasMatrix {
    bool transposed;
    int64_t rows, cols;  // as it lies in memory: columns of so many rows, close together
    int64_t elements() const { return rows * cols; }
};
struct CublasProduct {
    explicit CublasProduct(const Shape& shape);
    CublasMatrix first, second, result;  // B, A, C
};

// A library that stays open: "libcublas" of CUDA 13, else of CUDA 12.
class CublasLibrary {
public:
    explicit CublasLibrary(const std::string& name);
    // Why it cannot be used on this machine; empty where it can.
    const std::string& obstacle() const { return obstacle_; }
    void fail(const std::string& why) { obstacle_ = name_ + " " + why; }

    // A function of it; where there is none, that is the obstacle.
    template <class Function>
    void find(const char* name, Function*& function) {
        if (!obstacle_.empty()) return;
        function = reinterpret_cast<Function*>(dlsym(handle_, name));
        if (function == nullptr) fail(std::string("has no ") + name);
    }

private:
    std::string name_;
    std::string obstacle_;
    void* handle_ = nullptr;
};

// What a product may use besides its operands: as much as cuBLAS by itself takes on Hopper.
constexpr size_t kCublasWorkspace = size_t{32} << 20;

}  // namespace operations::gemm
