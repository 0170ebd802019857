// SPDX-License-Identifier: MIT
// Two record folders, measurement by measurement.
#pragma once
#include <string>
#include <vector>

#include "common/report/pictures/figure.hpp"
#include "common/report/records.hpp"

namespace report {

enum class Verdict { faster, slower, within_noise, only_in_a, only_in_b };

// One measurement (stage, variant, operation, shape, element type, input) in A, in B or in both.
struct Pair {
    const Record* a = nullptr;
    const Record* b = nullptr;
    Verdict verdict = Verdict::within_noise;
    double ratio = 0;  // microseconds of A over those of B: above 1, B is faster

    const Record& any() const { return a != nullptr ? *a : *b; }
};

// A count (loads, stores, sectors, bank conflicts) that is not the same in A and B.
struct CountChange {
    const Record* a;
    std::string count;  // its name in the records
    double in_a, in_b;
};

struct Comparison {
    std::vector<Pair> timed;
    std::vector<CountChange> changed_counts;
    size_t counted = 0;  // variants and shapes with counts in both
    size_t counts_only_in_a = 0, counts_only_in_b = 0;

    size_t count(Verdict verdict) const;
};

// Leaves of each stage one run in each folder: where both have a run of the whole stage, those; else
// where both have a partial one, those; else the newer of each.
void keep_comparable_runs(RecordFolder& a, RecordFolder& b);

// B counts as faster or slower where its median differs from A's by more than 2 % and the intervals
// from the 10th to the 90th percentile do not overlap; otherwise the difference is within the noise.
// Counts have no noise: any difference counts. The records must outlive the result.
Comparison compare(const RecordFolder& a, const RecordFolder& b);

void print(const Comparison& comparison, const RecordFolder& a, const RecordFolder& b,
           bool only_changes);

// The ratio against columns, a picture for each number of rows.
// `known`: every stage there is, for the short names.
std::vector<Figure> pictures_of(const Comparison& comparison, const RecordFolder& a,
                                const RecordFolder& b, const std::vector<std::string>& known = {});

}  // namespace report
