// SPDX-License-Identifier: MIT
// What compiling a header costs, as compile_cost.py recorded it.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace records {

struct CompileCost {
    std::string calls;  // that are instantiated
    int64_t kernels;
    double seconds;
    double bytes;  // of the object file
};

struct CompileCosts {
    std::string nvcc;
    std::vector<CompileCost> all;
};

// io::FileError names the file, the record and the field that is wrong.
CompileCosts read_compile_costs(const std::filesystem::path& path);

}  // namespace records
