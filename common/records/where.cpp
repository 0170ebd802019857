// SPDX-License-Identifier: MIT
#include "common/records/where.hpp"

#include <algorithm>
#include <cctype>
#include <set>
#include <sstream>

#include "common/io/files.hpp"

namespace records {
namespace {

std::vector<std::string> folders_in(const std::filesystem::path& path) {
    std::vector<std::string> names;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(path, error)) {
        if (entry.is_directory(error)) names.push_back(entry.path().filename());
    }
    std::sort(names.begin(), names.end());
    return names;
}

}  // namespace

std::string folder_of(const std::string& gpu) {
    std::string folder;
    for (const unsigned char letter : gpu) {
        folder += std::isalnum(letter) != 0 ? static_cast<char>(std::tolower(letter)) : '_';
    }
    return folder;
}

std::filesystem::path recorded_of(const std::filesystem::path& repository, const std::string& stage,
                                  const std::string& gpu_folder) {
    return repository / stage / "recorded" /
           (gpu_folder == kShown ? folder_of(shown_gpu(repository, stage)) : gpu_folder);
}

std::filesystem::path expected_of(const std::filesystem::path& repository,
                                  const std::string& stage) {
    return repository / stage / "expected";
}

std::filesystem::path recorded_of_all(const std::filesystem::path& repository,
                                      const std::string& gpu_folder) {
    return repository / "common/recorded" /
           (gpu_folder == kShown ? folder_of(kOtherGpu) : gpu_folder);
}

std::string shown_gpu(const std::filesystem::path& repository, const std::string& stage,
                      const std::string& file) {
    std::istringstream lines(io::text_in(repository / stage / "recorded/shown_gpu"));
    std::string gpu = kReferenceGpu;
    for (std::string line; std::getline(lines, line);) {
        const size_t end = line.find(": ");
        if (end == std::string::npos) gpu = line;
        if (end != std::string::npos && line.substr(0, end) == file) return line.substr(end + 2);
    }
    return gpu;
}

std::filesystem::path record_of(const std::filesystem::path& repository, const std::string& stage,
                                const std::string& gpu_folder, const char* name) {
    if (gpu_folder != kShown) return recorded_of(repository, stage, gpu_folder) / name;
    std::filesystem::path path =
        recorded_of(repository, stage, folder_of(shown_gpu(repository, stage, name))) / name;
    if (std::filesystem::exists(path)) return path;
    return recorded_of(repository, stage, folder_of(kOtherGpu)) / name;
}

bool is_stage(const std::string& name) {
    const auto is_digit = [&](size_t i) {
        return std::isdigit(static_cast<unsigned char>(name[i])) != 0;
    };
    return name.size() > 3 && is_digit(0) && is_digit(1) && name[2] == '_';
}

std::vector<std::string> stage_folders(const std::filesystem::path& repository) {
    std::vector<std::string> stages = folders_in(repository);
    std::erase_if(stages, [](const std::string& name) { return !is_stage(name); });
    return stages;
}

std::vector<std::filesystem::path> pages_of(const std::filesystem::path& repository,
                                            const std::string& stage) {
    std::vector<std::filesystem::path> pages;
    std::error_code error;
    for (const auto& entry :
         std::filesystem::directory_iterator(repository / stage / "further", error)) {
        if (entry.path().extension() == ".md") pages.push_back(entry.path());
    }
    std::sort(pages.begin(), pages.end());
    pages.insert(pages.begin(), repository / stage / "README.md");
    return pages;
}

std::vector<std::string> gpu_folders(const std::filesystem::path& repository) {
    std::set<std::string> gpus;
    for (const std::string& stage : stage_folders(repository)) {
        for (std::string& gpu : folders_in(repository / stage / "recorded"))
            gpus.insert(std::move(gpu));
    }
    return {gpus.begin(), gpus.end()};
}

}  // namespace records
