// SPDX-License-Identifier: MIT
// `run`: validate, measure, validate again, record.
#pragma once
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/runner/arguments.hpp"
#include "common/runner/stage.hpp"

namespace runner {

enum ExitCode { kGood = 0, kWrong = 1, kUsage = 2, kNoDevice = 77 };

// The user asked for something that makes no sense: says what would. Exit code 2.
class UsageError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

// The seed of what a run computes on, unless another is asked for.
constexpr uint64_t kRunSeed = 2018;

struct RunOptions {
    std::vector<std::string> stages;  // names; empty for all
    std::string variant;              // empty for all
    bool lesson = false;              // without variants that go further
    bool quick = false;
    std::vector<Shape> shapes;        // empty for the course's own
    int64_t megabytes = 0;            // instead: a fine grid of widths, x and the result this large
    std::vector<DType> dtypes;        // empty: float32, or a file's own; a full run validates all
    std::vector<std::string> inputs;  // named ones; empty for all
    std::string input_file;           // a .npy file instead of named inputs
    std::vector<Words> said;          // what such a file does not say; each is a problem
    std::string weights;           // a saved model (Checkpoint), for operations that have weights
    std::vector<int64_t> lengths;  // of the sequences in an input file; empty: all are full
    std::string save_output;       // a .npy file for the result
    uint64_t seed = kRunSeed;      // of the named inputs
    std::string out = "results";
};

// Runs the chosen stages of `all`, in order, printing to standard output. Throws UsageError,
// FileError, CudaError; returns kGood or kWrong.
ExitCode run(const std::vector<Stage>& all, RunOptions options);

}  // namespace runner
