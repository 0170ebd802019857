// SPDX-License-Identifier: MIT
// What the user typed, as what it means. UsageError says what would make sense.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "common/runner/stage.hpp"

namespace runner {

// The stage of `all` that `word` means: 3, 03, online, online_softmax, 03_online_softmax.
// UsageError lists them.
const Stage& find_stage(const std::vector<Stage>& all, std::string word);

// Those that the words mean, in their order; without words all of them.
std::vector<const Stage*> chosen_stages(const std::vector<Stage>& all,
                                        const std::vector<std::string>& words);

// UsageError, which lists the variants, where none of the stages' is called so. Empty means any.
void require_variant(const std::vector<const Stage*>& stages, const std::string& variant);

// Digits alone as a number from `least` to `most`. UsageError, which names the flag, for anything else: a
// sign, a blank, a fraction, a number of too many digits.
uint64_t parse_whole_number(const std::string& flag, const std::string& text, uint64_t least,
                            uint64_t most);

// "4000x1000" as a shape that one of the operations has. UsageError for anything else.
Shape parse_shape(const std::string& text, const std::vector<const Operation*>& operations);

// "float16" as a type. UsageError lists them.
DType parse_dtype(const std::string& text);

// Throws UsageError with the reason where the variant cannot be launched so.
void require_taken(const Variant& variant, const Shape& shape, DType dtype);

// The same where the memory does not hold its operands.
void require_memory(const Variant& variant, const Shape& shape, DType dtype);

}  // namespace runner
