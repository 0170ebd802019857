// SPDX-License-Identifier: MIT
// A well-known table, measured again: OneFlow's softmax beside FasterTransformer's, on attention
// scores of 32 batches and 64 heads.
#pragma once
#include <filesystem>
#include <string>

namespace course {

// The part `comparison` of a stage's README, from FOLDER/STAGE.peers.json. Says how to record it where
// that file, or all of its shapes, are missing.
std::string comparison_part(const std::filesystem::path& folder, const std::string& stage);

}  // namespace course
