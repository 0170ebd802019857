// SPDX-License-Identifier: MIT
// The named inputs: those of the softmaxes, and what selections find difficult.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "common/operations/topk/operation.hpp"

namespace operations::topk {

constexpr const char* kDistinct = "distinct";  // evenly spaced numbers, shuffled: no two are equal
constexpr const char* kSpecial = "special";    // rows with NaN and infinities
constexpr const char* kAscending = "ascending";    // each element is a new best
constexpr const char* kDescending = "descending";  // the first are the best
constexpr const char* kPlateau = "plateau";  // a few stand out of a tie, in which most lists end
constexpr const char* kNeighbours = "neighbours";  // each is the type's next number to another
constexpr const char* kPeaked = "peaked";     // as a language model's: most of the weight on few
constexpr const char* kFewLeft = "few_left";  // fewer are not masked than most lists are long

std::vector<runner::NamedInput> all_inputs();

// Fills x (device memory) on the default stream. std::invalid_argument where no input has that name.
void fill(void* x, DType dtype, const Shape& shape, const std::string& input, uint64_t seed);

}  // namespace operations::topk
