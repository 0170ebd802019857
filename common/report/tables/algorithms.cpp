// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "common/io/table.hpp"
#include "common/report/tables/markdown.hpp"
#include "common/report/tables/tables.hpp"

namespace report {
namespace {

using io::number;
constexpr const char* kDefault = "cublas/default";
constexpr size_t kAll = 42;
constexpr size_t kFew =
    2;  // the two defaults are timed everywhere, the others where they are swept

// Of one problem: each value's record.
struct Swept {
    std::string problem;
    std::vector<const Record*> records;
};

std::string problem_of(const Record& record) {
    std::string text;
    for (const std::string& name : record.shape) {
        const double value = record.size(name);
        if (value == std::floor(value)) {
            text += (text.empty() ? "" : " x ") + number(value, 0);
        } else {
            text += " " + name + " = " + number(value, 2);
        }
    }
    return text + ", " + record.dtype;
}

std::vector<Swept> swept_in(const records::File& file) {
    std::vector<Swept> all;
    for (const Record& record : file.records) {
        if (record.variant.rfind("cublas/", 0) != 0) continue;
        if (record.op != "batched_gemm") continue;
        const std::string problem = problem_of(record);
        const auto known = std::find_if(all.begin(), all.end(),
                                        [&](const Swept& each) { return each.problem == problem; });
        if (known == all.end()) {
            all.push_back({problem, {&record}});
        } else {
            known->records.push_back(&record);
        }
    }
    std::erase_if(all, [](const Swept& each) { return each.records.size() <= kFew; });
    return all;
}

double us_of(const Record* record) {
    return record->at("us_median");
}
std::string cell_of(const Record* record) {
    return number(us_of(record), 1) + " `" + record->variant.substr(std::string("cublas/").size()) +
           "`";
}

}  // namespace

std::string algorithms(const Source& source) {
    const records::File file = source.peers();
    std::string rows;
    for (const Swept& each : swept_in(file)) {
        const auto by_time = [](const Record* a, const Record* b) { return us_of(a) < us_of(b); };
        const auto [fastest, slowest] =
            std::minmax_element(each.records.begin(), each.records.end(), by_time);
        const auto usual = std::find_if(each.records.begin(), each.records.end(),
                                        [](const Record* one) { return one->variant == kDefault; });
        const std::string own_spread =
            usual == each.records.end()
                ? "-"
                : number((*usual)->at("us_p10"), 1) + " to " + number((*usual)->at("us_p90"), 1);
        rows += row_of({each.problem, std::to_string(kAll - each.records.size()),
                        usual == each.records.end() ? "-" : number(us_of(*usual), 1), own_spread,
                        cell_of(*fastest), cell_of(*slowest)});
    }
    if (rows.empty()) throw NotMeasured();
    return head_of({"us", "values refused", "default", "default, 10 to 90 % of its samples",
                    "fastest value", "slowest value"}) +
           rows + stamp(file);
}

}  // namespace report
