// SPDX-License-Identifier: MIT
// Reads what `run` recorded: folders of NN_name.json, NN_name.peers.json, NN_name.widths.json and ncu.json, schema 1.
#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace plot {

// The command line or a file makes no sense: says what is wrong and what would be right. Exit code 2.
class InputError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

struct Record {
    std::string stage, variant;
    std::string role = "ours";  // or "peer", "roof"
    std::string op = "softmax";
    std::string backend, dtype = "float32", input = "normal";
    std::string way;                        // "cluster: why", where the variant chose
    std::map<std::string, int64_t> shape;   // rows, cols or whatever the operation has
    std::map<std::string, double> figures;  // every number under its name: us_median, gbps, ...

    std::optional<double> figure(const std::string& name) const;
    bool timed() const { return backend != "cpu" && figures.count("us_median") > 0; }
    bool counted() const { return figures.count("loads_per_element") > 0; }
};

// What was recorded in one run of one stage: only figures of one file were measured side by side.
struct RecordFile {
    std::filesystem::path path;
    bool peers = false;   // NN_name.peers.json
    bool widths = false;  // NN_name.widths.json: a grid of widths, all of one size in bytes
    std::string gpu, driver, cuda, commit, date;
    std::vector<Record> records;
};

// A GPU's own counters of one variant, from ncu.json: bytes that DRAM delivered and took.
struct HardwareCount {
    std::string gpu, commit, date, stage, variant, dtype;
    int64_t rows = 0, cols = 0;
    double dram_read_bytes = 0, dram_write_bytes = 0;
};

struct RecordFolder {
    std::filesystem::path path;
    bool committed = false;  // under common/recorded: not measured on this machine
    std::vector<RecordFile> files;
    std::vector<HardwareCount> counters;

    bool timed() const;
    bool counted() const;
    std::string gpu() const;   // empty where nothing was timed
    std::string name() const;  // the last part of its path
};

// InputError names the file and what is wrong with it. Fields that are not known are ignored.
RecordFolder read_folder(const std::filesystem::path& path);
bool is_record_folder(const std::filesystem::path& path);

// The stages in the folders, in order.
std::vector<std::string> stages_in(const std::vector<RecordFolder>& folders);

// The bytes of an element: 4 for "float32".
double bytes_of(const std::string& dtype);

}  // namespace plot
