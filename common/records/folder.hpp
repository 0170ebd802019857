// SPDX-License-Identifier: MIT
// A folder of records: NN_name.json, NN_name.partial.json, NN_name.peers.json, NN_name.widths.json,
// NN_name.widths.partial.json, NN_name.timeline.json and counters.json; or what lies in the stages' folders (where.hpp).
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "common/records/counters.hpp"
#include "common/records/record.hpp"

namespace records {

struct Folder {
    std::filesystem::path path;
    bool committed = false;  // from a stage's folder: not measured on this machine
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

// All that the stages' folders hold of a GPU, by its folder's name, and what the CPU device counts of them; nothing where
// they hold nothing. io::FileError as read() has it.
Folder read_recorded(const std::filesystem::path& repository, const std::string& gpu_folder);
Folder read_expected(const std::filesystem::path& repository);

// Leaves, of a stage that was run as a whole and in part, the newer run.
void keep_newer_runs(Folder& folder);

// The stages in the folders, in order.
std::vector<std::string> stages_in(const std::vector<Folder>& folders);
}  // namespace records
