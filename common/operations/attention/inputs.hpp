// SPDX-License-Identifier: MIT
// The named inputs of attention.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "common/operations/attention/operation.hpp"

namespace operations::attention {

constexpr const char* kNormal = "normal";
constexpr const char* kLengths = "lengths";  // sequences of any length, of none and of one key, too
constexpr const char* kAscending = "ascending";  // each key's score is the largest so far
constexpr const char* kSpecial =
    "special_values";  // NaN and infinities in some queries, keys and values

std::vector<runner::NamedInput> all_inputs();

// Device memory; nullptr: left out.
struct Filled {
    void* q = nullptr;
    void* k = nullptr;
    void* v = nullptr;
    void* lengths = nullptr;
};
// On the default stream. Keys and values that do not count are NaN: no result may come of them.
// std::invalid_argument where no input has that name.
void fill(const Filled& into, DType dtype, const Shape& shape, const std::string& input,
          uint64_t seed);

}  // namespace operations::attention
