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
    const char* words;  // "sectors loaded"
    int decimals;
    // What is said where a learner's is more than the solution's, unless the exercise says it better. Null: it counts only
    // where an exercise names it; a kernel may well do without the solution's way.
    const char* sentence;
    bool follows = false;  // an excess in it may follow from a like one in a measure before it
};

// Every one that there is: causes before their effects.
const std::vector<Measure>& all_measures();

// The one of that name; null where there is none.
const Measure* measure_called(const std::string& name);

// One count, and the lines of the source that it comes from, the largest part first, where it has any.
struct Counted {
    double value = 0;
    std::vector<std::pair<std::string, double>> lines = {};
    double lanes =
        0;  // of requests: how many of a warp's 32 lanes take part at the first line; 0: no such thing
};
using Counts = std::map<std::string, Counted>;  // by the measure's name

}  // namespace course
