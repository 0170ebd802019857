// SPDX-License-Identifier: MIT
// Where the facts about a stage lie: in its own folder. What spans stages lies in common/recorded/GPU.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace records {

// The GPU whose records the pages show. The other one stands in for what the first has no records of yet: files of a
// stage, and the pictures of several stages.
inline constexpr const char *kReferenceGpu = "NVIDIA H100 80GB HBM3", *kOtherGpu = "NVIDIA H200";

// The files in NN_name/recorded/GPU: times of its variants, beside peers, over a grid of widths, and of each kernel of a
// layer; and a GPU's counters.
inline constexpr const char *kOwn = "own.json", *kPeers = "peers.json", *kWidths = "widths.json",
                            *kTimeline = "timeline.json", *kCounters = "counters.json";
// And those in NN_name/expected that are records: what the CPU device counts, and what compiling costs.
inline constexpr const char *kCounts = "counts.json", *kCompileCost = "compile_cost.json";
// What compiling the front calls costs: of all stages, and of no GPU.
inline constexpr const char* kFrontCallCosts = "common/recorded/nvcc/front_calls.json";

// "NVIDIA H200" as the name of its folder: "nvidia_h200".
std::string folder_of(const std::string& gpu);

// REPOSITORY/NN_name/recorded/GPU for a GPU's folder, and REPOSITORY/NN_name/expected.
std::filesystem::path recorded_of(const std::filesystem::path& repository, const std::string& stage,
                                  const std::string& gpu_folder);
std::filesystem::path expected_of(const std::filesystem::path& repository,
                                  const std::string& stage);

// REPOSITORY/common/recorded/GPU, whether it is there or not.
std::filesystem::path recorded_of_all(const std::filesystem::path& repository,
                                      const std::string& gpu_folder);

// The GPU whose records a stage's pages show: the reference, or the one that NN_name/recorded/shown_gpu names, where the
// reference's are not whole yet. That file may also name the GPU of one file of records: "peers.json: NVIDIA H200". `./stages
// readme` leads the pictures' links there.
std::string shown_gpu(const std::filesystem::path& repository, const std::string& stage,
                      const std::string& file = "");

// NN_name/recorded/GPU/own.json, or another file of a GPU's. With kShown: of the GPU that the pages show, or of
// kOtherGpu where that has no such file.
std::filesystem::path record_of(const std::filesystem::path& repository, const std::string& stage,
                                const std::string& gpu_folder, const char* name);

// In place of a GPU's folder: of each stage that of the GPU which its pages show.
inline constexpr const char* kShown = "shown";

// Whether a name is a stage's: NN_name.
bool is_stage(const std::string& name);

// The repository's folders that are called as a stage is, in order.
std::vector<std::string> stage_folders(const std::filesystem::path& repository);

// A stage's pages: NN_name/README.md and, in order of their names, NN_name/further/*.md.
std::vector<std::filesystem::path> pages_of(const std::filesystem::path& repository,
                                            const std::string& stage);

// The folders of the GPUs that any stage has records of, in order: "nvidia_h200".
std::vector<std::string> gpu_folders(const std::filesystem::path& repository);

}  // namespace records
