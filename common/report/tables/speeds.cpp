// SPDX-License-Identifier: MIT
#include "common/io/table.hpp"
#include "common/report/tables/markdown.hpp"
#include "common/report/tables/tables.hpp"

namespace report {
std::string speeds(const std::filesystem::path& repository,
                   const std::vector<std::string>& stages) {
    const std::vector<std::string> shapes = {"4000 x 1000", "4000 x 4000", "4000 x 128256",
                                             "10 x 128256", "10 x 1000000"};
    std::vector<std::string> titles = {"GB/s (of the copy)"};
    titles.insert(titles.end(), shapes.begin(), shapes.end());
    std::string text = head_of(titles);
    std::string op;  // that the course begins with
    records::File file, stamped;
    const auto add_row = [&](const std::string& title, bool further) {
        std::vector<std::string> row = {title};
        bool any = false;
        for (const std::string& shape : shapes) {
            const Record* const best = fastest(file, [&](const Record& record) {
                return record.further == further && record.op == op && record.role == "ours" &&
                       record.shape_text() == shape;
            });
            row.push_back(best == nullptr ? "-"
                                          : io::number(best->at("gbps"), 0) + " (" +
                                                io::number(share_of_roof(*best), 2) + ") " +
                                                in_code(best->variant));
            any = any || best != nullptr;
        }
        if (!any) return;
        text += row_of(row);
        stamped = file;
    };
    for (const std::string& stage : stages) {
        const std::optional<records::File> own = Source{repository, stage}.find(records::kOwn);
        if (!own || own->records.empty()) continue;
        file = *own;
        if (op.empty()) op = file.records.front().op;
        add_row("[" + stage + "](" + stage + ")", false);
        add_row("[further](" + stage + "/further)", true);
    }
    return text + stamp(stamped);
}

}  // namespace report
