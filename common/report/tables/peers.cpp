// SPDX-License-Identifier: MIT
#include <map>
#include <set>

#include "common/io/table.hpp"
#include "common/report/tables/markdown.hpp"
#include "common/report/tables/tables.hpp"

namespace report {
namespace {

// Of a peer "cudnn/fast": "cudnn". Ours have no such name before theirs.
std::string library_of(const Record& record) {
    return record.variant.substr(0, record.variant.find('/'));
}

std::string best_of(size_t count) {
    return ", best of " + std::to_string(count);
}

}  // namespace

std::string peers(const Source& source) {
    const records::File file = source.peers();
    std::vector<std::string> operations;
    // Contenders: of an operation and a library, which may compute another one another way; and ours of an operation.
    std::map<std::pair<std::string, std::string>, std::set<std::string>> of_library;
    std::map<std::string, std::set<std::string>> ours;
    for (const Record& record : file.records) {
        add_once(operations, record.op);
        of_library[{record.op, library_of(record)}].insert(record.variant);
        if (record.role == "ours") ours[record.op].insert(record.variant);
    }
    // A library with many has one column, with the fastest of them at each shape.
    constexpr size_t kFew = 3;
    // So have ours, where they would be most of a table.
    constexpr size_t kMostOfOurs = 6;
    std::string text;
    for (const std::string& operation : operations) {
        const size_t our_count = ours[operation].size();
        const std::string all_ours = in_code("ours" + best_of(our_count));
        Grid whole(Grid::Better::less), parts(Grid::Better::less, false);
        bool any_part = false;
        for (const Record& record : file.records) {
            if (record.op != operation || record.swept) continue;
            const std::string shape = problem_text(record);
            const double us = record.at("us_median");
            const std::string us_text = io::number(us, 1);
            const bool is_ours = record.role == "ours";
            if (is_ours) parts.add(shape, all_ours, {us, us_text, ""});
            if (record.role == "part") {
                any_part = true;
                parts.add(shape, in_code(record.variant) + " (" + record.part + ")",
                          {us, us_text, ""});
            } else if (is_ours && our_count > kMostOfOurs) {
                whole.add(shape, all_ours, {us, us_text, " " + in_code(record.variant)});
            } else if (record.role != "invalid") {
                const size_t count = of_library.at({operation, library_of(record)}).size();
                const std::string column =
                    in_code(count > kFew ? library_of(record) + best_of(count) : record.variant);
                if (record.role == "roof") {
                    whole.add_beside(shape, column, {us, us_text, ""});
                } else {
                    whole.add(shape, column, {us, us_text, ""});
                }
            }
        }
        text += whole.text("us of " + in_code(operation)) + "\n";
        if (any_part) text += parts.text("us of a part of " + in_code(operation) + " alone") + "\n";
    }
    text.pop_back();  // the stamp begins with an empty line
    return text + stamp(file);
}

}  // namespace report
