// SPDX-License-Identifier: MIT
// A folder of records: NN_name.json, NN_name.partial.json, NN_name.peers.json, NN_name.widths.json,
// NN_name.widths.partial.json and ncu.json.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "common/records/counters.hpp"
#include "common/records/record.hpp"

namespace records {

struct Folder {
    std::filesystem::path path;
    bool committed = false;  // under common/recorded: not measured on this machine
    std::vector<File> files;
    std::vector<Recording> counters;

    bool timed() const;
    bool counted() const;
    std::string gpu() const;   // empty where nothing was timed
    std::string name() const;  // the last part of its path, printable
};

// io::FileError as read() has it, or where the folder is none or holds no records.
Folder read_folder(const std::filesystem::path& path);
bool is_folder(const std::filesystem::path& path);

// Leaves, of a stage that was run as a whole and in part, the newer run.
void keep_newer_runs(Folder& folder);

// The stages in the folders, in order.
std::vector<std::string> stages_in(const std::vector<Folder>& folders);

// The stages that a folder has records of, by the names of its files; none where there is no such folder.
std::vector<std::string> stages_by_files(const std::filesystem::path& folder);

}  // namespace records
