// SPDX-License-Identifier: MIT
//
// What an exercise is graded by besides its results: counts of a launch, each by a name and in words.
#pragma once
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace course {

struct Measure {
    const char* name;   // in an exercise's file: "load_sectors"
    const char* words;  // "sectors per load request"
    int decimals;
};

// Every one that there is.
const std::vector<Measure>& all_measures();

// The one of that name; null where there is none.
const Measure* measure_called(const std::string& name);

// One count, and the lines of the source that it comes from, the largest part first, where it has any.
struct Counted {
    double value = 0;
    std::vector<std::pair<std::string, double>> lines = {};
};
using Counts = std::map<std::string, Counted>;  // by the measure's name

}  // namespace course
