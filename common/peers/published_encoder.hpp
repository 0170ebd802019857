// SPDX-License-Identifier: MIT
// A well-known table with a column more: FasterTransformer's times of a BERT, as it published them, and ours.
#pragma once
#include <filesystem>
#include <string>

namespace course {

// The part `published` of a stage's README, from FOLDER/STAGE.json. Says how to record it where that file, or
// all of its shapes, are missing.
std::string published_part(const std::filesystem::path& folder, const std::string& stage);

}  // namespace course
