// SPDX-License-Identifier: MIT
#include <cstdint>
#include <iterator>
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

// The paper's own kernels, rebuilt: what they gain at the shapes that they were timed at beside ours. By rows, then columns.
std::map<int64_t, std::map<int64_t, double>> speedups_of_papers_kernels(const Source& source) {
    const std::string library = "nvidia_online_softmax/";
    std::map<int64_t, std::map<int64_t, double>> safe, online;
    const std::optional<records::File> file = source.find(records::kPeers);
    if (!file) return {};
    for (const Record& record : file->records) {
        if (!record.has("us_median")) continue;
        const auto rows = static_cast<int64_t>(record.size("rows"));
        const auto cols = static_cast<int64_t>(record.size("cols"));
        if (record.variant.rfind(library + "safe", 0) == 0)
            safe[rows][cols] = record.at("us_median");
        if (record.variant.rfind(library + "online", 0) == 0)
            online[rows][cols] = record.at("us_median");
    }
    for (auto& [rows, by_cols] : safe) {
        for (auto& [cols, us] : by_cols) us /= online[rows][cols];
    }
    return safe;
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
    const auto theirs = speedups_of_papers_kernels(source);
    // Theirs were timed at round numbers of columns: up to 4 % fewer.
    const auto theirs_near = [&](int64_t rows, int64_t cols) {
        const auto of_rows = theirs.find(rows);
        if (of_rows == theirs.end()) return std::string("-");
        const auto next = of_rows->second.upper_bound(cols);
        if (next == of_rows->second.begin()) return std::string("-");
        const auto& [near, speedup] = *std::prev(next);
        return near * 100 >= cols * 96 ? io::number(speedup, 2) : "-";
    };
    std::string text =
        head_of({"columns", "4000 rows", "the paper's kernels", "10 rows", "the paper's kernels"});
    for (const auto& [cols, by_rows] : speedups) {
        const auto cell = [&of_width = by_rows](int64_t rows) {
            const auto found = of_width.find(rows);
            return found == of_width.end() || found->second == 0 ? "-"
                                                                 : io::number(found->second, 2);
        };
        text += row_of({with_thousands(static_cast<double>(cols)), cell(kManyRows),
                        theirs_near(kManyRows, cols), cell(kFewRows), theirs_near(kFewRows, cols)});
    }
    return text + stamp(file);
}

}  // namespace report
