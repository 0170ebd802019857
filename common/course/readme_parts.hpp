// SPDX-License-Identifier: MIT
// The parts of the READMEs that are counted or run anew, each a text in Markdown. (Those that come of records are
// common/report's.) A stage may be the whole one, or the variants of its lesson alone, or those beyond it: a part tells
// of the variants that it is given.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "common/records/counters.hpp"
#include "common/records/where.hpp"
#include "common/runner/stage.hpp"

namespace course {

// ---- what the x-ray counts: readme_counts.cpp

// A GPU's counters of a stage.
struct GpuCounters {
    std::string gpu;
    std::vector<records::Recording> recordings;
};

// Requests, sectors and conflicts as counted here and as a GPU's counters had them: those of `shown`, or of `other` if
// that has more of these variants.
std::string xray_part(const runner::Stage& stage, const GpuCounters& shown,
                      const GpuCounters& other);
// How variants that differ in where elements lie in shared memory load matrices from it: alike else, so at shapes that
// they take in the same tiles. words: the shape that is counted here, the one that the GPU's counters were read at, and
// the variants.
std::string banks_part(const runner::Stage& stage,
                       const std::vector<records::Recording>& recordings, const std::string& words);
// Where the requested bytes came from, on the GPU: the part that the x-ray cannot see.
std::string bytes_part(const runner::Stage& stage,
                       const std::vector<records::Recording>& recordings);
// The pictures of the x-ray that a README shows from NN_name/expected/pictures, each of a variant at its
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

// ---- readme_layer.cpp

// The kernels and the accesses of a layer's chains and of what they are fused to, as counted here and as a GPU's
// counters had them.
std::string layer_part(const runner::Stage& stage,
                       const std::vector<records::Recording>& recordings);

// What a layer keeps beside its operands, and what scores in memory would take.
std::string memory_part(const runner::Stage& stage);

}  // namespace course
