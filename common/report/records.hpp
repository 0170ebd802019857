// SPDX-License-Identifier: MIT
// What pictures ask of folders of records.
#pragma once
#include <string>
#include <vector>

#include "common/records/folder.hpp"
#include "common/report/input_error.hpp"

namespace report {

using records::Record;
using records::Sizes;
using RecordFile = records::File;
using RecordFolder = records::Folder;
using records::keep_newer_runs;
using records::stages_in;

// A folder of records or, where there is none of that name, the stages' records of the GPU whose folder is called so:
// "nvidia_h200". io::FileError as records::read_folder() has it. Of what the files say of themselves no more than fits a
// line.
RecordFolder read_folder(const std::filesystem::path& path);

// "a partial run: --quick", or of which stages; empty where all files are of full runs.
std::string partial_words(const std::vector<const RecordFile*>& files);

// Marks those variants that `known` calls overflowing: older records do not say it themselves.
void mark_overflowing(std::vector<RecordFolder>& folders, const std::vector<RecordFolder>& known);

// Of the first stage's first record: what needs no saying where a picture is of that.
std::string first_operation(const std::vector<RecordFolder>& folders);

// The bytes of an element: 4 for "float32".
double bytes_of(const std::string& dtype);

// A GPU's own counters of one variant: bytes that DRAM delivered and took, and what each kernel took.
struct HardwareCount {
    struct Kernel {
        std::string name;
        double us;
    };
    std::string gpu, commit, date, stage, variant, dtype;
    std::string shape;            // as a word: "8x128x12x64"
    std::vector<Kernel> kernels;  // those whose time was recorded
    int64_t rows = 0, cols = 0;   // where there are two sizes, else 0
    double dram_read_bytes = 0, dram_write_bytes = 0;
};

// Those that have rows and columns, or times: nothing else is asked for here.
std::vector<HardwareCount> hardware_counts(const RecordFolder& folder);

}  // namespace report
