// SPDX-License-Identifier: MIT
#include "common/report/pictures/pages.hpp"

#include <vector>

#include "common/io/files.hpp"

namespace report {
namespace {

std::vector<std::filesystem::path> pages_of(const std::filesystem::path& repository) {
    std::vector<std::filesystem::path> pages = {repository / "README.md"};
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(repository, error)) {
        pages.push_back(entry.path() / "README.md");
        pages.push_back(entry.path() / "further/README.md");
    }
    return pages;
}

}  // namespace

std::set<std::string> shown_pictures(const std::filesystem::path& repository,
                                     const std::filesystem::path& pictures) {
    const std::string link =
        (pictures.parent_path().filename() / pictures.filename()).string() + "/";
    const std::string ending = ".svg";
    std::set<std::string> names;
    for (const std::filesystem::path& page : pages_of(repository)) {
        const std::string words = io::text_in(page);
        for (size_t at = 0; (at = words.find(link, at)) != std::string::npos;) {
            at += link.size();
            const size_t end = words.find_first_of(" )\"\n", at);
            if (end == std::string::npos || end - at <= ending.size()) continue;
            const std::string file_name = words.substr(at, end - at);
            if (file_name.substr(file_name.size() - ending.size()) == ending)
                names.insert(file_name.substr(0, file_name.size() - ending.size()));
        }
    }
    return names;
}

}  // namespace report
