// SPDX-License-Identifier: MIT
// The run of one stage: what was asked for, and what has been found so far. The steps that fill it have a
// file each: choose, validate, measure, count, print, record.
#pragma once
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/runner/build_info.hpp"
#include "common/runner/npy.hpp"
#include "common/runner/record.hpp"
#include "common/runner/run.hpp"
#include "common/runner/stage.hpp"
#include "common/runner/validation.hpp"

namespace runner {

struct StageRun {
    const Stage& stage;
    const RunOptions& options;
    std::string narrowed_by;  // the flags that narrow the run, as typed, and what else did
    const std::optional<Array>& array;
    std::vector<const Variant*> chosen;
    bool limits_are_given = false;  // what a launcher takes is not for its author to say

    std::map<std::pair<const Variant*, DType>, Validation> results = {};

    // What a variant does not take, by what and why.
    struct LeftOut {
        std::set<std::string> dtypes, shapes;
    };
    std::map<std::string, LeftOut> left_out = {};

    // Races looked for.
    struct Watch {
        int launches = 0;
        bool global = false;
        bool in_clusters = false;
        bool found = false;
    };
    Watch watch = {};

    std::vector<Record> records = {};
    std::vector<std::string> warnings = {};
    Verdict verdict = Verdict::good;
    bool is_ended = false;  // by a signal
};

}  // namespace runner
