// SPDX-License-Identifier: MIT
//
// The pictures of one variant.
#pragma once

#include <string>
#include <vector>

#include "common/runner/stage.hpp"

namespace xray {

struct Picture {
    std::string name;  // of a file: "03_online_softmax_split_row_2_banks.svg"
    std::string svg;
};

// Runs the variant once. Draws, for each of its kernels, the shared request with most conflicts and the global request
// that moves most unused bytes; or, with a line of a source (a number, or "layernorm.cuh:99"), the most telling requests of
// that line. Shared accesses are those of the compiled kernel, by the rule that the variant names. UsageError where no
// kernel accesses memory at that line.
std::vector<Picture> pictures_of(const std::string& stage, const runner::Variant& variant,
                                 const runner::Shape& shape,
                                 runner::DType dtype = runner::DType::float32,
                                 const std::string& line = "");

}  // namespace xray
