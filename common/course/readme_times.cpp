// SPDX-License-Identifier: MIT
#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "common/course/readme_parts.hpp"
#include "common/course/readme_records.hpp"
#include "common/course/tables.hpp"
#include "common/io/table.hpp"
#include "common/records/compile_costs.hpp"

namespace course {

using io::number;
namespace {

// Of a peer "cudnn/fast": "cudnn". Ours have no such name before theirs.
std::string library_of(const Record& record) {
    const std::string name = record.variant;
    return name.substr(0, name.find('/'));
}

}  // namespace

std::string shares_part(const std::filesystem::path& folder, const runner::Stage& stage) {
    const records::File file = records::read(folder / (stage.name + ".json"));
    struct Table {
        std::vector<std::string> variants;
        std::vector<std::string> shapes;
        std::map<std::pair<std::string, std::string>, double> share;
    };
    const auto add_once = [](std::vector<std::string>& names, const std::string& name) {
        if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    };
    std::vector<std::string> operations;
    std::map<std::string, Table> tables;
    for (const Record& record : file.records) {
        const bool any_axis = record.poses("inner");
        if (!record.has("us_median") || !(shown(record) || any_axis)) continue;
        if (find_variant(stage, record) == nullptr) continue;
        const std::string operation = record.op;
        add_once(operations, operation);
        Table& table = tables[operation];
        const std::string shape = shape_text(record, stage);
        const std::string variant = record.variant;
        add_once(table.variants, variant);
        add_once(table.shapes, shape);
        table.share[{shape, variant}] = share_of_roof(record);
    }
    std::string text;
    for (const std::string& operation : operations) {
        const Table& table = tables[operation];
        std::vector<std::string> head = {"`" + operation + "`"};
        for (const std::string& variant : table.variants) head.push_back("`" + variant + "`");
        text += head_of(head);
        for (const std::string& shape : table.shapes) {
            double best = 0;
            for (const std::string& variant : table.variants) {
                const auto found = table.share.find({shape, variant});
                if (found != table.share.end()) best = std::max(best, found->second);
            }
            std::vector<std::string> row = {shape};
            for (const std::string& variant : table.variants) {
                const auto found = table.share.find({shape, variant});
                const std::string share =
                    found == table.share.end() ? "-" : number(found->second, 2);
                row.push_back(share == number(best, 2) ? "**" + share + "**" : share);
            }
            text += row_of(row);
        }
        text += "\n";
    }
    return text + stamp(file);
}

std::string paper_part(const std::filesystem::path& folder, const runner::Stage& stage) {
    const records::File file = records::read(folder / (stage.name + ".json"));
    std::map<int64_t, std::map<int64_t, double>> speedups;  // by columns, then rows
    const auto at_paper_widths = [&](const auto& visit) {
        for (const Record& record : file.records) {
            if (record.sizes.count("cols") == 0 || !record.has("us_median")) continue;
            const auto cols = static_cast<int64_t>(record.size("cols"));
            const bool paper_width = cols % 63 == 0 && (cols / 63 & (cols / 63 - 1)) == 0;
            if (!paper_width || cols < 1000 || record.dtype != "float32") continue;
            visit(record, speedups[cols][static_cast<int64_t>(record.size("rows"))]);
        }
    };
    if (stage.baseline) {
        at_paper_widths([&](const Record& record, double& speedup) {
            if (record.baseline == stage.baseline->name) speedup = record.at("speedup");
        });
    } else {
        std::map<const double*, double> us_of_first;  // by where the speed-up belongs
        const std::string first = stage.variants.front().name, last = stage.variants.back().name;
        at_paper_widths([&](const Record& record, const double& speedup) {
            if (record.variant == first) us_of_first[&speedup] = record.at("us_median");
        });
        at_paper_widths([&](const Record& record, double& speedup) {
            const auto found = us_of_first.find(&speedup);
            if (record.variant == last && found != us_of_first.end())
                speedup = found->second / record.at("us_median");
        });
    }
    std::string text = head_of({"columns", "speed-up with 4000 rows", "speed-up with 10 rows"});
    for (const auto& [cols, by_rows] : speedups) {
        const auto cell = [&of_width = by_rows](int64_t rows) {
            const auto found = of_width.find(rows);
            return found == of_width.end() || found->second == 0 ? "-" : number(found->second, 2);
        };
        text += row_of({with_thousands(static_cast<double>(cols)), cell(4000), cell(10)});
    }
    return text + stamp(file);
}

namespace {

// Records timed in turn, as a table: a row for each shape, a column for each contender, the roof's behind all others.
class BesideEachOther {
public:
    struct Cell {
        double us;
        std::string name;  // of the fastest, where a column has several
    };

    void add(const std::string& shape, const std::string& column, bool is_roof, const Cell& cell) {
        add_once(shapes_, shape);
        add_once(is_roof ? roofs_ : contenders_, column);
        const auto [at, is_new] = cells_.emplace(std::pair{shape, column}, cell);
        if (!is_new && cell.us < at->second.us) at->second = cell;
    }

    // in_bold: the fastest of a row, which the roof never is.
    std::string text(const std::string& title, bool in_bold) const {
        std::vector<std::string> columns = contenders_;
        columns.insert(columns.end(), roofs_.begin(), roofs_.end());
        std::vector<std::string> titles = {title};
        for (const std::string& column : columns) titles.push_back(column);
        std::string all = head_of(titles);
        for (const std::string& shape : shapes_) {
            const double best = in_bold ? fastest_at(shape) : 0;
            std::vector<std::string> row = {shape};
            for (const std::string& column : columns) {
                const auto found = cells_.find({shape, column});
                if (found == cells_.end()) {
                    row.emplace_back("-");
                    continue;
                }
                const bool is_roof =
                    std::find(roofs_.begin(), roofs_.end(), column) != roofs_.end();
                const Cell& cell = found->second;
                const std::string us = number(cell.us, 1);
                row.push_back((cell.us == best && !is_roof ? "**" + us + "**" : us) +
                              (cell.name.empty() ? "" : " `" + cell.name + "`"));
            }
            all += row_of(row);
        }
        return all + "\n";
    }

private:
    static void add_once(std::vector<std::string>& names, const std::string& name) {
        if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
    double fastest_at(const std::string& shape) const {
        double best = std::numeric_limits<double>::infinity();
        for (const std::string& column : contenders_) {
            const auto found = cells_.find({shape, column});
            if (found != cells_.end()) best = std::min(best, found->second.us);
        }
        return best;
    }

    std::vector<std::string> shapes_, contenders_, roofs_;
    std::map<std::pair<std::string, std::string>, Cell> cells_;  // by shape and column
};

}  // namespace

std::string peers_part(const std::filesystem::path& folder, const runner::Stage& stage) {
    const std::filesystem::path path = folder / (stage.name + ".peers.json");
    if (!std::filesystem::exists(path)) return kNotMeasured;
    const records::File file = records::read(path);
    std::string text;
    std::vector<std::string> operations;
    // Contenders: of an operation and a library, which may compute another one another way; and ours of an operation.
    std::map<std::pair<std::string, std::string>, std::set<std::string>> of_library;
    std::map<std::string, std::set<std::string>> ours;
    for (const Record& record : file.records) {
        const std::string operation = record.op;
        if (std::find(operations.begin(), operations.end(), operation) == operations.end())
            operations.push_back(operation);
        of_library[{operation, library_of(record)}].insert(record.variant);
        if (record.role == "ours") ours[operation].insert(record.variant);
    }
    // A library with many has one column, with the fastest of them at each shape.
    constexpr size_t kFew = 3;
    // So have ours, where they would be most of a table.
    constexpr size_t kMostOfOurs = 6;
    // Of lists no widths are swept: what is timed beside others is shown.
    const auto in_table = [](const Record& record) {
        return shown(record) || (record.poses("rows") && record.poses("k"));
    };
    for (const std::string& operation : operations) {
        const size_t our_count = ours[operation].size();
        const std::string all_ours = "`ours, best of " + std::to_string(our_count) + "`";
        BesideEachOther whole, parts;
        bool any_part = false;
        for (const Record& record : file.records) {
            if (record.op != operation || !in_table(record)) continue;
            const std::string role = record.role, variant = record.variant;
            const std::string shape = shape_text(record, stage);
            const double us = record.at("us_median");
            const bool is_ours = role == "ours", is_roof = role == "roof";
            if (is_ours) parts.add(shape, all_ours, false, {us, ""});
            if (role == "part") {
                any_part = true;
                const std::string what = " (" + record.part + ")";
                parts.add(shape, "`" + variant + "`" + what, false, {us, ""});
            } else if (is_ours && our_count > kMostOfOurs) {
                whole.add(shape, all_ours, false, {us, variant});
            } else if (role != "invalid") {
                const size_t count = of_library.at({operation, library_of(record)}).size();
                const std::string column =
                    count > kFew ? library_of(record) + ", best of " + std::to_string(count)
                                 : variant;
                whole.add(shape, "`" + column + "`", is_roof, {us, ""});
            }
        }
        text += whole.text("us of `" + operation + "`", true);
        if (any_part) text += parts.text("us of a part of `" + operation + "` alone", false);
    }
    text.pop_back();
    return text + stamp(file);
}

std::string widths_part(const std::filesystem::path& folder, const runner::Stage& stage) {
    constexpr int64_t kFirst = 8;  // columns; of narrower rows little is to be had
    const records::File file = records::read(folder / (stage.name + ".widths.json"));
    struct Width {
        double of_roof;
        int64_t cols;
    };
    std::vector<std::string> dtypes;
    std::map<std::pair<std::string, std::string>, std::vector<Width>> widths;
    for (const Record& record : file.records) {
        const auto cols = static_cast<int64_t>(record.size("cols"));
        if (cols < kFirst) continue;
        const std::string dtype = record.dtype;
        if (std::find(dtypes.begin(), dtypes.end(), dtype) == dtypes.end()) dtypes.push_back(dtype);
        widths[{dtype, record.variant}].push_back(
            {record.at("gbps") / record.at("roof_gbps"), cols});
    }
    std::string text = head_of({"type", "variant", "least of the copy", "at columns", "median",
                                "widths from " + std::to_string(kFirst) + " on"});
    for (const std::string& dtype : dtypes) {
        for (const runner::Variant& variant : stage.variants) {
            const auto found = widths.find({dtype, variant.name});
            if (found == widths.end()) continue;
            std::vector<Width>& all = found->second;
            std::sort(all.begin(), all.end(),
                      [](const Width& a, const Width& b) { return a.of_roof < b.of_roof; });
            text += row_of({dtype, "`" + variant.name + "`", number(all.front().of_roof, 2),
                            with_thousands(static_cast<double>(all.front().cols)),
                            number(all[all.size() / 2].of_roof, 2), std::to_string(all.size())});
        }
    }
    return text + stamp(file);
}

std::string compiled_part(const std::filesystem::path& recorded, const std::string& name) {
    const records::CompileCosts costs =
        records::read_compile_costs(recorded / "nvcc" / (name + ".json"));
    std::string text = head_of({"instantiated", "kernels", "seconds of nvcc", "kB of object file"});
    for (const records::CompileCost& cost : costs.all) {
        text += row_of({cost.calls, std::to_string(cost.kernels), number(cost.seconds, 1),
                        number(cost.bytes / 1000, 0)});
    }
    return text + "\nnvcc " + costs.nvcc + ", for sm_90a.\n";
}

std::string speeds_part(const std::filesystem::path& folder,
                        const std::vector<runner::Stage>& stages) {
    const std::vector<runner::Shape> shapes = {
        {4000, 1000}, {4000, 4000}, {4000, 128256}, {10, 128256}, {10, 1000000}};
    std::vector<std::string> titles = {"GB/s (of the copy)"};
    for (const runner::Shape& shape : shapes) titles.push_back(text_of(shape));
    const std::string op = stages.front().variants.front().operation->name();
    std::string text = head_of(titles);
    records::File file, stamped;
    const auto add_row = [&](const std::string& title, const runner::Stage& stage, bool further) {
        std::vector<std::string> row = {title};
        bool any = false;
        for (const runner::Shape& shape : shapes) {
            const Record* best = nullptr;
            for (const Record& record : file.records) {
                const runner::Variant* variant = find_variant(stage, record);
                const bool here = variant != nullptr && variant->further == further &&
                                  record.op == op && record.role == "ours" &&
                                  shape_of(record, variant->operation) == shape &&
                                  record.has("us_median");
                if (here && (best == nullptr || record.at("us_median") < best->at("us_median")))
                    best = &record;
            }
            row.push_back(best == nullptr
                              ? "-"
                              : number(best->at("gbps"), 0) + " (" +
                                    number(share_of_roof(*best), 2) + ") `" + best->variant + "`");
            any = any || best != nullptr;
        }
        if (!any) return;
        text += row_of(row);
        stamped = file;
    };
    for (const runner::Stage& stage : stages) {
        const std::filesystem::path path = folder / (stage.name + ".json");
        if (!std::filesystem::exists(path)) continue;
        file = records::read(path);
        add_row("[" + stage.name + "](" + stage.name + ")", stage, false);
        add_row("[further](" + stage.name + "/further)", stage, true);
    }
    return text + stamp(stamped);
}

}  // namespace course
