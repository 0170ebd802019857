// SPDX-License-Identifier: MIT
//
// What is said of a learner's program when it ends.
#pragma once

#include "common/course/my/options.hpp"
#include "common/course/my/watcher.hpp"

namespace my {

struct Outcome {
    bool good;  // no fault, no race, nothing read that nobody has written
};

// `status`: with which the program ends. `output`: the file for a report that standard output is asked for.
Outcome report(const Options& options, const Watcher& watcher, int status, int output);

}  // namespace my
