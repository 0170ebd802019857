// SPDX-License-Identifier: MIT
//
// The verbs in a build for the CPU device.
#include <cstdio>
#include <fstream>
#include <list>

#include "command.hpp"
#include "report.hpp"

namespace xray {
namespace {

// The GPU whose counters the course shows where there is none.
constexpr const char* kRecordedGpu = "NVIDIA H200";

void write_file(const std::string& path, const std::string& text) {
    std::ofstream file(path);
    file << text;
    file.close();
    if (!file) throw std::runtime_error(path + ": cannot be written");
}

// Counts the chosen variants, one after the other.
std::vector<CountedVariant> count_chosen(const std::vector<runner::Stage>& stages,
                                         const XrayOptions& options) {
    std::vector<const runner::Stage*> chosen;
    for (const std::string& name : options.stages) {
        chosen.push_back(&runner::find_stage(stages, name));
    }
    if (chosen.empty()) {
        for (const runner::Stage& stage : stages) chosen.push_back(&stage);
    }
    std::vector<CountedVariant> counted;
    for (const runner::Stage* stage : chosen) {
        for (const runner::Variant& variant : stage->variants) {
            if (!options.variant.empty() && options.variant != variant.name) continue;
            counted.push_back(count(stage->name, variant, options.shape));
        }
    }
    if (counted.empty()) {
        throw runner::UsageError("--variant " + options.variant +
                                 ": no such variant; `./stages list` names them");
    }
    return counted;
}

}  // namespace

runner::ExitCode run_xray(const std::vector<runner::Stage>& stages, const XrayOptions& options) {
    const std::vector<CountedVariant> all = count_chosen(stages, options);
    if (options.json == "-") {
        std::fputs(json_of(all).c_str(), stdout);
        return runner::kGood;
    }
    const std::vector<Recording> recordings = read_recordings(recordings_path(kRecordedGpu));
    bool good = true;
    for (const CountedVariant& counted : all) {
        std::printf("%s%s\n", page_of(counted, options.lines).c_str(),
                    recorded_text(counted, recordings).c_str());
        for (const KernelCounts& kernel : counted.kernels) {
            good = good && kernel.races.empty() && kernel.uninitialized_reads.empty();
        }
    }
    std::fputs(legend().c_str(), stdout);
    if (!options.json.empty()) write_file(options.json, json_of(all));
    return good ? runner::kGood : runner::kWrong;
}

runner::ExitCode run_ncu(const std::vector<runner::Stage>&, const std::vector<std::string>&,
                         const std::string&, const std::string&, const std::string&) {
    throw runner::UsageError(
        "ncu reads a GPU's counters, and this program was built for the CPU device; "
        "`./stages ncu --device cuda` builds and runs the other");
}

}  // namespace xray
