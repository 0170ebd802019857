// SPDX-License-Identifier: MIT
#include "common/records/folder.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <tuple>

#include "common/io/files.hpp"
#include "common/io/text.hpp"

namespace records {
namespace {

// NN_name.json and its kinds: nothing else in the folder is a record.
bool is_record_file(const std::filesystem::path& path) {
    static const std::set<std::string> kinds = {".json", ".peers.json", ".widths.json",
                                                ".partial.json", ".widths.partial.json"};
    const std::string name = path.filename();
    const size_t dot = name.find('.');
    return name.size() > 3 && dot != std::string::npos && kinds.count(name.substr(dot)) > 0 &&
           std::isdigit(static_cast<unsigned char>(name[0])) != 0 &&
           std::isdigit(static_cast<unsigned char>(name[1])) != 0 && name[2] == '_';
}

std::vector<std::filesystem::path> record_files(const std::filesystem::path& folder) {
    std::vector<std::filesystem::path> paths;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
        if (is_record_file(entry.path())) paths.push_back(entry.path());
    }
    if (error) io::refuse(folder, "cannot be read: " + error.message());
    std::sort(paths.begin(), paths.end());
    return paths;
}

bool any_record(const Folder& folder, bool (Record::*holds)() const) {
    return std::any_of(folder.files.begin(), folder.files.end(), [&](const File& file) {
        return std::any_of(file.records.begin(), file.records.end(),
                           [&](const Record& record) { return (record.*holds)(); });
    });
}

}  // namespace

bool Folder::timed() const {
    return any_record(*this, &Record::timed);
}
bool Folder::counted() const {
    return any_record(*this, &Record::counted);
}
std::string Folder::gpu() const {
    for (const File& file : files) {
        for (const Record& record : file.records) {
            if (record.timed()) return file.gpu;
        }
    }
    return "";
}

std::string Folder::name() const {
    const std::filesystem::path whole = std::filesystem::weakly_canonical(path);
    return io::printable(
        (whole.has_filename() ? whole.filename() : whole.parent_path().filename()).string());
}

bool is_folder(const std::filesystem::path& path) {
    std::error_code error;
    return std::filesystem::is_directory(path, error) && !record_files(path).empty();
}

Folder read_folder(const std::filesystem::path& path) {
    std::error_code error;
    if (!std::filesystem::is_directory(path, error))
        io::refuse(path, "no such folder; `./stages run` makes results/, --out another one");
    const std::vector<std::filesystem::path> files = record_files(path);
    if (files.empty()) {
        io::refuse(path, "no records in it (files such as 01_name.json); `./stages run --out " +
                             io::printable(path.string()) + "` writes some");
    }
    Folder folder;
    folder.path = path;
    const std::string whole = std::filesystem::weakly_canonical(path).string() + "/";
    folder.committed = whole.find("/common/recorded/") != std::string::npos;
    for (const std::filesystem::path& file : files) folder.files.push_back(read(file));
    folder.counters = read_counters(path / "ncu.json");
    return folder;
}

void keep_newer_runs(Folder& folder) {
    const auto key = [](const File& file) {
        return std::tuple(file.stage(), file.peers(), file.widths());
    };
    std::map<std::tuple<std::string, bool, bool>, const File*> newest;
    for (const File& file : folder.files) {
        const File*& at = newest[key(file)];
        if (at == nullptr || file.date > at->date) at = &file;
    }
    std::vector<File> kept;
    for (const File& file : folder.files) {
        if (newest[key(file)] == &file) kept.push_back(file);
    }
    folder.files = std::move(kept);
}

std::vector<std::string> stages_in(const std::vector<Folder>& folders) {
    std::set<std::string> stages;
    for (const Folder& folder : folders) {
        for (const File& file : folder.files) {
            for (const Record& record : file.records) stages.insert(record.stage);
        }
    }
    return {stages.begin(), stages.end()};
}

std::vector<std::string> stages_by_files(const std::filesystem::path& folder) {
    std::set<std::string> stages;
    if (is_folder(folder)) {
        for (const std::filesystem::path& path : record_files(folder))
            stages.insert(stage_of(path));
    }
    return {stages.begin(), stages.end()};
}

}  // namespace records
