// SPDX-License-Identifier: MIT
// Which pictures a repository's pages show.
#pragma once
#include <filesystem>
#include <map>
#include <set>
#include <string>

namespace report {

// Returns, of each folder of a GPU's pictures, recorded/GPU/pictures of a stage or of what spans them, the names without
// .svg of those that README.md and the stages' pages link to.
std::map<std::filesystem::path, std::set<std::string>> shown_pictures(
    const std::filesystem::path& repository, const std::string& gpu_folder);

}  // namespace report
