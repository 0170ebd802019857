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

// Runs the variant once. For each of its kernels the shared request with most conflicts, and the
// global request that moves most in vain; what a kernel does not do has no picture. Shared accesses
// are those of the compiled kernel, by the rule that the variant names.
std::vector<Picture> pictures_of(const std::string& stage, const runner::Variant& variant,
                                 const runner::Shape& shape,
                                 runner::DType dtype = runner::DType::float32);

}  // namespace xray
