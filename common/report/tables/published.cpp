// SPDX-License-Identifier: MIT
#include <algorithm>
#include <optional>
#include <vector>

#include "common/io/table.hpp"
#include "common/report/tables/markdown.hpp"
#include "common/report/tables/tables.hpp"

namespace report {
namespace {

using io::number;
// BERT base, as the table's: 12 layers of 12 heads with 64 elements.
constexpr int64_t kLayers = 12, kHeads = 12, kSize = 64;

// Milliseconds in half, from docs/bert_guide.md of github.com/NVIDIA/FasterTransformer (commit
// 4c014fba0f1b), its tables for TensorFlow: what TensorFlow takes, FasterTransformer, and that without
// padding, where sequences are half as long as the longest on average.
struct Published {
    int64_t batch, seq;
    double a100_tensorflow, a100, a100_unpadded;
    double t4, t4_unpadded;
};
constexpr Published kPublished[] = {
    {1, 32, 2.08, 0.90, 0.96, 1.92, 2.33},       {1, 128, 2.21, 1.00, 1.02, 2.57, 2.47},
    {1, 384, 2.50, 1.33, 1.20, 3.85, 3.34},      {8, 32, 2.08, 1.04, 1.04, 2.69, 2.76},
    {8, 128, 3.32, 1.77, 1.43, 8.31, 4.89},      {8, 384, 8.55, 4.39, 2.57, 24.37, 12.47},
    {32, 32, 3.28, 1.77, 1.40, 8.40, 4.89},      {32, 128, 8.38, 4.81, 2.75, 32.32, 17.04},
    {32, 384, 27.80, 14.67, 7.71, 97.66, 48.60},
};

struct Column {
    const char* variant;
    bool half_the_tokens;
};
constexpr Column kOurs[] = {{"encoder_padded", false},
                            {"encoder_tuned", false},
                            {"encoder_packed", true},
                            {"encoder_tuned_packed", true}};

bool is_of(const Record& record, const Published& row, const Column& column) {
    const auto all = static_cast<double>(row.batch * row.seq);
    // Where all tokens are there a record does not count them.
    const double tokens = record.size("tokens", all);
    return record.op == "encoder" && record.variant == column.variant &&
           record.dtype == "float16" && record.has("us_median") &&
           record.size("batch") == static_cast<double>(row.batch) &&
           record.size("seq") == static_cast<double>(row.seq) && record.size("heads") == kHeads &&
           record.size("size_per_head") == kSize && record.size("layers", 1) == kLayers &&
           !record.poses("prenorm") && tokens == (column.half_the_tokens ? all / 2 : all);
}

std::optional<double> ms_of(const records::File& file, const Published& row, const Column& column) {
    for (const Record& record : file.records) {
        if (is_of(record, row, column)) return record.at("us_median") / 1e3;
    }
    return std::nullopt;
}

}  // namespace

std::string published(const Source& source) {
    const records::File file = source.own();
    std::vector<std::string> titles = {"batch x seq",  "A100: TensorFlow",
                                       "A100: theirs", "A100: theirs, packed",
                                       "T4: theirs",   "T4: theirs, packed"};
    for (const Column& column : kOurs)
        titles.push_back("`" + std::string(column.variant) + "`" +
                         (column.half_the_tokens ? ", half the tokens" : ""));
    std::string rows;
    bool any = false;
    for (const Published& row : kPublished) {
        std::vector<std::string> cells = {std::to_string(row.batch) + " x " +
                                          std::to_string(row.seq)};
        for (const double ms :
             {row.a100_tensorflow, row.a100, row.a100_unpadded, row.t4, row.t4_unpadded})
            cells.push_back(number(ms, 2));
        for (const Column& column : kOurs) {
            const std::optional<double> ms = ms_of(file, row, column);
            any = any || ms;
            cells.push_back(ms ? number(*ms, 2) : "-");
        }
        rows += row_of(cells);
    }
    if (!any) throw NotMeasured();
    return "Milliseconds in half, 12 layers of 12 heads with 64 elements. Theirs: as published in "
           "[FasterTransformer's BERT guide]"
           "(https://github.com/NVIDIA/FasterTransformer/blob/main/docs/bert_guide.md), not "
           "measured "
           "here; packed: sequences are half as long as the longest on average. Ours: on the GPU "
           "below.\n\n" +
           head_of(titles) + rows + stamp(file);
}

}  // namespace report
