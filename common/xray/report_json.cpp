// SPDX-License-Identifier: MIT
//
// What was counted, as JSON.
#include <nlohmann/json.hpp>

#include "report.hpp"
#include "report_words.hpp"

namespace xray {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(const Counts& counts) {
    return {{"requests", counts.requests},
            {"accesses", counts.accesses},
            {"bytes", counts.bytes},
            {"useful_bytes", counts.useful_bytes},
            {"sectors", counts.sectors},
            {"split_requests", counts.split_requests},
            {"wavefronts", counts.wavefronts},
            {"conflicts", counts.conflicts},
            {"fused_requests", counts.fused_requests},
            {"fused_wavefronts", counts.fused_wavefronts},
            {"fused_conflicts", counts.fused_conflicts}};
}

Json to_json(const Hazard& hazard, const SourceMap& sources) {
    const auto toucher = [&](const Toucher& side) {
        return Json{{"thread", side.thread},
                    {"line", sources.text_of(side.place)},
                    {"writes", side.writes}};
    };
    Json json = {{"times", hazard.times},
                 {"block", {hazard.block.x, hazard.block.y, hazard.block.z}}};
    if (hazard.first.place != 0) json["first"] = toucher(hazard.first);
    json["second"] = toucher(hazard.second);
    return json;
}

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
    }
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
    for (const Hazard& race : kernel.races) json["races"].push_back(to_json(race, sources));
    json["uninitialized_reads"] = Json::array();
    for (const Hazard& read : kernel.uninitialized_reads) {
        json["uninitialized_reads"].push_back(to_json(read, sources));
    }
    return json;
}

}  // namespace

std::string json_of(const std::vector<CountedVariant>& all) {
    Json json = {{"schema", 1}, {"variants", Json::array()}};
    for (const CountedVariant& counted : all) {
        const runner::Traffic declared = counted.declared(), found = counted.traffic();
        Json variant = {{"stage", counted.stage},
                        {"variant", counted.variant->name},
                        {"shape", word_of(counted.shape)},
                        {"dtype", name_of(counted.dtype)},
                        {"shared_accesses_fuse", counted.variant->shared_accesses_fuse},
                        {"declared", {{"loads", declared.loads}, {"stores", declared.stores}}},
                        {"counted", {{"loads", found.loads}, {"stores", found.stores}}},
                        {"kernels", Json::array()}};
        for (const auto& [name, size] : counted.variant->operation->record_fields(counted.shape))
            variant[name] = size;
        for (const KernelCounts& kernel : counted.kernels) {
            variant["kernels"].push_back(to_json(kernel, counted.sources));
        }
        json["variants"].push_back(std::move(variant));
    }
    // A file's name need not be UTF-8.
    return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace xray
