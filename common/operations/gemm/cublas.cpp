// SPDX-License-Identifier: MIT
#include "common/operations/gemm/cublas.hpp"

#include "common/runner/build_info.hpp"

namespace operations::gemm {

CublasTypes cublas_types(DType dtype, Kind kind) {
    constexpr int kFloat = 0, kHalf = 2, kInt8 = 3, kInt = 10, kBfloat16 = 14,
                  kE4m3 = 28;  // CUDA_R_...
    constexpr int kHalfSums = 64, kFloatSums = 68, kIntSums = 72,
                  kSumsOfTf32 = 77;  // CUBLAS_COMPUTE_...
    const int elements = dtype == DType::float16    ? kHalf
                         : dtype == DType::bfloat16 ? kBfloat16
                                                    : kFloat;
    switch (kind) {
        case Kind::float_sums:  // of floats without tensor cores
        case Kind::pruned:
            break;
        case Kind::half_sums:
            return {elements, elements, kHalfSums, kHalf};
        case Kind::tf32:
            return {elements, elements, kSumsOfTf32, kFloat};
        case Kind::e4m3:
            return {kE4m3, elements, kFloatSums, kFloat};
        case Kind::s8:
            return {kInt8, kInt, kIntSums, kInt};
    }
    return {elements, elements, kFloatSums, kFloat};
}

CublasProduct::CublasProduct(const Shape& s)
    : first{s.transpose_b, s.transpose_b ? s.k : s.n, s.transpose_b ? s.n : s.k},
      second{s.transpose_a, s.transpose_a ? s.m : s.k, s.transpose_a ? s.k : s.m},
      result{false, s.n, s.m} {}

CublasLibrary::CublasLibrary(const std::string& name) : name_(name) {
    if (!runner::on_gpu()) {
        obstacle_ = "needs a GPU";
        return;
    }
    for (const char* version : {".so.13", ".so.12"}) {
        handle_ = dlopen((name + version).c_str(), RTLD_NOW);
        if (handle_ != nullptr) return;
    }
    fail("of CUDA 13 or 12 is not here");
}

}  // namespace operations::gemm
