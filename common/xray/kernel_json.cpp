// SPDX-License-Identifier: MIT
#include "kernel_json.hpp"

#include <map>

#include "causes.hpp"
#include "report_words.hpp"

namespace xray {
namespace {

Json to_json(const Counts& counts) {
    return {{"requests", counts.requests},
            {"accesses", counts.accesses},
            {"bytes", counts.bytes},
            {"useful_bytes", counts.useful_bytes},
            {"sectors", counts.sectors},
            {"split_requests", counts.split_requests},
            {"unrolled_requests", counts.unrolled_requests},
            {"unrolled_sectors", counts.unrolled_sectors},
            {"wavefronts", counts.wavefronts},
            {"conflicts", counts.conflicts},
            {"fused_requests", counts.fused_requests},
            {"fused_wavefronts", counts.fused_wavefronts},
            {"fused_conflicts", counts.fused_conflicts}};
}

Json to_json(const Hazard& hazard, const SourceMap& sources) {
    const auto toucher = [&](const Toucher& side) {
        Json json = {{"thread", side.thread},
                     {"line", sources.text_of(side.place)},
                     {"writes", side.writes}};
        if (hazard.global) json["block"] = {side.block.x, side.block.y, side.block.z};
        return json;
    };
    Json json = {{"times", hazard.times},
                 {"memory", hazard.global ? "global" : "shared"},
                 {"block", {hazard.block.x, hazard.block.y, hazard.block.z}}};
    if (hazard.same_value) json["same_value"] = true;
    if (hazard.first.place != 0) json["first"] = toucher(hazard.first);
    json["second"] = toucher(hazard.second);
    return json;
}

}  // namespace

Json to_json(const KernelCounts& kernel, const SourceMap& sources) {
    const dim3 grid = kernel.configuration.grid, block = kernel.configuration.block;
    Json json = {{"name", kernel.name},
                 {"grid", {grid.x, grid.y, grid.z}},
                 {"block", {block.x, block.y, block.z}},
                 {"shared_bytes", kernel.configuration.shared_bytes},
                 {"launches", kernel.launches},
                 {"barriers", kernel.barriers},
                 {"warp_syncs", kernel.warp_syncs},
                 {"warp_exchanges", kernel.warp_exchanges}};
    for (const Word& word : all_words()) {
        const Split counts = split(kernel, sources, word.kind);
        if (counts.own.requests != 0) json[word.key] = to_json(counts.own);
        if (counts.cub.requests != 0) json[std::string("cub_") + word.key] = to_json(counts.cub);
        if (counts.matrices.requests != 0) json["matrix_load"] = to_json(counts.matrices);
    }
    const std::string uncounted = not_modelled(kernel);
    if (!uncounted.empty()) json["not_modelled"] = uncounted;
    json["lines"] = Json::array();
    for (const auto& [site, counts] : kernel.sites) {
        const Line& line = sources.line_of(site.place);
        Json callers = Json::array();
        for (const Line& caller : sources.callers_of(site.place)) {
            callers.push_back({{"file", caller.file}, {"line", caller.number}});
        }
        json["lines"].push_back({{"file", line.file},
                                 {"line", line.number},
                                 {"callers", std::move(callers)},
                                 {"cub", line.in_cub},
                                 {"kind", word_for(site.kind).key},
                                 {"counts", to_json(counts)}});
    }
    json["races"] = Json::array();
    std::map<const Hazard*, std::string> missing;
    for (const Cause& cause : causes_of(kernel.races)) {
        for (const Hazard* race : cause.races) missing[race] = what_is_missing(cause);
    }
    for (const Hazard& race : kernel.races) {
        json["races"].push_back(to_json(race, sources));
        json["races"].back()["missing"] = missing[&race];
    }
    json["uninitialized_reads"] = Json::array();
    for (const Hazard& read : kernel.uninitialized_reads) {
        json["uninitialized_reads"].push_back(to_json(read, sources));
    }
    return json;
}

}  // namespace xray
