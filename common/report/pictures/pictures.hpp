// SPDX-License-Identifier: MIT
// The kinds of pictures: which records each shows, and beside what.
#pragma once
#include <string>
#include <vector>

#include "common/report/pictures/figure.hpp"
#include "common/report/pictures/selection.hpp"
#include "common/report/records.hpp"

namespace report {

// One line for each stage's lesson, a thin one for what goes beyond it, and the roof; a picture for each number
// of rows (more exactly: for each set of the sizes that x is not). None where there is but one stage: `stage_pictures` has it. The pictures
// of the first operation of all are called staircase, those of others have it in their name.
std::vector<Figure> staircases(const std::vector<RecordFolder>& folders, const Choice& choice);

// Of one stage and its first operation: its lesson's variants beside the lesson before, what goes beyond the
// lesson, its peers, the lesson's times beside the roof's, and its grid of widths. Of a lesson of several operations
// all of them in one picture. Of each other one that is about operations and not bytes: the speeds of all variants,
// and of the peers.
std::vector<Figure> stage_pictures(const std::vector<RecordFolder>& folders,
                                   const std::string& stage, Choice choice);

// Bytes per element as the lesson declares them, as asked for and as moved in the first folder that has
// counts of this stage, and as they reached DRAM (a GPU's own counters). None where nothing was counted.
std::vector<Figure> traffic(const std::vector<RecordFolder>& folders, const std::string& stage,
                            const std::vector<HardwareCount>& counters,
                            const std::vector<std::string>& known = {});

// Of a lesson that is about operations each variant's speed over its operations per byte, below what memory and each
// element type's roof allow; at the largest shape of all variants. None where no record says what memory delivers.
std::vector<Figure> rooflines(const std::vector<RecordFolder>& folders, const std::string& stage,
                              const Choice& choice);

// Of each variant of many kernels how long each took, one behind the other.
std::vector<Figure> kernels(const std::string& stage, const std::vector<HardwareCount>& counters,
                            const std::vector<std::string>& known = {});

}  // namespace report
