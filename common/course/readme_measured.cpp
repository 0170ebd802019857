// SPDX-License-Identifier: MIT
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "common/course/readme_parts.hpp"
#include "common/course/readme_records.hpp"
#include "common/course/tables.hpp"
#include "common/io/table.hpp"

namespace course {

using io::number;
namespace {

// What the cells of a table hold.
enum class Figures {
    times,     // bytes limit: what was expected and what came out
    speeds,    // operations limit, and the roof computes, too
    durations  // there is no roof but that of the bytes, which says nothing here
};

Figures figures_of(const Record& record) {
    if (!record.has("tflops")) return Figures::times;
    return roof_computes(record) ? Figures::speeds : Figures::durations;
}

const char* words_for(Figures figures) {
    if (figures == Figures::speeds) return "TFLOP/s (of the roof)";
    if (figures == Figures::durations) return "us (TFLOP/s)";
    return "us expected → measured (of the roof)";
}

std::string teraflops_text(const Record& record) {
    const double teraflops = record.at("tflops");
    return number(teraflops, teraflops < 10 ? 1 : 0);
}

std::string cell_of(const runner::Variant& variant, const Record& record) {
    const Figures figures = figures_of(record);
    const std::string us = number(record.at("us_median"), 1);
    if (figures == Figures::durations) return us + " (" + teraflops_text(record) + ")";
    const std::string of_roof = " (" + number(share_of_roof(record), 2) + ")";
    if (figures == Figures::speeds) return teraflops_text(record) + of_roof;
    return number(expected_us(variant, record), 1) + " → " + us + of_roof;
}

// A shape and what was measured there, by variant.
struct Row {
    std::string shape;
    std::string sizes;  // their names, as "rows x cols"
    std::map<std::string, const Record*> records;
    const Record* best_of_lesson = nullptr;  // in a table of what goes beyond it
};

// Of one operation and, unless it is the only one of its README, of one type.
struct Table {
    std::string operation, dtype;
    std::vector<Row> rows;
};

Row& row_at(Table& table, const std::string& shape, const std::string& sizes) {
    const auto known = std::find_if(table.rows.begin(), table.rows.end(),
                                    [&](const Row& row) { return row.shape == shape; });
    if (known != table.rows.end()) return *known;
    table.rows.push_back({shape, sizes, {}, nullptr});
    return table.rows.back();
}

Table& table_of(std::vector<Table>& tables, const std::string& operation,
                const std::string& dtype) {
    const auto known = std::find_if(tables.begin(), tables.end(), [&](const Table& table) {
        return table.operation == operation && table.dtype == dtype;
    });
    if (known != tables.end()) return *known;
    tables.push_back({operation, dtype, {}});
    return tables.back();
}

std::string size_names(const runner::Stage& stage, const Record& record) {
    const runner::Operation* operation = operation_of(stage, record);
    std::string text;
    for (const std::string& name : operation->size_names(shape_of(record, operation)))
        text += (text.empty() ? "" : " x ") + name;
    return text;
}

std::string plain_shape_text(const runner::Stage& stage, const Record& record) {
    return text_of(shape_of(record, operation_of(stage, record)));
}

// What was timed of the variants that go beyond the lesson, or of those that do not. What an operation was
// measured at comes in the order of the records.
std::vector<Table> tables_of(const records::File& file, const runner::Stage& stage, bool further) {
    std::vector<Table> tables;
    for (const Record& record : file.records) {
        if (!record.has("us_median") || !shown(record)) continue;
        const runner::Variant* variant = find_variant(stage, record);
        if (variant == nullptr || variant->further != further) continue;
        Table& table = table_of(tables, record.shown_as, record.dtype);
        row_at(table, plain_shape_text(stage, record), size_names(stage, record))
            .records[variant->name] = &record;
    }
    return tables;
}

void add_best_of_lesson(const records::File& file, const runner::Stage& stage,
                        std::vector<Table>& tables) {
    for (const Record& record : file.records) {
        const runner::Variant* variant = find_variant(stage, record);
        if (!record.has("us_median") || variant == nullptr || variant->further) continue;
        for (Table& table : tables) {
            if (table.operation != record.shown_as || table.dtype != record.dtype) continue;
            const std::string shape = plain_shape_text(stage, record);
            for (Row& row : table.rows) {
                const Record*& best = row.best_of_lesson;
                if (row.shape == shape &&
                    (best == nullptr || record.at("us_median") < best->at("us_median")))
                    best = &record;
            }
        }
    }
}

// Rows that mostly the same variants have: each has at least half of their columns.
struct Part {
    std::vector<const Row*> rows;
    std::set<std::string> variants;
};

bool fits(const Part& part, const Row& row) {
    std::set<std::string> all = part.variants;
    for (const auto& [name, record] : row.records) all.insert(name);
    const auto half_full = [&](const Row& each) { return 2 * each.records.size() >= all.size(); };
    return half_full(row) && std::all_of(part.rows.begin(), part.rows.end(),
                                         [&](const Row* each) { return half_full(*each); });
}

std::vector<Part> parts_of(const Table& table) {
    std::vector<Part> parts;
    for (const Row& row : table.rows) {
        auto part = std::find_if(parts.begin(), parts.end(),
                                 [&](const Part& each) { return fits(each, row); });
        if (part == parts.end()) part = parts.insert(parts.end(), Part());
        part->rows.push_back(&row);
        for (const auto& [name, record] : row.records) part->variants.insert(name);
    }
    return parts;
}

std::string text_of_part(const Part& part, const runner::Stage& stage, const std::string& title) {
    const bool beside_lesson = std::any_of(part.rows.begin(), part.rows.end(), [](const Row* row) {
        return row->best_of_lesson != nullptr;
    });
    std::vector<std::string> titles = {title};
    if (beside_lesson) titles.emplace_back("best of the lesson");
    for (const runner::Variant& variant : stage.variants) {
        if (part.variants.count(variant.name) > 0) titles.push_back("`" + variant.name + "`");
    }
    std::string text = head_of(titles);
    for (const Row* row : part.rows) {
        std::vector<std::string> cells = {row->shape};
        if (beside_lesson) {
            const Record* best = row->best_of_lesson;
            cells.push_back(best == nullptr ? "-"
                                            : cell_of(*find_variant(stage, *best), *best) + " `" +
                                                  best->variant + "`");
        }
        for (const runner::Variant& variant : stage.variants) {
            if (part.variants.count(variant.name) == 0) continue;
            const auto found = row->records.find(variant.name);
            cells.push_back(found == row->records.end() ? "-" : cell_of(variant, *found->second));
        }
        text += row_of(cells);
    }
    return text;
}

// Each operation's below a line that says what its figures are.
std::string text_of_tables(const std::vector<Table>& tables, const runner::Stage& stage) {
    std::string text;
    for (const Table& table : tables) {
        const Record& first = *table.rows.front().records.begin()->second;
        text += with_dtype("`" + table.operation + "`", table.dtype) + ": " +
                words_for(figures_of(first)) + "\n\n";
        for (const Part& part : parts_of(table)) {
            const std::string& sizes = part.rows.front()->sizes;
            const bool alike = std::all_of(part.rows.begin(), part.rows.end(),
                                           [&](const Row* row) { return row->sizes == sizes; });
            text += text_of_part(part, stage, alike ? sizes : "shape") + "\n";
        }
    }
    text.pop_back();  // the stamp begins with an empty line
    return text;
}

// One table, whose rows name their types.
std::string only_operation(const records::File& file, const runner::Stage& stage,
                           size_t most_rows) {
    Table table;
    for (const Record& record : file.records) {
        const bool widest = record.poses("cols") && record.size("cols") >= 1000000;
        if (!record.has("us_median") || !shown(record) || widest) continue;
        const runner::Variant* variant = find_variant(stage, record);
        if (variant == nullptr || variant->further) continue;
        const std::string shape = shape_text(record, stage);
        const bool known = std::any_of(table.rows.begin(), table.rows.end(),
                                       [&](const Row& row) { return row.shape == shape; });
        if (known || table.rows.size() < most_rows)
            row_at(table, shape, "").records[variant->name] = &record;
    }
    if (table.rows.empty()) return "";
    Part all;
    for (const Row& row : table.rows) all.rows.push_back(&row);
    for (const runner::Variant& variant : stage.variants) {
        if (!variant.further) all.variants.insert(variant.name);
    }
    const Record& first = *table.rows.front().records.begin()->second;
    return text_of_part(all, stage, words_for(figures_of(first)));
}

}  // namespace

std::string lesson_part(const std::filesystem::path& folder, const runner::Stage& stage) {
    constexpr size_t kMostRows = 8, kRowsOfEach = 3;
    const std::filesystem::path path = folder / records::kOwn;
    if (!std::filesystem::exists(path)) return kNotMeasured;
    const records::File file = records::read(path);
    std::vector<Table> tables = tables_of(file, stage, false);
    std::set<std::string> operations;
    for (const Table& table : tables) operations.insert(table.operation);
    if (operations.size() < 2) {
        const std::string text = only_operation(file, stage, kMostRows);
        return text.empty() ? kNotMeasured : text + stamp(file);
    }
    // Of each operation its first type, and there its first shapes: a lesson is short.
    std::set<std::string> begun;
    std::erase_if(tables,
                  [&](const Table& table) { return !begun.insert(table.operation).second; });
    for (Table& table : tables) {
        if (table.rows.size() > kRowsOfEach) table.rows.resize(kRowsOfEach);
    }
    return text_of_tables(tables, stage) + stamp(file);
}

std::string measured_part(const std::filesystem::path& folder, const runner::Stage& stage) {
    const std::filesystem::path path = folder / records::kOwn;
    if (!std::filesystem::exists(path)) return kNotMeasured;
    const records::File file = records::read(path);
    std::vector<Table> tables = tables_of(file, stage, true);
    if (tables.empty()) return kNotMeasured;
    add_best_of_lesson(file, stage, tables);
    return text_of_tables(tables, stage) + stamp(file);
}

}  // namespace course
