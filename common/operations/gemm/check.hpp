// SPDX-License-Identifier: MIT
// The checker: a result against the fp64 product, or against an earlier variant's result.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <cuda_fp8.h>

#include "common/operations/gemm/operation.hpp"
#include "common/runner/report.hpp"

namespace operations::gemm {

// What a product is made of: matrices close together. c: as it was before the launch.
struct Operands {
    const void* a = nullptr;
    const void* b = nullptr;
    const void* c = nullptr;
};

// Calls visitor(Type<Of>{}), where Of is the type of A's and B's elements.
template <class Visitor>
void visit_operands(DType dtype, Kind kind, Visitor visitor) {
    if (kind == Kind::e4m3) {
        visitor(runner::Type<__nv_fp8_e4m3>{});
    } else if (kind == Kind::s8) {
        visitor(runner::Type<int8_t>{});
    } else {
        visit(dtype, visitor);
    }
}

// Against the reference, or against a previous result, of which each may be off by its bound. kind: of ours; that of
// previous may be the same, or float_sums. Device pointers; waits for the device.
runner::Report check(const Operands& operands, const Shape& shape, DType dtype, const void* ours,
                     const void* previous = nullptr, Kind kind = Kind::float_sums);

// The same on host memory, and by kernels, whatever the device is.
runner::Report check_on_host(const Operands& operands, const Shape& shape, DType dtype,
                             const void* ours, const void* previous = nullptr,
                             Kind kind = Kind::float_sums);
runner::Report check_on_device(const Operands& operands, const Shape& shape, DType dtype,
                               const void* ours, const void* previous = nullptr,
                               Kind kind = Kind::float_sums);

// m x n: the product of a, m x k, and b, k x n, all row-major and close together.
std::vector<double> product(const std::vector<double>& a, const std::vector<double>& b, int64_t m,
                            int64_t n, int64_t k);

// Of an element of c, counted through the whole batch: "batch 0, row 3, col 7".
std::string place_of(const Shape& shape, int64_t index);

}  // namespace operations::gemm
