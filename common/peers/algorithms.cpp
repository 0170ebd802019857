// SPDX-License-Identifier: MIT
#include "common/peers/algorithms.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "common/course/tables.hpp"
#include "common/io/table.hpp"

namespace course {
namespace {

using io::number;
using json = nlohmann::ordered_json;

constexpr const char* kDefault = "cublas/default";
constexpr size_t kAll = 42;
constexpr size_t kFew =
    2;  // the two defaults are timed everywhere, the others where they are swept

// Of one problem: each value's record.
struct Swept {
    std::string problem;
    std::vector<const json*> records;
};

std::string problem_of(const json& record) {
    std::string text;
    for (const auto& [name, value] : record.at("shape").items()) {
        if (value.is_number_integer()) {
            text += (text.empty() ? "" : " x ") + std::to_string(value.get<int64_t>());
        } else {
            text += " " + name + (value == 1 ? "" : " = " + number(value.get<double>(), 2));
        }
    }
    return text + ", " + record.at("dtype").get<std::string>();
}

std::vector<Swept> swept_in(const json& document) {
    std::vector<Swept> all;
    for (const json& record : document.at("records")) {
        if (record.at("variant").get<std::string>().rfind("cublas/", 0) != 0) continue;
        if (record.at("op") != "batched_gemm") continue;
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

double us_of(const json* record) {
    return record->at("us_median");
}
std::string cell_of(const json* record) {
    return number(us_of(record), 1) + " `" +
           record->at("variant").get<std::string>().substr(std::string("cublas/").size()) + "`";
}

}  // namespace

std::string algorithms_part(const std::filesystem::path& folder, const std::string& stage) {
    const std::filesystem::path path = folder / (stage + ".peers.json");
    const std::string missing = "Not recorded yet: `./stages run " + stage.substr(0, 2) +
                                " --peers` on a GPU times all values.\n";
    if (!std::filesystem::exists(path)) return missing;
    const json document = json::parse(read_file(path));
    std::string rows;
    for (const Swept& each : swept_in(document)) {
        const auto by_time = [](const json* a, const json* b) { return us_of(a) < us_of(b); };
        const auto [fastest, slowest] =
            std::minmax_element(each.records.begin(), each.records.end(), by_time);
        const auto usual =
            std::find_if(each.records.begin(), each.records.end(),
                         [](const json* one) { return one->at("variant") == kDefault; });
        const std::string own_spread =
            usual == each.records.end() ? "-"
                                        : number((*usual)->at("us_p10").get<double>(), 1) + " to " +
                                              number((*usual)->at("us_p90").get<double>(), 1);
        rows += row_of({each.problem, std::to_string(kAll - each.records.size()),
                        usual == each.records.end() ? "-" : number(us_of(*usual), 1), own_spread,
                        cell_of(*fastest), cell_of(*slowest)});
    }
    if (rows.empty()) return missing;
    return head_of({"us", "values refused", "default", "default, 10 to 90 % of its samples",
                    "fastest value", "slowest value"}) +
           rows + stamp(document);
}

}  // namespace course
