// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstdio>
#include <map>
#include <optional>
#include <vector>

#include "common/io/table.hpp"
#include "common/report/tables/markdown.hpp"
#include "common/report/tables/tables.hpp"

namespace report {
namespace {

using io::number;
constexpr int64_t kMatrices = 32 * 64;

// A length, and the published microseconds on an A100 (PCIe, 40 GB): of the kernel that was called
// FasterTransformer's, and of OneFlow's.
struct PublishedTimes {
    int64_t length;
    double fastertransformer;
    double oneflow;
};
constexpr PublishedTimes kPublishedTimes[] = {{16, 26.43, 9.66},   {32, 46.40, 18.91},
                                              {64, 120.16, 59.65}, {128, 430.18, 208.93},
                                              {256, 0, 0},         {512, 6090, 3100}};

struct Contender {
    std::string name;  // of the variant in the records
    std::string title;
};
constexpr const char* kOneFlow = "oneflow_warp_softmax/softmax";

std::vector<Contender> contenders(const std::string& stage) {
    return {{"copy", "a copy"},
            {"row_groups", stage.substr(0, 2) + " `row_groups`"},
            {kOneFlow, "OneFlow"},
            {"fastertransformer_softmax/v1", "FasterTransformer 1.0"},
            {"fastertransformer_softmax/v5", "FasterTransformer 5"},
            {"invalid_fastertransformer/input_unused", "**invalid**: no input used"}};
}

// By length, then by contender.
using Found = std::map<int64_t, std::map<std::string, const Record*>>;

Found find(const records::File& file) {
    Found found;
    for (const Record& record : file.records) {
        const auto length = static_cast<int64_t>(record.size("cols"));
        if (record.op == "softmax" && record.dtype == "float32" &&
            record.size("rows") == static_cast<double>(kMatrices * length) &&
            record.has("us_median")) {
            found[length][record.variant] = &record;
        }
    }
    return found;
}

std::optional<double> us_of(const std::map<std::string, const Record*>& records,
                            const std::string& name) {
    const auto record = records.find(name);
    if (record == records.end()) return std::nullopt;
    return record->second->at("us_median");
}

// "26.4 (2.73)": and how many times as long as OneFlow's.
std::string cell_of(std::optional<double> us, std::optional<double> oneflow) {
    if (!us) return "-";
    return number(*us, 1) + (oneflow ? " (" + number(*us / *oneflow, 2) + ")" : "");
}

}  // namespace

std::string comparison(const Source& source) {
    const records::File file = source.peers();
    const Found found = find(file);

    const std::vector<Contender> all = contenders(source.stage);
    std::vector<std::string> titles = {"S"};
    for (const Contender& each : all) titles.push_back(each.title);
    titles.emplace_back("published for OneFlow");
    titles.emplace_back("published for FasterTransformer");
    std::string rows;
    std::map<std::string, double> worst;  // relative error, by contender
    for (const PublishedTimes& published : kPublishedTimes) {
        const auto records = found.find(published.length);
        if (records == found.end()) continue;
        const std::optional<double> oneflow = us_of(records->second, kOneFlow);
        std::vector<std::string> row = {std::to_string(published.length)};
        for (const Contender& each : all) {
            row.push_back(cell_of(us_of(records->second, each.name), oneflow));
            const auto record = records->second.find(each.name);
            if (record == records->second.end()) continue;
            double& error = worst[each.name];
            error = std::max(error, record->second->figure("max_rel_err").value_or(0));
        }
        const bool was_published = published.oneflow > 0;
        row.push_back(was_published ? cell_of(published.oneflow, published.oneflow) : "-");
        row.push_back(was_published ? cell_of(published.fastertransformer, published.oneflow)
                                    : "-");
        rows += row_of(row);
    }
    if (rows.empty()) throw NotMeasured();

    std::vector<std::string> errors = {"largest relative error"};
    for (const Contender& each : all) {
        const auto error = worst.find(each.name);
        char text[32] = "-";
        if (each.name == "copy") {
            text[0] = '\0';
        } else if (error != worst.end()) {
            std::snprintf(text, sizeof(text), "%.1g", error->second);
        }
        errors.emplace_back(text);
    }
    errors.insert(errors.end(), 2, "");
    return "Microseconds for (32, 64, S, S) float32 and, in brackets, how many times as long as "
           "OneFlow's; published: on an A100.\n\n" +
           head_of(titles) + rows + row_of(errors) + stamp(file);
}

}  // namespace report
