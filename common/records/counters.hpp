// SPDX-License-Identifier: MIT
// A GPU's own counters, read once with Nsight Compute and kept in NN_name/recorded/GPU/counters.json.
#pragma once
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace records {

// A counter, under its name in the file and in Nsight Compute.
struct Metric {
    const char* key;
    const char* ncu_name;
    bool is_held;  // the x-ray is held to it
};
const std::vector<Metric>& metrics();

struct Kernel {
    std::string name;
    std::string grid, block;                 // as Nsight Compute writes them: "(256, 1, 1)"
    std::map<std::string, double> counters;  // by Metric::key
};

// What one variant was seen to do at one shape, with what, and when.
struct Profile {
    std::string stage, variant, dtype;
    std::string shape;  // as a word: "256x1024", "4000x128256,k=5", "8x128x12x64"
    std::string driver, ncu, commit, date;
    std::vector<Kernel> kernels;  // in the order of their launch

    // Over all kernels. std::out_of_range where the counter was not recorded.
    double sum(const std::string& key) const;

    // Whether its caches were looked at.
    bool has_all_counters() const;
};

// What one GPU and one compiler gave.
struct Recording {
    std::string gpu, nvcc;  // together the key: a new recording replaces the one with the same two
    std::vector<Profile> variants;  // with all counters
    std::vector<Profile> requests;  // with those alone that the x-ray is held to

    // Among both; nullptr where there is none.
    const Profile* find(const std::string& stage, const std::string& variant,
                        const std::string& shape, const std::string& dtype = "float32") const;
};

// None where there is no such file. io::FileError where there is one of another kind.
std::vector<Recording> read_counters(const std::filesystem::path& path);

// Adds to the file, or replaces in it; makes it and its folder where missing. Variants of an older
// recording of the same GPU and compiler that were not recorded now are kept.
void save_counters(const std::filesystem::path& path, Recording recording);

}  // namespace records
