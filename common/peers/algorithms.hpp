// SPDX-License-Identifier: MIT
// What the values of cublasGemmStridedBatchedEx's parameter `algo` are worth.
#pragma once
#include <filesystem>
#include <string>

namespace course {

// The part `algorithms` of a stage's README, from FOLDER/STAGE.peers.json. Says how to record it where that
// file, or all of the values, are missing.
std::string algorithms_part(const std::filesystem::path& folder, const std::string& stage);

}  // namespace course
