// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstdint>
#include <map>

#include "common/io/table.hpp"
#include "common/report/tables/markdown.hpp"
#include "common/report/tables/tables.hpp"

namespace report {

std::string widths(const Source& source) {
    constexpr int64_t kFirst = 8;  // columns; of narrower rows little is to be had
    const records::File file = source.widths();
    struct Width {
        double of_roof;
        double cols;
    };
    std::vector<std::string> dtypes;
    std::map<std::pair<std::string, std::string>, std::vector<Width>> widths;
    for (const Record& record : file.records) {
        const double cols = record.size("cols");
        if (cols < kFirst) continue;
        add_once(dtypes, record.dtype);
        widths[{record.dtype, record.variant}].push_back({share_of_roof(record), cols});
    }
    std::string text = head_of({"type", "variant", "least of the copy", "at columns", "median",
                                "widths from " + std::to_string(kFirst) + " on"});
    for (const std::string& dtype : dtypes) {
        for (const std::string& variant : source.variants_in(file)) {
            std::vector<Width> all = widths[{dtype, variant}];
            if (all.empty()) continue;
            std::sort(all.begin(), all.end(),
                      [](const Width& a, const Width& b) { return a.of_roof < b.of_roof; });
            text +=
                row_of({dtype, in_code(variant), io::number(all.front().of_roof, 2),
                        with_thousands(all.front().cols),
                        io::number(all[all.size() / 2].of_roof, 2), std::to_string(all.size())});
        }
    }
    return text + stamp(file);
}

}  // namespace report
