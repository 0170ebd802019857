// SPDX-License-Identifier: MIT
#include "common/report/tables/source.hpp"

#include <algorithm>

#include "common/report/records.hpp"
#include "common/report/tables/markdown.hpp"

namespace report {

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

records::File Source::required(const char* name) const {
    std::optional<records::File> file = find(name);
    if (!file) throw NotMeasured();
    if (!only.empty()) {
        std::erase_if(file->records, [&](const Record& record) {
            return record.role == "ours" && record.further == further &&
                   std::find(only.begin(), only.end(), record.variant) == only.end();
        });
    }
    return *file;
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
