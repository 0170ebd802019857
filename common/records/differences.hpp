// SPDX-License-Identifier: MIT
// Where the x-ray's counts are known to differ from a GPU's, by how much at most and why: NN_name/expected/differences.json.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace records {

struct Difference {
    std::string stage, variant;
    std::string shape;                // as a word: "61x777", "5x5003,k=300"; empty: at all of them
    std::vector<std::string> dtypes;  // none: all
    std::vector<std::string> counters;
    std::string gpu;              // empty: all. What is of one stands before what is of all
    int64_t one_in = 1;           // at most one in so many of what was recorded, and
    int64_t at_most = INT64_MAX;  // no more than so many
    std::string why;              // in words
};

// Those of one stage, in their order; none where there is no such file. io::FileError names what is wrong.
std::vector<Difference> read_differences(const std::filesystem::path& path);

}  // namespace records
