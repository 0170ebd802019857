// SPDX-License-Identifier: MIT
#include "common/report/pictures/pages.hpp"

#include <regex>
#include <vector>

#include "common/io/files.hpp"
#include "common/records/where.hpp"

namespace report {

namespace fs = std::filesystem;

namespace {

std::vector<fs::path> pages_of(const fs::path& repository) {
    std::vector<fs::path> pages = {repository / "README.md"};
    for (const std::string& stage : records::stage_folders(repository)) {
        for (const fs::path& page : records::pages_of(repository, stage)) pages.push_back(page);
    }
    return pages;
}

}  // namespace

std::map<fs::path, std::set<std::string>> shown_pictures(const fs::path& repository,
                                                         const std::string& gpu_folder) {
    static const std::regex link(R"re(\]\(([^ )"]+)/([^/ )"]+)\.svg[ )])re");
    const auto pictures_in = [](const fs::path& recorded) {
        return (recorded / "pictures").lexically_normal();
    };
    std::map<fs::path, std::set<std::string>> shown;
    shown[pictures_in(records::recorded_of_all(repository, gpu_folder))];
    for (const std::string& stage : records::stage_folders(repository))
        shown[pictures_in(records::recorded_of(repository, stage, gpu_folder))];
    for (const fs::path& page : pages_of(repository)) {
        const std::string words = io::text_in(page);
        for (std::sregex_iterator each(words.begin(), words.end(), link), none; each != none;
             ++each) {
            const auto folder =
                shown.find((page.parent_path() / (*each)[1].str()).lexically_normal());
            if (folder != shown.end()) folder->second.insert((*each)[2]);
        }
    }
    return shown;
}

}  // namespace report
