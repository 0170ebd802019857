// SPDX-License-Identifier: MIT
// Where the program's records come from: the folders that were named, results/, or what is committed.
#pragma once
#include <string>
#include <vector>

#include "common/report/records.hpp"

namespace report {

inline constexpr const char* kResults = "results";

// The records to draw, and those to take counts from, best first.
struct Sources {
    std::vector<RecordFolder> drawn, counted;
    std::vector<HardwareCount> counters;
};

// `from`: the folders named, if any. Where nothing of the stages that `words` mean was timed there, what is
// recorded of the reference GPU takes their place: after a run silently, else only if none was named.
Sources sources_for(const std::vector<std::string>& from, const std::vector<std::string>& words,
                    bool after_run);

// The stages that words (03, online) mean, in the course's order; all where there are no words.
// InputError names the word that means none.
std::vector<std::string> chosen_stages(const std::vector<std::string>& words,
                                       const std::vector<std::string>& all);

// The stages in the folders, and those whose records are committed.
std::vector<std::string> known_stages(const std::vector<RecordFolder>& folders);

}  // namespace report
