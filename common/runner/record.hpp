// SPDX-License-Identifier: MIT
// What was measured or counted of one variant at one shape, and the plain record that is written of it.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/records/record.hpp"
#include "common/runner/probe.hpp"
#include "common/runner/stage.hpp"
#include "common/runner/timing.hpp"

namespace runner {

struct Record {
    std::string stage;
    std::string variant;
    std::string role = "ours";  // or "peer", "roof"
    const Operation* operation = nullptr;
    DType dtype = DType::float32;
    std::string input;
    Shape shape;
    Cost cost;         // of whatever computes the operation: one numerator for a whole family
    Traffic declared;  // accesses per element that the lesson claims
    double max_relative_error = 0;      // of this shape's result
    std::optional<TimedVariant> timed;  // on a GPU
    std::optional<Counts> counts;       // on the CPU device
    int64_t bank_conflicts = 0;         // of counts, those of the compiled kernel
    std::string way;                    // where the variant chooses: which, and why
    std::string baseline;               // what speedup is relative to; empty for none
    std::optional<double> speedup;
    bool overflows = false;  // by design: see Variant
    bool further = false;    // goes beyond the lesson: see Variant
};

// CUDA's versions of itself and of its driver as text: it counts 13000 for 13.0.
std::string version_text(int version);

// The plain record of a variant at a shape, without figures.
records::Record plain_record(const std::string& stage, const std::string& variant,
                             const Operation& operation, const Shape& shape);

// What every file of records opens with, as JSON text: schema, GPU, versions, commit, date.
std::string record_header();

// What is counted per element: loads and stores of elements of the type.
Traffic traffic_of(const Record& record);

double gigabytes_per_second(int64_t bytes, double us);
double teraflops(double operations, double us);

// In the unit of its operation, for work of so many microseconds.
double speed_of(const Record& record, double us);

// Bytes of global memory that were moved, in sectors of 32, per byte that was asked for; nothing where
// none was.
std::optional<double> bytes_moved_per_byte(int64_t sectors, int64_t bytes_asked_for);
std::optional<double> bytes_moved_per_byte(const Counts& counts);

// Where the records of that name lie.
std::string records_path(const std::string& directory, const std::string& name);

// Writes them, making the directory. chosen: the flags that narrowed the run; empty for a full one. The
// file appears whole or not at all; FileError if it cannot. Returns its path.
std::string write_records(const std::string& directory, const std::string& name,
                          const std::string& chosen, const std::vector<Record>& records);

}  // namespace runner
