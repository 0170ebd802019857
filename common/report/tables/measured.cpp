// SPDX-License-Identifier: MIT
#include <algorithm>
#include <map>
#include <set>

#include "common/io/table.hpp"
#include "common/report/pictures/axes.hpp"
#include "common/report/tables/markdown.hpp"
#include "common/report/tables/tables.hpp"

namespace report {

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

std::string cell_of(const Record& record) {
    const Figures figures = figures_of(record);
    const std::string us = number(record.at("us_median"), 1);
    if (figures == Figures::durations) return us + " (" + teraflops_text(record) + ")";
    const std::string of_roof = " (" + number(share_of_roof(record), 2) + ")";
    if (figures == Figures::speeds) return teraflops_text(record) + of_roof;
    return number(expected_us(record), 1) + " → " + us + of_roof;
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

// What was timed of the variants that go beyond the lesson, or of those that do not. What an operation was
// measured at comes in the order of the records.
std::vector<Table> tables_of(const records::File& file, bool further) {
    std::vector<Table> tables;
    for (const Record& record : file.records) {
        if (!record.has("us_median") || record.swept || record.further != further) continue;
        Table& table = table_of(tables, record.shown_as, record.dtype);
        row_at(table, record.shape_text(), record.shape_names()).records[record.variant] = &record;
    }
    return tables;
}

void add_best_of_lesson(const records::File& file, std::vector<Table>& tables) {
    for (const Record& record : file.records) {
        if (!record.has("us_median") || record.further) continue;
        for (Table& table : tables) {
            if (table.operation != record.shown_as || table.dtype != record.dtype) continue;
            for (Row& row : table.rows) {
                const Record*& best = row.best_of_lesson;
                if (row.shape == record.shape_text() &&
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

// In the order of the stage.
using Variants = std::vector<std::string>;

std::string text_of_part(const Part& part, const Variants& variants, const std::string& title) {
    const bool beside_lesson = std::any_of(part.rows.begin(), part.rows.end(), [](const Row* row) {
        return row->best_of_lesson != nullptr;
    });
    std::vector<std::string> titles = {title};
    if (beside_lesson) titles.emplace_back("best of the lesson");
    for (const std::string& variant : variants) {
        if (part.variants.count(variant) > 0) titles.push_back(in_code(variant));
    }
    std::string text = head_of(titles);
    for (const Row* row : part.rows) {
        std::vector<std::string> cells = {row->shape};
        if (beside_lesson) {
            const Record* best = row->best_of_lesson;
            cells.push_back(best == nullptr ? "-" : cell_of(*best) + " " + in_code(best->variant));
        }
        for (const std::string& variant : variants) {
            if (part.variants.count(variant) == 0) continue;
            const auto found = row->records.find(variant);
            cells.push_back(found == row->records.end() ? "-" : cell_of(*found->second));
        }
        text += row_of(cells);
    }
    return text;
}

// Each operation's below a line that says what its figures are.
std::string text_of_tables(const std::vector<Table>& tables, const Variants& variants) {
    std::string text;
    for (const Table& table : tables) {
        const Record& first = *table.rows.front().records.begin()->second;
        text += with_dtype(in_code(table.operation), table.dtype) + ": " +
                words_for(figures_of(first)) + "\n\n";
        for (const Part& part : parts_of(table)) {
            const std::string& sizes = part.rows.front()->sizes;
            const bool alike = std::all_of(part.rows.begin(), part.rows.end(),
                                           [&](const Row* row) { return row->sizes == sizes; });
            text += text_of_part(part, variants, alike ? sizes : "shape") + "\n";
        }
    }
    text.pop_back();  // the stamp begins with an empty line
    return text;
}

// The size along which the record is shown first.
double along_of(const Record& record) {
    const std::vector<Axis> axes = axes_from(record.along);
    return axes.empty() ? 0 : record.size(axes.front().size);
}

// A lesson is short: where one type has too many shapes the widest are left out, then the last.
void shorten(std::vector<Row>& rows, size_t most) {
    const auto first = [](const Row& row) -> const Record& { return *row.records.begin()->second; };
    double widest = 0;
    size_t alike = 0;
    for (const Row& row : rows) {
        widest = std::max(widest, along_of(first(row)));
        if (first(row).dtype == first(rows.front()).dtype) ++alike;
    }
    if (alike > most)
        std::erase_if(rows, [&](const Row& row) { return along_of(first(row)) == widest; });
    rows.resize(std::min(rows.size(), most));
}

// A shape that most variants do not take tells nothing about them.
void leave_out_sparse(std::vector<Row>& rows) {
    std::set<std::string> all;
    for (const Row& row : rows) {
        for (const auto& [name, record] : row.records) all.insert(name);
    }
    std::erase_if(rows, [&](const Row& row) { return 2 * row.records.size() < all.size(); });
}

// One table, whose rows name their types.
std::string only_operation(const records::File& file, const Variants& variants, size_t most_rows) {
    Table table;
    for (const Record& record : file.records) {
        if (record.has("us_median") && !record.swept && !record.further)
            row_at(table, problem_text(record), "").records[record.variant] = &record;
    }
    leave_out_sparse(table.rows);
    shorten(table.rows, most_rows);
    Part all;
    for (const Row& row : table.rows) {
        all.rows.push_back(&row);
        for (const auto& [name, record] : row.records) all.variants.insert(name);
    }
    const Record& first = *table.rows.front().records.begin()->second;
    return text_of_part(all, variants, words_for(figures_of(first)));
}

std::string of_lesson(const records::File& file, std::vector<Table> tables,
                      const Variants& variants) {
    constexpr size_t kMostRows = 8, kRowsOfEach = 3;
    std::set<std::string> operations;
    for (const Table& table : tables) operations.insert(table.operation);
    if (operations.size() == 1) return only_operation(file, variants, kMostRows);
    // Of each operation its first type, and there its first shapes: a lesson is short.
    std::set<std::string> begun;
    std::erase_if(tables,
                  [&](const Table& table) { return !begun.insert(table.operation).second; });
    for (Table& table : tables) {
        if (table.rows.size() > kRowsOfEach) table.rows.resize(kRowsOfEach);
    }
    return text_of_tables(tables, variants);
}

}  // namespace

std::string measured(const Source& source) {
    const records::File file = source.own();
    std::vector<Table> tables = tables_of(file, source.further);
    if (tables.empty()) throw NotMeasured();
    const Variants variants = source.variants_in(file);
    if (!source.further) return of_lesson(file, tables, variants) + stamp(file);
    add_best_of_lesson(file, tables);
    return text_of_tables(tables, variants) + stamp(file);
}

}  // namespace report
