// SPDX-License-Identifier: MIT
#include "common/report/tables/tables.hpp"

#include <algorithm>
#include <iterator>

namespace report {
namespace {

struct Named {
    const char* name;
    std::string (*table)(const Source&);
};
constexpr Named kTables[] = {
    {"measured", measured},     {"shares", shares},      {"paper", paper},
    {"peers", peers},           {"bars", bars},          {"widths", widths},
    {"timeline", timeline},     {"compiled", compiled},  {"comparison", comparison},
    {"algorithms", algorithms}, {"published", published}};

}  // namespace

std::optional<std::string> table_named(const std::string& name, const Source& source) {
    const auto found = std::find_if(std::begin(kTables), std::end(kTables),
                                    [&](const Named& each) { return each.name == name; });
    if (found == std::end(kTables)) return std::nullopt;
    try {
        return found->table(source);
    } catch (const NotMeasured& none) {
        return none.what();
    }
}

std::string table_names() {
    std::string names;
    for (const Named& each : kTables) names += (names.empty() ? "" : ", ") + std::string(each.name);
    return names;
}

}  // namespace report
