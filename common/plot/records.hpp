// SPDX-License-Identifier: MIT
// Reads what `run` recorded, schema 1: folders of NN_name.json, NN_name.partial.json, NN_name.peers.json,
// NN_name.widths.json, NN_name.widths.partial.json and ncu.json.
#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/plot/input_error.hpp"

namespace plot {

// By name: rows, cols and whatever else the operation has, options such as a temperature of 0.8 among them.
using Sizes = std::map<std::string, double>;
std::string number_text(double size);  // "4000", "0.8"

struct Record {
    std::string stage, variant;
    std::string role = "ours";  // or "peer", "invalid", "part", "roof"
    std::string part;           // "selection": of a "part", what of the work it does alone
    std::string op;             // as pictures call it; empty: the record does not say
    std::string
        own_op;  // as itself: where the two differ it answers the same question in another way
    std::string roof = "copy";  // what the roof's speed is that of: copy, read, join, own
    std::string backend, dtype = "float32", input = "normal";
    std::string way;  // "cluster: why", where the variant chose
    Sizes shape;
    std::vector<std::string> sizes;         // their names, in the order of the record
    std::map<std::string, double> figures;  // by name: us_median, gbps, ...
    bool overflows = false;                 // by design: the stage takes no maximum off
    bool further = false;                   // goes beyond its stage's lesson

    std::optional<double> figure(const std::string& name) const;
    bool computes() const { return figures.count("tflops") > 0; }  // is about operations, not bytes
    bool timed() const { return backend != "cpu" && figures.count("us_median") > 0; }
    bool counted() const { return figures.count("loads_per_element") > 0; }
};

// What was recorded in one run of one stage: only figures of one file were measured side by side.
struct RecordFile {
    std::filesystem::path path;
    bool peers = false;    // NN_name.peers.json
    bool widths = false;   // NN_name.widths.json: a grid of widths, all of one size in bytes
    bool partial = false;  // NN_name.partial.json: of a run that its flags narrowed
    std::string chosen;    // those flags
    std::string gpu, driver, cuda, commit, date;
    std::vector<Record> records;

    std::string stage() const;  // as the file's name says
    bool run() const { return !peers && !widths; }
};

// A GPU's own counters of one variant, from ncu.json: bytes that DRAM delivered and took, and what each kernel took.
struct HardwareCount {
    struct Kernel {
        std::string name;
        double us;
    };
    std::string gpu, commit, date, stage, variant, dtype;
    std::string shape;            // as a word, where it is one: "8x128x12x64"
    std::vector<Kernel> kernels;  // those whose time was recorded
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
    std::string name() const;  // the last part of its path, printable
};

// InputError or io::FileError name the file, the record and the field that is wrong, and what is wanted.
// Fields that are not known are ignored. What is read has no control characters.
RecordFolder read_folder(const std::filesystem::path& path);
bool is_record_folder(const std::filesystem::path& path);

// Leaves, of a stage that was run as a whole and in part, the newer run.
void keep_newer_runs(RecordFolder& folder);

// "a partial run: --quick", or of which stages; empty where all files are of full runs.
std::string partial_words(const std::vector<const RecordFile*>& files);

// Marks those variants that `known` calls overflowing: older records do not say it themselves.
void mark_overflowing(std::vector<RecordFolder>& folders, const std::vector<RecordFolder>& known);

// The stages in the folders, in order.
std::vector<std::string> stages_in(const std::vector<RecordFolder>& folders);

// The stages that a folder has records of, by the names of its files; none where there is no such folder.
std::vector<std::string> stages_by_files(const std::filesystem::path& folder);

// Of the first stage's first record: what needs no saying where a picture is of that.
std::string first_operation(const std::vector<RecordFolder>& folders);

// The bytes of an element: 4 for "float32".
double bytes_of(const std::string& dtype);

}  // namespace plot
