// SPDX-License-Identifier: MIT
// `header`: any stage's header as one file to copy.
#pragma once
#include <filesystem>
#include <string>

namespace course {

// The header `stage_header` (a path from `repository`, as "03_online_softmax/online_softmax.cuh")
// with every header of the repository that it includes put in its place, once. Licence lines stand
// once, on top; then come the includes from CUDA and C++.
// Throws std::runtime_error that names the file that cannot be taken in, and why.
std::string amalgamate(const std::filesystem::path& repository,
                       const std::filesystem::path& stage_header);

}  // namespace course
