// SPDX-License-Identifier: MIT
#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "common/io/table.hpp"
#include "common/report/pictures/timeline.hpp"
#include "common/report/tables/markdown.hpp"
#include "common/report/tables/tables.hpp"

namespace report {
namespace {

// As the page links to it, where `plot --shown-in` draws it.
std::string picture_of(const Source& source, const Record& record) {
    const std::filesystem::path recorded =
        records::recorded_of(source.repository, source.stage, records::kShown);
    return "![The kernels of a layer, " + problem_text(record) + "](" +
           (source.further ? "../" : "") + "recorded/" + recorded.filename().string() +
           "/pictures/" + timeline_name(record) + ".svg)\n";
}

// The variants that were traced at one shape and type, side by side, a row a kernel.
std::string table_of(const std::vector<const Record*>& variants) {
    std::vector<std::string> titles = {""};
    size_t most = 0;
    for (const Record* record : variants) {
        titles.insert(titles.end(), {in_code(record->variant), "adds us", "share"});
        most = std::max(most, record->steps.size());
    }
    std::string text = head_of(titles);
    for (size_t step = 0; step < most; ++step) {
        std::vector<std::string> row = {std::to_string(step + 1)};
        for (const Record* record : variants) {
            if (step >= record->steps.size()) {
                row.insert(row.end(), 3, "");
                continue;
            }
            const double us = record->added(step);
            row.insert(row.end(), {in_code(record->steps[step].name), io::number(us, 1),
                                   io::number(us / record->layer_us(), 2)});
        }
        text += row_of(row);
    }
    std::vector<std::string> sum = {""};
    for (const Record* record : variants)
        sum.insert(sum.end(), {"the layer", io::number(record->layer_us(), 1), ""});
    return text + row_of(sum);
}

}  // namespace

std::string timeline(const Source& source) {
    const records::File file = source.timeline();
    std::vector<std::string> problems;
    std::map<std::string, std::vector<const Record*>> traced;
    for (const Record& record : file.records) {
        if (record.steps.empty()) continue;
        add_once(problems, problem_text(record));
        traced[problem_text(record)].push_back(&record);
    }
    if (problems.empty()) throw NotMeasured();
    std::string text;
    for (const std::string& problem : problems) {
        const std::vector<const Record*>& variants = traced.at(problem);
        text += picture_of(source, *variants.front()) + "\nA layer of " + problem + ":\n\n" +
                table_of(variants) + "\n";
    }
    text.pop_back();
    return text + stamp(file);
}

}  // namespace report
