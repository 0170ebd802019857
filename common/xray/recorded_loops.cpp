// SPDX-License-Identifier: MIT
#include "recorded_loops.hpp"

#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "common/records/where.hpp"

namespace xray {
namespace {

using Parsed = nlohmann::json;

constexpr int kSchema = 1;

// The lines that lead from an access to its kernel, as one text.
void append_line(std::string& text, const std::string& file, const std::string& code,
                 unsigned which) {
    text += file + ": " + code + "\n";
    if (which > 1) text += std::to_string(which) + "\n";
}

void append_line(std::string& text, const SourceMap& sources, const Line& line) {
    append_line(text, line.file, sources.source_of(line), sources.which_of(line));
}

// A kernel under one name on both devices: without a return type, with CUDA's types of 16 bits, and without
// the blank between brackets that depends on what stands before it.
std::string common_name(std::string kernel) {
    constexpr std::pair<std::string_view, std::string_view> kNames[] = {
        {"void ", ""},
        {"cpu_device::small_floats::", "cpu_device::"},
        {"cpu_device::SmallFloat<cpu_device::Binary16>", "__half"},
        {"cpu_device::SmallFloat<cpu_device::BrainFloat16>", "__nv_bfloat16"},
        {"cpu_device::SmallFloatPair<cpu_device::Binary16>", "__half2"},
        {"cpu_device::SmallFloatPair<cpu_device::BrainFloat16>", "__nv_bfloat162"},
        {" >", ">"}};
    for (const auto& [here, there] : kNames) {
        for (size_t at = 0; (at = kernel.find(here, at)) != std::string::npos; at += there.size())
            kernel.replace(at, here.size(), there);
    }
    return kernel;
}

}  // namespace

void RecordedLoops::add(const std::string& path) {
    std::ifstream file(path);
    if (!file) return;
    try {
        const Parsed json = Parsed::parse(file);
        if (json.at("schema") != kSchema) throw std::runtime_error("its schema is not 1");
        for (const Parsed& loop : json.at("loops")) {
            const bool loads = loop.at("access") == "load";
            const AccessKind kind = loads ? AccessKind::global_load : AccessKind::global_store;
            std::string lines;
            for (const Parsed& line : loop.at("lines")) {
                append_line(lines, line.at("file"), line.at("code"), line.value("which", 1u));
            }
            const Unrolling unrolling{loop.at("sections"), loop.at("accesses"), lines};
            if (unrolling.sections.empty()) continue;  // it was not clear how
            const std::string kernel = loop.at("kernel");
            for (const std::string arguments : loop.at("instances")) {
                loops_[{common_name(kernel + arguments), kind, lines}] = unrolling;
            }
        }
    } catch (const std::exception& error) {
        throw std::runtime_error(path + ": not a file of unrolled loops: " + error.what());
    }
}

std::optional<Unrolling> RecordedLoops::find(const SourceMap& sources, const Site& site) const {
    if (loops_.empty() || sources.in_cub(site.place)) return std::nullopt;
    std::string lines;
    append_line(lines, sources, sources.line_of(site.place));
    for (const Line& caller : sources.callers_of(site.place)) append_line(lines, sources, caller);
    const auto found = loops_.find({common_name(sources.kernel_of(site.place)), site.kind, lines});
    if (found == loops_.end()) return std::nullopt;
    return found->second;
}

const RecordedLoops& recorded_loops() {
    static const RecordedLoops loops = [] {
        RecordedLoops all;
        for (const std::string& stage : records::stage_folders(STAGES_SOURCE_DIRECTORY))
            all.add(records::expected_of(STAGES_SOURCE_DIRECTORY, stage) / "unrolled_loops.json");
        return all;
    }();
    return loops;
}

}  // namespace xray
