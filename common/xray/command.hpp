// SPDX-License-Identifier: MIT
//
// What the verbs `xray` and `ncu` do.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/runner/run.hpp"
#include "common/runner/stage.hpp"

namespace xray {

struct XrayOptions {
    std::vector<std::string> stages;     // names; empty for all
    std::string variant;                 // empty for all
    std::optional<runner::Shape> shape;  // otherwise what is usual for what each variant computes
    std::optional<runner::DType> dtype;  // otherwise the first that each variant takes
    bool lines = false;
    bool all = false;     // every page, however many lines that takes; else what fits a screen
    std::string json;     // a file, "-" for standard output, empty for none
    std::string picture;  // a folder, empty for none
    std::string at;       // the line that pictures show, see pictures_of(); empty: the most telling
};

struct NcuOptions {
    std::vector<std::string> stages;     // names; empty for all
    std::string variant;                 // empty for all
    std::optional<runner::Shape> shape;  // of all counters; otherwise the operations' own
    std::optional<runner::DType>
        dtype;            // with a shape; otherwise the first that each variant takes
    std::string out;      // a file; empty for the repository's own
    bool resume = false;  // without what is there already, of this commit
    std::string launch;   // a file that names what to launch; empty: record
};

// A build has one of these two; the other says what it takes.
runner::ExitCode run_xray(const std::vector<runner::Stage>& stages, const XrayOptions& options);
runner::ExitCode run_ncu(const std::vector<runner::Stage>& stages, const NcuOptions& options);

}  // namespace xray
