// SPDX-License-Identifier: MIT
#include "source_map.hpp"

#include <fstream>

#include "common/cpu_device/symbolize.hpp"

namespace xray {
namespace {

std::string from_root(const std::string& file) {
    static const std::string root = STAGES_SOURCE_DIRECTORY "/";
    return file.rfind(root, 0) == 0 ? file.substr(root.size()) : file;
}

// The chain starts at the innermost inlined function and ends at the kernel.
Line line_in(const std::vector<cpu_device::SourceLine>& chain) {
    Line line;
    for (const cpu_device::SourceLine& source : chain) {
        if (source.file.find("/include/cub/") != std::string::npos) line.in_cub = true;
        if (line.number != 0 || cpu_device::is_ours_or_the_systems(source.file)) continue;
        line.file = from_root(source.file);
        line.number = source.line;
    }
    return line;
}

}  // namespace

SourceMap::SourceMap(const std::vector<KernelCounts>& kernels) {
    for (const KernelCounts& kernel : kernels) {
        for (const auto& [site, counts] : kernel.sites) lines_[site.place];
        for (const auto* hazards : {&kernel.races, &kernel.uninitialized_reads}) {
            for (const Hazard& hazard : *hazards) {
                lines_[hazard.first.place];
                lines_[hazard.second.place];
            }
        }
    }
    lines_.erase(0);
    std::vector<uintptr_t> places;
    for (const auto& [place, line] : lines_) places.push_back(place);
    const auto chains = cpu_device::source_lines(places);
    for (size_t i = 0; i < places.size(); i++) lines_[places[i]] = line_in(chains[i]);
}

const Line& SourceMap::line_of(uintptr_t place) const {
    static const Line unknown;
    const auto found = lines_.find(place);
    return found == lines_.end() ? unknown : found->second;
}

std::string SourceMap::text_of(uintptr_t place) const {
    const Line& line = line_of(place);
    return line.file.empty() ? "an unknown line" : line.file + ":" + std::to_string(line.number);
}

std::string SourceMap::source_of(const Line& line) const {
    const auto [file, added] = files_.try_emplace(line.file);
    if (added) {
        const bool absolute = !line.file.empty() && line.file.front() == '/';
        std::ifstream input(absolute ? line.file : STAGES_SOURCE_DIRECTORY "/" + line.file);
        for (std::string text; std::getline(input, text);) file->second.push_back(text);
    }
    if (line.number == 0 || line.number > file->second.size()) return {};
    const std::string& text = file->second[line.number - 1];
    const size_t first = text.find_first_not_of(" \t");
    if (first == std::string::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

}  // namespace xray
