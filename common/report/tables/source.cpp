// SPDX-License-Identifier: MIT
#include "common/report/tables/source.hpp"

#include <algorithm>
#include <set>

#include "common/report/records.hpp"
#include "common/report/tables/markdown.hpp"

namespace report {
namespace {

bool is_one_of(const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

std::optional<records::File> Source::find(const char* name) const {
    const std::filesystem::path path = records::record_of(repository, stage, gpu, name);
    if (!std::filesystem::exists(path)) return std::nullopt;
    return records::read(path);
}

std::vector<std::string> Source::variants_in(const records::File& file) const {
    std::vector<std::string> variants;
    const std::filesystem::path counts = expected(records::kCounts);
    if (std::filesystem::exists(counts)) {
        for (const Record& record : records::read(counts).records)
            variants.push_back(record.variant);
    }
    for (const Record& record : file.records) add_once(variants, record.variant);
    return variants;
}

records::File Source::with_most(const char* name) const {
    std::optional<records::File> file = find(name);
    if (!file) throw NotMeasured();
    if (only.empty() || gpu != records::kShown) return *file;
    const auto count = [&](const records::File& of) {
        return std::count_if(only.begin(), only.end(), [&](const std::string& variant) {
            return std::any_of(of.records.begin(), of.records.end(),
                               [&](const Record& record) { return record.variant == variant; });
        });
    };
    if (static_cast<size_t>(count(*file)) == only.size()) return *file;
    const std::filesystem::path other =
        records::record_of(repository, stage, records::folder_of(records::kOtherGpu), name);
    if (!std::filesystem::exists(other)) return *file;
    records::File of_other = records::read(other);
    return count(of_other) > count(*file) ? of_other : *file;
}

records::File Source::of_operations(const char* name) const {
    records::File file = with_most(name);
    if (only.empty()) return file;
    std::set<std::string> operations;
    for (const Record& record : file.records) {
        if (is_one_of(only, record.variant)) operations.insert(record.shown_as);
    }
    std::erase_if(file.records,
                  [&](const Record& record) { return operations.count(record.shown_as) == 0; });
    return file;
}

records::File Source::required(const char* name) const {
    records::File file = of_operations(name);
    if (!only.empty()) {
        std::erase_if(file.records, [&](const Record& record) {
            return record.role == "ours" && record.further == further &&
                   !is_one_of(only, record.variant);
        });
    }
    return file;
}

records::File Source::peers() const {
    records::File file = of_operations(records::kPeers);
    if (file.records.empty()) throw NotMeasured();
    return file;
}

double roof_us(const Record& record) {
    return record.at("bytes") / record.at("roof_gbps") / 1e3;
}

double expected_us(const Record& record) {
    const double empty_us = record.at("us_empty");
    const double bytes_of_elements = record.at("elements") * bytes_of(record.dtype);
    const double roof_accesses = record.roof == "read" ? 1 : record.at("bytes") / bytes_of_elements;
    const double accesses =
        record.at("declared_loads_per_element") + record.at("declared_stores_per_element");
    return empty_us + std::max(0.0, roof_us(record) - empty_us) * accesses / roof_accesses;
}

double share_of_roof(const Record& record) {
    return record.at("gbps") / record.at("roof_gbps");
}

bool roof_computes(const Record& record) {
    return record.roof == "own";
}

std::string problem_text(const Record& record) {
    return with_dtype(record.shape_text(), record.dtype);
}

}  // namespace report
