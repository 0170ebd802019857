// SPDX-License-Identifier: MIT
// The generated parts of the READMEs, each a text in Markdown. A stage may be the whole one, or the variants
// of its lesson alone, or those beyond it: a part tells of the variants that it is given.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "common/records/counters.hpp"
#include "common/records/record.hpp"
#include "common/runner/stage.hpp"

namespace course {

using records::Record;

constexpr const char* kGpu = "NVIDIA H200";  // where all that is recorded was measured

// ---- words

std::string with_thousands(double value);
// "4000 x 1000, float16": float32 goes without saying.
std::string with_dtype(const std::string& shape, const std::string& dtype);
// What a record says of its problem: "4000 x 128256 k=5, float16".
std::string shape_text(const Record& record, const runner::Stage& stage);

// ---- what the x-ray counts: readme_counts.cpp

// Requests, sectors and conflicts as counted here and as the GPU's counters had them.
std::string xray_part(const runner::Stage& stage,
                      const std::vector<records::Recording>& recordings);
// How variants that differ in where elements lie in shared memory load matrices from it: alike else, so at shapes that
// they take in the same tiles. words: the shape that is counted here, the one that the GPU's counters were read at, and
// the variants.
std::string banks_part(const runner::Stage& stage,
                       const std::vector<records::Recording>& recordings, const std::string& words);
// Where the requested bytes came from, on the GPU: the part that the x-ray cannot see.
std::string bytes_part(const runner::Stage& stage,
                       const std::vector<records::Recording>& recordings);
// The pictures of the x-ray that a README shows from common/recorded/cpu_device/pictures, each of a variant at its
// usual shape, drawn anew. Throws std::runtime_error for one that no variant has. In readme_pictures.cpp.
struct NamedText {
    std::string name, text;
};
std::vector<NamedText> pictures_shown(const std::string& readme, const runner::Stage& stage);
// The same counts as records, for the pictures: like those of `run`, but always of the usual shape,
// and with nothing in them that differs from one machine or day to another.
std::string counted_records(const runner::Stage& stage);

// ---- what programs print: readme_output.cpp

// What `./stages WORDS` prints on the CPU device, as a block; words: "run 01 --quick", or "run my/name.cu" for the
// program that the README shows last before that. Throws std::runtime_error where a stage's run is not good or the
// program does not compile.
std::string output_part(const std::filesystem::path& repository,
                        const std::filesystem::path& readme, const std::string& words);

// ---- what was measured: readme_measured.cpp, readme_times.cpp; `folder` holds the GPU's records

// What was expected of each variant of the lesson and what came out: a row for each shape, at most eight. Where
// they belong to several operations, a table for each with its first three shapes.
std::string lesson_part(const std::filesystem::path& folder, const runner::Stage& stage);
// The same of what goes beyond the lesson, of a whole stage: a table for each operation and type, a row for each
// shape, and beside it the lesson's fastest. What mostly the same variants have stands together, so that no
// table is mostly empty.
std::string measured_part(const std::filesystem::path& folder, const runner::Stage& stage);
// For a stage with many variants: of each operation, the share of the roof's speed that each variant has
// at each shape, the best of it in bold.
std::string shares_part(const std::filesystem::path& folder, const runner::Stage& stage);
// What a stage gains at the paper's widths, for its two numbers of rows: over its baseline or, where its lesson is a
// ladder of its own, that ladder's last variant over the first.
std::string paper_part(const std::filesystem::path& folder, const runner::Stage& stage);
// Our variants and what one would use instead, timed in turn: a table for each operation, a row for
// each shape, the fastest of it in bold (the roof computes nothing and takes no part; what is known
// to be wrong is not shown). Of many alike one column has the fastest. What does a part of the work alone has a table
// of its own, which says which part, beside the fastest of ours.
std::string peers_part(const std::filesystem::path& folder, const runner::Stage& stage);
// What a stage set itself, in `bars` (a file of it, further/bars.json), and what came out. The file holds groups:
// what all bars of a group share stands once, beside them. A bar says of a variant at a shape, and a type where that
// is not float32, what it may take at most, in units of reading the input once (as the roof does or, of those timed in
// turn whose name begins with `than`, the fastest) or in microseconds; or at least what share of the roof's speed it
// has to reach, or of another's: that called `than`, else the fastest there whose name begins so and which computes the
// same; in blocks where both have such a time.
// [{"variant": "v", "bars": [{"shape": "4000x25000,k=256", "reads": 2.2}, {"shape": "10x128256,k=5", "us": 12}]},
//  {"variant": "w", "dtype": "float16", "than": "cublas/", "speed": 0.85, "bars": [{"shape": "16x512x512x512"}]}]
// `recorded` has a folder for each GPU: kGpu comes first, and behind it what any other has records of.
std::string bars_part(const std::filesystem::path& recorded, const runner::Stage& stage,
                      const std::filesystem::path& bars);
// Where in a grid of widths a variant is farthest from the copy, by type.
std::string widths_part(const std::filesystem::path& folder, const runner::Stage& stage);
// What compiling costs, as compile_cost.py recorded it under `recorded`, as NAME.json.
std::string compiled_part(const std::filesystem::path& recorded, const std::string& name);
// Each front call beside the fastest of what one would use instead, at up to three shapes; headers' cards say which
// variant it is timed as.
std::string calls_part(const std::filesystem::path& repository, const std::filesystem::path& folder,
                       const std::vector<runner::Stage>& stages);
// What each stage reaches at a few shapes, of what the course begins with: its lesson, and what goes beyond.
std::string speeds_part(const std::filesystem::path& folder,
                        const std::vector<runner::Stage>& stages);

}  // namespace course
