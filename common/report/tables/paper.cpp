// SPDX-License-Identifier: MIT
#include <cstdint>
#include <map>

#include "common/io/table.hpp"
#include "common/report/tables/markdown.hpp"
#include "common/report/tables/tables.hpp"

namespace report {
namespace {

constexpr int64_t kManyRows = 4000, kFewRows = 10;

// 63 times a power of two.
bool is_papers(int64_t cols) {
    return cols >= 1000 && cols % 63 == 0 && (cols / 63 & (cols / 63 - 1)) == 0;
}

bool is_beside_another_stage(const Record& record) {
    const size_t slash = record.baseline.find('/');
    return slash != std::string::npos && record.baseline.substr(0, slash) != record.stage;
}

}  // namespace

std::string paper(const Source& source) {
    const records::File file = source.own();
    std::vector<std::string> lesson;  // its variants
    bool beside_another_stage = false;
    for (const Record& record : file.records) {
        if (record.further) continue;
        add_once(lesson, record.variant);
        beside_another_stage = beside_another_stage || is_beside_another_stage(record);
    }
    std::map<int64_t, std::map<int64_t, double>> us_of_first, speedups;  // by columns, then rows
    const auto visit = [&](const auto& take) {
        for (const Record& record : file.records) {
            const auto cols = static_cast<int64_t>(record.size("cols"));
            const auto rows = static_cast<int64_t>(record.size("rows"));
            if (record.has("us_median") && is_papers(cols) && record.dtype == "float32")
                take(record, us_of_first[cols][rows], speedups[cols][rows]);
        }
    };
    visit([&](const Record& record, double& us, double&) {
        if (record.variant == lesson.front()) us = record.at("us_median");
    });
    visit([&](const Record& record, const double& us, double& speedup) {
        if (beside_another_stage) {
            if (is_beside_another_stage(record)) speedup = record.at("speedup");
        } else if (record.variant == lesson.back() && us > 0) {
            speedup = us / record.at("us_median");
        }
    });
    std::string text = head_of({"columns", "speed-up with 4000 rows", "speed-up with 10 rows"});
    for (const auto& [cols, by_rows] : speedups) {
        const auto cell = [&of_width = by_rows](int64_t rows) {
            const auto found = of_width.find(rows);
            return found == of_width.end() || found->second == 0 ? "-"
                                                                 : io::number(found->second, 2);
        };
        text +=
            row_of({with_thousands(static_cast<double>(cols)), cell(kManyRows), cell(kFewRows)});
    }
    return text + stamp(file);
}

}  // namespace report
