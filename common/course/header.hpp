// SPDX-License-Identifier: MIT
// `header`: any stage's header as one file to copy.
#pragma once
#include <filesystem>
#include <string>

namespace course {

// The header `stage_header` (a path from `repository`, e.g. "03_online_softmax/online_softmax.cuh") with the headers
// of the repository that it includes put in its place, each once. What it includes from CUDA and C++ stays an #include.
// std::runtime_error names the file that could not be read.
std::string amalgamate(const std::filesystem::path& repository, const std::filesystem::path& stage_header);

// The header of the stage that `word` means: 3, 03, online_softmax, 03_online_softmax. std::runtime_error lists the right words.
std::filesystem::path find_stage_header(const std::filesystem::path& repository, const std::string& word);

}  // namespace course
