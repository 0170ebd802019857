// SPDX-License-Identifier: MIT
#include "common/records/folder.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "common/io/files.hpp"
#include "common/io/text.hpp"
#include "common/records/where.hpp"

namespace records {
namespace {

// NN_name.json and its kinds, and what lies in a stage's folder: nothing else is a record.
bool is_record_file(const std::filesystem::path& path) {
    static const std::set<std::string> kinds = {".json",         ".peers.json",
                                                ".widths.json",  ".timeline.json",
                                                ".partial.json", ".widths.partial.json"};
    static const std::set<std::string> at_home = {kOwn, kPeers, kWidths, kTimeline, kCounts};
    const std::string name = path.filename();
    if (!is_stage(name)) return at_home.count(name) > 0 && !stage_of(path).empty();
    const size_t dot = name.find('.');
    return dot != std::string::npos && kinds.count(name.substr(dot)) > 0;
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

// Nothing where there is no such folder.
void add_files(Folder& folder, const std::filesystem::path& path) {
    std::error_code error;
    if (!std::filesystem::is_directory(path, error)) return;
    for (const std::filesystem::path& file : record_files(path)) folder.files.push_back(read(file));
    for (Recording& each : read_counters(path / kCounters))
        folder.counters.push_back(std::move(each));
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
    folder.committed = !is_stage(files.front().filename());
    add_files(folder, path);
    return folder;
}

Folder read_recorded(const std::filesystem::path& repository, const std::string& gpu_folder) {
    Folder folder;
    folder.path = recorded_of_all(repository, gpu_folder);
    folder.committed = true;
    for (const std::string& stage : stage_folders(repository)) {
        for (const char* const name : {kOwn, kPeers, kWidths, kTimeline}) {
            const std::filesystem::path file = record_of(repository, stage, gpu_folder, name);
            if (std::filesystem::exists(file)) folder.files.push_back(read(file));
        }
        for (Recording& each : read_counters(record_of(repository, stage, gpu_folder, kCounters)))
            folder.counters.push_back(std::move(each));
    }
    return folder;
}

Folder read_expected(const std::filesystem::path& repository) {
    Folder folder;
    folder.path = repository;
    folder.committed = true;
    for (const std::string& stage : stage_folders(repository))
        add_files(folder, expected_of(repository, stage));
    return folder;
}

void keep_newer_runs(Folder& folder) {
    const auto key = [](const File& file) {
        return std::tuple(file.stage(), file.peers(), file.widths(), file.timeline());
    };
    std::map<std::tuple<std::string, bool, bool, bool>, const File*> newest;
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

}  // namespace records
