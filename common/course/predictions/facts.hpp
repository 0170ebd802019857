// SPDX-License-Identifier: MIT
//
// Facts about the stages' variants, wherever they are known from: this run, the records of a GPU, the counts of the CPU
// device.
#pragma once
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/records/folder.hpp"

namespace course {

// A variant at a shape.
struct Place {
    std::string stage, variant;
    std::string shape;  // as a word: "4000x1000", "8x25000,k=5"
    std::string dtype;
};

// A figure of each of several places, all from one source.
struct Known {
    std::vector<double> values;
    std::string source;  // "recorded on NVIDIA H200"
};

class Facts {
public:
    explicit Facts(std::filesystem::path repository) : repository_(std::move(repository)) {}

    // What a run has just written, which comes before what is committed. A folder that cannot be read is as good as none.
    void add_run(const std::filesystem::path& folder);

    // A figure of records (gbps, bank_conflicts, ...) or a GPU's counter (registers, ...); and those that follow from
    // counters. Nothing where no source has it of all places. io::FileError where a file cannot be read.
    std::optional<Known> find(const std::string& figure, const std::vector<Place>& places);

private:
    const records::Folder& recorded(const std::string& stage);
    const records::Folder& counted(const std::string& stage);

    std::filesystem::path repository_;
    std::optional<records::Folder> run_;
    std::map<std::string, records::Folder> recorded_, counted_;
};

}  // namespace course
