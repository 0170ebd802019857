// SPDX-License-Identifier: MIT
// What cuBLASLt's heuristic offers for a product. The fastest of it is the roof of products.
#pragma once
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <cuda_runtime.h>

#include "common/operations/gemm/cublas.hpp"

namespace operations::gemm {

constexpr int kMostLtCandidates = 8;

// What a product ends in: nothing, or a number a column (of the elements' type) added and then a function.
enum class LtEpilogue { none, bias, bias_gelu };

// Why there is no cuBLASLt on this machine; empty where there is.
std::string cublas_lt_obstacle();
std::string cublas_lt_version();  // "cuBLAS 13.1.0", or "no cuBLAS"

// The ways it offers for one problem with kCublasWorkspace bytes to work in, most promising first.
class LtCandidates {
public:
    LtCandidates(const Shape& shape, DType dtype, Kind kind, LtEpilogue epilogue);
    LtCandidates(const LtCandidates&) = delete;
    LtCandidates& operator=(const LtCandidates&) = delete;
    ~LtCandidates();

    size_t count() const;  // none where it cannot be used, or does not take the problem

    // Matrices close together, which begin at multiples of 256 bytes; bias alike, where the epilogue has one.
    // cudaErrorNotSupported where the library refuses.
    cudaError_t launch(size_t candidate, const void* a, const void* b, void* c, void* workspace,
                       cudaStream_t stream, const void* bias = nullptr) const;

private:
    struct Descriptors;
    std::unique_ptr<Descriptors> of_;
    CublasScale alpha_, beta_;
    bool has_bias_;
};

// The same, kept from one call to the next: the heuristic takes its time.
const LtCandidates& lt_candidates(const Shape& shape, DType dtype, Kind kind = Kind::float_sums,
                                  LtEpilogue epilogue = LtEpilogue::none);

// Each candidate as work that writes to memory of its own: the ways of a roof. Where there are none, C is set.
std::vector<runner::Work> lt_works(const Shape& shape, DType dtype, Kind kind, const void* a,
                                   const void* b);

}  // namespace operations::gemm
