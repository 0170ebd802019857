// SPDX-License-Identifier: MIT
// The named inputs of matrix products.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "common/operations/gemm/operation.hpp"

namespace operations::gemm {

constexpr const char* kNormal = "normal";
constexpr const char* kIntegers = "integers";       // every order of summation gives the same bits
constexpr const char* kWide = "wide";               // products that leave the range of float16
constexpr const char* kSpecial = "special_values";  // NaN and infinities in some rows and columns

std::vector<runner::NamedInput> all_inputs();

// Fills a, b and c (device memory) on the default stream; a null pointer is left out. If beta is 0, c is all NaN, because no
// result may depend on it. In e4m3 and int8_t, operands too large become the largest number, and in int8_t NaN becomes 0. For
// int8_t all inputs but the integers are multiplied by 32, since it has few numbers near 0; the tiny ones are multiplied by as
// much as leaves the smallest numbers of each type. std::invalid_argument if no input has that name.
void fill(void* a, void* b, void* c, DType dtype, Kind kind, const Shape& shape,
          const std::string& input, uint64_t seed);

}  // namespace operations::gemm
