// SPDX-License-Identifier: MIT
// A header of a stage's as it reads in my/.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace course {

// The lines of a header, named from the repository's root, with the files that it includes by relative paths named from
// my/. A line keeps its number.
inline std::vector<std::string> lines_in_my(std::vector<std::string> lines,
                                            const std::filesystem::path& header) {
    static const std::string kWords = "#include \"";
    for (std::string& line : lines) {
        const size_t end = line.find('"', kWords.size());
        if (line.compare(0, kWords.size(), kWords) != 0 || end == std::string::npos) continue;
        const auto file = header.parent_path() / line.substr(kWords.size(), end - kWords.size());
        line = kWords + "../" + file.lexically_normal().generic_string() + line.substr(end);
    }
    return lines;
}

}  // namespace course
