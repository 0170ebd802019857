// SPDX-License-Identifier: MIT
// What a table of a README is made of: a stage's committed records.
#pragma once
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/records/record.hpp"
#include "common/records/where.hpp"

namespace report {

using records::Record;

// A stage can be written, counted and tested without a GPU: then its tables say this.
inline constexpr const char* kNotMeasured = "Not measured on a GPU yet.\n";
class NotMeasured : public std::runtime_error {
public:
    NotMeasured() : std::runtime_error(kNotMeasured) {}
};

struct Source {
    std::filesystem::path repository;
    std::string stage;                  // NN_name
    bool further = false;               // the table stands on a page of what goes beyond the lesson
    std::string gpu = records::kShown;  // the folder of its records
    // Of the page's variants, those that the table shows; empty: all. A table beside peers has all contenders of the
    // operations that these compute.
    std::vector<std::string> only = {};

    // What the stage's runs recorded, what was timed beside peers, a grid of widths, and a layer's kernels. NotMeasured
    // where there is no such file, as where a table finds nothing in it.
    records::File own() const { return required(records::kOwn); }
    records::File peers() const;
    records::File widths() const { return required(records::kWidths); }
    records::File timeline() const { return required(records::kTimeline); }
    std::optional<records::File> find(const char* name) const;
    // The variants of these records in the order of the stage, which its counts on the CPU device have.
    std::vector<std::string> variants_in(const records::File& file) const;

    // A file in NN_name/expected.
    std::filesystem::path expected(const char* name) const {
        return records::expected_of(repository, stage) / name;
    }

private:
    // Of the GPU that the pages show, or of the other one if it has records of more of the variants in `only`: new variants are
    // recorded on the GPU that is there.
    records::File with_most(const char* name) const;
    // Of the operations that `only` computes.
    records::File of_operations(const char* name) const;
    // Of the page's variants `only` alone.
    records::File required(const char* name) const;
};

// ---- what tables ask of records

// The fastest of those wanted, by their figure `us`; nullptr where none has it.
template <class Wanted>
const Record* fastest(const records::File& file, Wanted wanted, const char* us = "us_median") {
    const Record* best = nullptr;
    for (const Record& record : file.records) {
        if (record.has(us) && wanted(record) && (best == nullptr || record.at(us) < best->at(us)))
            best = &record;
    }
    return best;
}

double roof_us(const Record& record);

// The roof's time with the accesses that the lesson declares, apart from what a launch costs: the time if every access
// went to memory.
double expected_us(const Record& record);

double share_of_roof(const Record& record);

// Whether the roof computes the same. Else it only moves as many bytes, and a share of it says nothing of a kernel that
// is about operations.
bool roof_computes(const Record& record);

// Its shape and, where that is not float32, its type: "4000 x 128256 k=5, float16".
std::string problem_text(const Record& record);

}  // namespace report
