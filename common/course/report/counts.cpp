// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
#include "common/course/report/counts.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/io/files.hpp"

namespace course {
namespace {

using Json = nlohmann::json;

std::string extent_of(const Json& sizes) {
    std::string text = std::to_string(sizes.at(0).get<int64_t>());
    const bool has_z = sizes.at(2) != 1;
    if (has_z || sizes.at(1) != 1) text += " x " + std::to_string(sizes.at(1).get<int64_t>());
    if (has_z) text += " x " + std::to_string(sizes.at(2).get<int64_t>());
    return text;
}

std::string counted(const std::string& count, const char* what) {
    return count + " " + what + (count == "1" ? "" : "s");
}

std::string place_of(const Json& block) {
    std::string text;
    for (const Json& at : block)
        text += (text.empty() ? "(" : ",") + std::to_string(at.get<int64_t>());
    return text + ")";
}

Accesses accesses_from(const Json& counts, bool fused) {
    Accesses all;
    all.requests = counts.at(fused ? "fused_requests" : "requests");
    all.bytes = counts.at("bytes");
    all.sectors = counts.at("sectors");
    all.wavefronts = counts.at(fused ? "fused_wavefronts" : "wavefronts");
    all.conflicts = counts.at(fused ? "fused_conflicts" : "conflicts");
    all.unrolled_requests = counts.at("unrolled_requests");
    all.unrolled_sectors = counts.at("unrolled_sectors");
    return all;
}

Hazard hazard_from(const Json& json) {
    Hazard hazard;
    hazard.memory = json.at("memory");
    hazard.times = json.at("times");
    hazard.missing = json.value("missing", "");
    hazard.harmless = json.value("same_value", false);
    for (const char* which : {"first", "second"}) {
        if (!json.contains(which)) continue;
        const Json& side = json.at(which);
        const Json& block = side.contains("block") ? side.at("block") : json.at("block");
        hazard.sides.push_back(
            {side.at("line"), "thread " + std::to_string(side.at("thread").get<int64_t>()) +
                                  " of block " + place_of(block) +
                                  (side.at("writes") ? " writes" : " reads")});
    }
    return hazard;
}

Kernel kernel_from(const Json& json, bool fuses) {
    Kernel kernel;
    kernel.name = json.at("name");
    const auto launches = json.at("launches").get<int64_t>();
    kernel.launch = counted(extent_of(json.at("grid")), "block") + " of " +
                    counted(extent_of(json.at("block")), "thread") +
                    (launches == 1 ? "" : ", " + std::to_string(launches) + " launches");
    double blocks = static_cast<double>(launches);
    for (const Json& size : json.at("grid")) blocks *= size.get<double>();
    kernel.barriers_per_block = json.at("barriers").get<double>() / std::max(blocks, 1.0);
    for (const Json& line : json.at("lines")) {
        const AccessKind kind{line.at("kind"), line.at("cub")};
        kernel.lines[{line.at("file"), line.at("line")}][kind] +=
            accesses_from(line.at("counts"), fuses && kind.is_shared());
    }
    for (const Json& race : json.at("races")) kernel.races.push_back(hazard_from(race));
    for (const Json& read : json.at("uninitialized_reads"))
        kernel.unwritten_reads.push_back(hazard_from(read));
    return kernel;
}

Counts variant_from(const Json& json) {
    Counts counts;
    counts.stage = json.at("stage");
    counts.name = json.at("variant");
    counts.shape = json.at("shape");
    counts.dtype = json.at("dtype");
    counts.loads = json.at("counted").at("loads");
    counts.stores = json.at("counted").at("stores");
    counts.findings = json.at("findings").get<std::vector<std::string>>();
    for (const Json& kernel : json.at("kernels"))
        counts.kernels.push_back(kernel_from(kernel, json.at("shared_accesses_fuse")));
    return counts;
}

Counts program_from(const Json& json) {
    Counts counts;
    counts.name = json.at("program");
    counts.findings = json.at("findings").get<std::vector<std::string>>();
    for (const Json& kernel : json.at("kernels"))
        counts.kernels.push_back(kernel_from(kernel, false));
    for (const char* list : {"faults", "unwritten_results"}) {
        for (const Json& words : json.at(list)) counts.wrong.push_back(words);
    }
    counts.notes = json.at("notes").get<std::vector<std::string>>();
    return counts;
}

}  // namespace

Accesses& Accesses::operator+=(const Accesses& other) {
    requests += other.requests;
    bytes += other.bytes;
    sectors += other.sectors;
    wavefronts += other.wavefronts;
    conflicts += other.conflicts;
    unrolled_requests += other.unrolled_requests;
    unrolled_sectors += other.unrolled_sectors;
    return *this;
}

std::string AccessKind::words() const {
    std::string text = key;
    std::replace(text.begin(), text.end(), '_', ' ');
    return cub ? "CUB's " + text : text;
}

std::map<std::pair<std::string, int>, AccessesByKind> Counts::lines() const {
    std::map<std::pair<std::string, int>, AccessesByKind> all;
    for (const Kernel& kernel : kernels) {
        for (const auto& [place, kinds] : kernel.lines) {
            for (const auto& [kind, accesses] : kinds) all[place][kind] += accesses;
        }
    }
    return all;
}

Accesses Counts::total(bool (AccessKind::*is)() const) const {
    Accesses all;
    for (const Kernel& kernel : kernels) {
        for (const auto& [place, kinds] : kernel.lines) {
            for (const auto& [kind, accesses] : kinds) {
                if ((kind.*is)()) all += accesses;
            }
        }
    }
    return all;
}

std::vector<Counts> read_counts(const std::filesystem::path& path) {
    io::require_readable(path);
    try {
        const Json json = Json::parse(io::text_in(path));
        if (!json.contains("variants")) return {program_from(json)};
        std::vector<Counts> all;
        for (const Json& variant : json.at("variants")) all.push_back(variant_from(variant));
        return all;
    } catch (const Json::exception& error) {
        io::refuse(path, std::string("this is not what `xray --json` writes: ") + error.what());
    }
}

}  // namespace course
