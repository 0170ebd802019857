// SPDX-License-Identifier: MIT
// Chooses from records what a picture shows.
#pragma once
#include <string>
#include <vector>

#include "common/plot/figure.hpp"
#include "common/plot/records.hpp"

namespace plot {

struct Wish {
    std::vector<std::string> stages;  // as in the records; empty for all
    std::string dtype, op;            // empty: whatever is there; the operation a stage is about
    std::string x = "cols";           // or rows, k, size
    std::string y;                    // gbps, us, speedup, tflops; empty: what the records are about
    std::string title;                // instead of the usual one
};

// One line for each stage, that of its fastest variant, and the roof: a picture for each number of
// rows (more exactly: for each set of sizes that x is not).
std::vector<Figure> staircases(const std::vector<RecordFolder>& folders, const Wish& wish);

// The stage's variants, the fastest of the stage before, and the roof.
std::vector<Figure> variants(const std::vector<RecordFolder>& folders, const std::string& stage,
                             const Wish& wish);

// What others reach, and ours measured in the same run.
std::vector<Figure> peers(const std::vector<RecordFolder>& folders, const std::string& stage,
                          const Wish& wish);

// Microseconds of the variants, of a copy of the same bytes, and of a kernel that does nothing.
std::vector<Figure> times(const std::vector<RecordFolder>& folders, const std::string& stage,
                          const Wish& wish);

// Bytes per element as the lesson declares them, as counted, and as they reached DRAM. `counters`
// are a GPU's own; none where nothing of the stage was counted.
std::vector<Figure> traffic(const std::vector<RecordFolder>& folders, const std::string& stage,
                            const std::vector<HardwareCount>& counters);

// "03_online_softmax" as it is written beside a line: "03 online".
std::string short_name(const std::string& stage);

// GPU, versions, commit and date of the files, each named once.
std::string origin_of(const std::vector<const RecordFile*>& files);

}  // namespace plot
