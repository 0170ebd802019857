// SPDX-License-Identifier: MIT
// `run`: validate, measure, validate again, record.
#pragma once
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/runner/inputs.cuh"
#include "common/runner/stage.hpp"

namespace runner {

enum ExitCode { kGood = 0, kWrong = 1, kUsage = 2, kNoDevice = 77 };

// The user asked for something that makes no sense: says what would. Exit code 2.
class UsageError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

struct RunOptions {
    std::vector<std::string> stages;  // names; empty for all
    std::string variant;              // empty for all
    bool quick = false;
    std::vector<Shape> shapes;  // empty for the course's own
    int64_t megabytes = 0;      // instead: a fine grid of widths, x and the result this large
    std::vector<DType> dtypes;  // empty: float32, or a file's own; a full run validates all
    std::vector<Input> inputs;  // empty for all
    std::string input_file;     // a .npy file instead of named inputs
    std::string save_output;    // a .npy file for the result
    bool ask = false;           // let the audience guess before a number is shown
    std::string out = "results";
};

// Runs the chosen stages of `all`, in order, printing to standard output. Throws UsageError,
// FileError, CudaError; returns kGood or kWrong.
ExitCode run(const std::vector<Stage>& all, RunOptions options);

// The stage of `all` that `word` means: 3, 03, online, online_softmax, 03_online_softmax.
// UsageError lists them.
const Stage& find_stage(const std::vector<Stage>& all, std::string word);

// Those that the words mean, in their order; without words all of them.
std::vector<const Stage*> chosen_stages(const std::vector<Stage>& all,
                                        const std::vector<std::string>& words);

// UsageError, which lists the variants, where none of the stages' is called so. Empty means any.
void require_variant(const std::vector<const Stage*>& stages, const std::string& variant);

// Digits alone as a number from `least` to `most`. UsageError, which names the flag, for anything else: a
// sign, a blank, a fraction, a number of too many digits.
uint64_t parse_whole_number(const std::string& flag, const std::string& text, uint64_t least,
                            uint64_t most);

// "4000x1000" or "4x1000x64" as a shape. UsageError for anything else.
Shape parse_shape(const std::string& text);

// "float16" as a type. UsageError lists them.
DType parse_dtype(const std::string& text);

// Throws UsageError with the reason where the variant cannot be launched so.
void require_taken(const Variant& variant, Shape shape, DType dtype);

}  // namespace runner
