// SPDX-License-Identifier: MIT
// Chooses from records what a picture shows.
#pragma once
#include <string>
#include <vector>

#include "common/plot/figure.hpp"
#include "common/plot/records.hpp"

namespace plot {

struct Choice {
    std::vector<std::string> stages;  // as in the records
    std::string dtype, op;            // empty: whatever is there; the operation a stage is about
    std::string x = "cols";           // or rows, k, size
    std::string y;      // gbps, us, speedup, tflops; empty: what the records are about
    std::string title;  // instead of the usual one
};

// One line for each stage and the roof, a picture for each number of rows (more exactly: for each
// set of the sizes that x is not). None where there is but one stage: `stage_pictures` has it.
std::vector<Figure> staircases(const std::vector<RecordFolder>& folders, const Choice& choice);

// Of one stage: its variants beside the stage before, its peers, its times beside a copy's, and its grid
// of widths.
std::vector<Figure> stage_pictures(const std::vector<RecordFolder>& folders,
                                   const std::string& stage, const Choice& choice);

// Bytes per element as the lesson declares them, as asked for and as moved in the first folder that has
// counts of this stage, and as they reached DRAM (a GPU's own counters). None where nothing was counted.
std::vector<Figure> traffic(const std::vector<RecordFolder>& folders, const std::string& stage,
                            const std::vector<HardwareCount>& counters);

// "03 online" for 03_online_softmax.
std::string short_name(const std::string& stage);

// GPU, versions, commit and date of some files, for the small print.
std::string origin_of(const std::vector<const RecordFile*>& files);

}  // namespace plot
