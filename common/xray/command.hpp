// SPDX-License-Identifier: MIT
//
// The verbs `xray` (counts what a variant touches, on the CPU device) and `ncu` (records what a GPU
// counts).
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "common/runner/run.hpp"
#include "common/runner/stage.hpp"

namespace xray {

struct XrayOptions {
    std::vector<std::string> stages;  // names; empty for all
    std::string variant;              // empty for all
    runner::Shape shape;
    bool lines = false;
    std::string json;     // a file, "-" for standard output, empty for none
    std::string picture;  // a folder, empty for none
};

// A build has one of these two; the other says what it takes.
runner::ExitCode run_xray(const std::vector<runner::Stage>& stages, const XrayOptions& options);
runner::ExitCode run_ncu(const std::vector<runner::Stage>& stages,
                         const std::vector<std::string>& chosen, const std::string& launch,
                         const std::string& shape, const std::string& out);

class Verbs {
public:
    // Adds them to the program's command line.
    explicit Verbs(CLI::App& app);
    Verbs(const Verbs&) = delete;
    Verbs& operator=(const Verbs&) = delete;

    // Whether the command line, once parsed, names one of them.
    bool chosen() const { return xray_->parsed() || ncu_->parsed(); }

    // Throws UsageError, CudaError, std::runtime_error.
    runner::ExitCode run(const std::vector<runner::Stage>& stages);

private:
    CLI::App* xray_;
    CLI::App* ncu_;
    XrayOptions options_;
    std::string shape_ = "256x1024";
    std::string dtype_ = "float32";
    std::vector<std::string> ncu_stages_;
    std::string ncu_launch_;
    std::string ncu_shape_ = "256x1024";
    std::string ncu_out_;
};

}  // namespace xray
