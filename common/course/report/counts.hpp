// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// What `xray --json` wrote, of the course's variants or of a learner's own kernels, ready to stand beside its source.
#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace course {

// Accesses of one kind. Sectors are global memory's, wavefronts and conflicts those of shared memory in the compiled kernel.
struct Accesses {
    int64_t requests = 0, bytes = 0, sectors = 0, wavefronts = 0, conflicts = 0;
    // What a GPU counts where nvcc unrolls the loop around them.
    int64_t unrolled_requests = 0, unrolled_sectors = 0;

    Accesses& operator+=(const Accesses& other);
    // Steps of the memory that they take: what lines are compared by.
    int64_t steps() const { return sectors + wavefronts; }
};

struct AccessKind {
    std::string key;   // "global_load", as JSON has it
    bool cub = false;  // CUB makes them for itself, called on this line

    bool is_global() const { return key.rfind("global_", 0) == 0; }
    bool is_shared() const { return key.rfind("shared_", 0) == 0; }
    std::string words() const;  // "global load"
    friend bool operator<(const AccessKind& a, const AccessKind& b) {
        return std::tie(a.cub, a.key) < std::tie(b.cub, b.key);
    }
};
using AccessesByKind = std::map<AccessKind, Accesses>;

// A race, or a read of what nobody has written: who touched the same bytes, where.
struct Hazard {
    struct Side {
        std::string place;  // "03_online_softmax/online_softmax.cuh:50"
        std::string who;    // "thread 5 of block (1,0,0) reads"
    };
    std::vector<Side> sides;
    std::string memory;   // "shared"
    std::string missing;  // "with no __syncthreads or __syncwarp between"
    int64_t times = 0;
    bool harmless = false;  // all threads write the same value
};

struct Kernel {
    std::string name, launch;  // "256 x 2 blocks of 256 threads, 2 launches"
    double barriers_per_block = 0;
    std::map<std::pair<std::string, int>, AccessesByKind> lines;  // by file and number
    std::vector<Hazard> races, unwritten_reads;
};

// A variant, or a program.
struct Counts {
    std::string stage, name, shape, dtype;
    double loads = 0, stores = 0;  // per element
    std::vector<Kernel> kernels;
    std::vector<std::string> findings;  // what of the accesses to look at first
    std::vector<std::string> wrong;     // faults, and results that nobody has written
    std::vector<std::string> notes;

    std::map<std::pair<std::string, int>, AccessesByKind> lines() const;  // of all kernels
    Accesses total(bool (AccessKind::*is)() const) const;
};

// io::FileError where it is no such file.
std::vector<Counts> read_counts(const std::filesystem::path& json);

}  // namespace course
