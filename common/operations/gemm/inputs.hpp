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

// Fills a, b and c (device memory) on the default stream; a null pointer is left out. Where beta is 0, c is
// all NaN: no result may come of it. std::invalid_argument where no input has that name.
void fill(void* a, void* b, void* c, DType dtype, const Shape& shape, const std::string& input,
          uint64_t seed);

}  // namespace operations::gemm
