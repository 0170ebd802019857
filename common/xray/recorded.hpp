// SPDX-License-Identifier: MIT
//
// A GPU's own counters, read once with Nsight Compute and kept in common/recorded/GPU/ncu.json.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "common/runner/stage.hpp"

namespace xray {

// A counter, under its name in the file and in Nsight Compute.
struct Metric {
    const char* key;
    const char* ncu_name;
    bool is_held;  // the x-ray is held to it
};
const std::vector<Metric>& recorded_metrics();

struct RecordedKernel {
    std::string name;
    std::string grid, block;                 // as Nsight Compute writes them: "(256, 1, 1)"
    std::map<std::string, double> counters;  // by Metric::key
};

// What a variant was recorded with, and when.
struct Origin {
    std::string driver, ncu, commit, date;
};

struct RecordedVariant {
    std::string stage, variant;
    runner::DType dtype;
    runner::Shape shape;
    Origin origin;
    std::vector<RecordedKernel> kernels;  // in the order of their launch

    // Over all kernels. Throws std::out_of_range where the counter was not recorded.
    double sum(const std::string& key) const;

    // Whether its caches were looked at.
    bool has_all_counters() const;
};

// What one GPU and one compiler gave.
struct Recording {
    std::string gpu, nvcc;  // together the key: a new recording replaces the one with the same two
    std::vector<RecordedVariant> variants;  // with all counters
    std::vector<RecordedVariant> requests;  // with those alone that the x-ray is held to

    // Among both.
    const RecordedVariant* find(const std::string& stage, const std::string& variant,
                                const runner::Shape& shape,
                                runner::DType dtype = runner::DType::float32) const;
};

// "NVIDIA H200" as the name of its folder: "nvidia_h200".
std::string folder_of(const std::string& gpu);

// The folders in `recorded`, common/recorded say, that belong to a GPU: sorted. None where there is no such folder.
std::vector<std::filesystem::path> folders_of_gpus(const std::filesystem::path& recorded);

// Where the recordings of a GPU are.
std::string recordings_path(const std::string& gpu);

// Empty if there is no such file. Throws std::runtime_error if there is one of another kind.
std::vector<Recording> read_recordings(const std::string& path);

// Adds to the file, or replaces in it; makes it and its folder where missing. Variants of an older
// recording of the same GPU and compiler that were not recorded now are kept.
void save_recording(const std::string& path, Recording recording);

}  // namespace xray
