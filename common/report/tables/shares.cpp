// SPDX-License-Identifier: MIT
#include <map>

#include "common/io/table.hpp"
#include "common/report/tables/markdown.hpp"
#include "common/report/tables/tables.hpp"

namespace report {

std::string shares(const Source& source) {
    const records::File file = source.own();
    std::vector<std::string> operations;
    std::map<std::string, Grid> grids;
    for (const Record& record : file.records) {
        if (!record.has("us_median") || record.swept || record.further != source.further) continue;
        add_once(operations, record.op);
        const std::string share = io::number(share_of_roof(record), 2);
        grids.try_emplace(record.op, Grid::Better::more)
            .first->second.add(problem_text(record), in_code(record.variant),
                               {std::stod(share), share, ""});
    }
    std::string text;
    for (const std::string& operation : operations)
        text += grids.at(operation).text(in_code(operation)) + "\n";
    return text + stamp(file);
}

}  // namespace report
