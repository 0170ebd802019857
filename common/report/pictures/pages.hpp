// SPDX-License-Identifier: MIT
// Which pictures a repository's pages show.
#pragma once
#include <filesystem>
#include <set>
#include <string>

namespace report {

// Returns the names, without .svg, of the pictures in `pictures` that README.md, NN_*/README.md and
// NN_*/further/README.md link to. Links name that folder by its last two parts, as in nvidia_h200/pictures/.
std::set<std::string> shown_pictures(const std::filesystem::path& repository,
                                     const std::filesystem::path& pictures);

}  // namespace report
