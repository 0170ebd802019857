// SPDX-License-Identifier: MIT
//
// my_beside STAGE RESULTS: a launcher of the learner's own, which was tried as that stage and left its records in that
// folder, in a table with the stages that compute the same of the same shape and type. Theirs come from the folder,
// too, or else from what is recorded: counts, or times on a GPU of the same name.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/io/table.hpp"
#include "common/io/text.hpp"
#include "common/records/folder.hpp"
#include "common/records/where.hpp"

namespace {

using io::Align;
using records::Record;

struct Found {
    Record record;
    std::string gpu;
};

std::vector<Found> records_in(records::Folder folder) {
    std::vector<Found> found;
    records::keep_newer_runs(folder);
    for (const records::File& file : folder.files) {
        if (file.peers()) continue;
        for (const Record& record : file.records) found.push_back({record, file.gpu});
    }
    return found;
}

bool is_same(const Record& a, const Record& b) {
    return a.stage == b.stage && a.variant == b.variant;
}

// Whether the one can stand beside the other.
bool is_comparable(const Found& other, const Found& own) {
    const Record &a = other.record, &b = own.record;
    if (a.role != "ours" || a.stage == b.stage || a.further) return false;
    if (a.op != b.op || a.dtype != b.dtype || a.sizes != b.sizes) return false;
    return b.timed() ? a.timed() && other.gpu == own.gpu : !a.timed() && a.counted();
}

// Of the stages, each variant once: what comes first counts.
std::vector<Record> beside(const Found& own, const std::vector<Found>& all) {
    std::vector<Record> found;
    for (const Found& each : all) {
        const bool known = std::any_of(found.begin(), found.end(), [&](const Record& record) {
            return is_same(record, each.record);
        });
        if (!known && is_comparable(each, own)) found.push_back(each.record);
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const Record& a, const Record& b) { return a.stage < b.stage; });
    return found;
}

std::string cell(const Record& record, const char* figure, int decimals) {
    const auto value = record.figure(figure);
    return value ? io::number(*value, decimals) : "-";
}

void print_times(const Record& own, std::vector<Record> rows) {
    const bool by_bytes = own.figure("gbps").has_value();
    io::Table table({{"variant", 36, Align::left},
                     {"us", 10, Align::right},
                     {by_bytes ? "GB/s" : "TFLOP/s", 9, Align::right},
                     {"of yours", 9, Align::right}});
    rows.push_back(own);
    for (const Record& row : rows) {
        table.row({row.stage + "/" + row.variant, cell(row, "us_median", 1),
                   by_bytes ? cell(row, "gbps", 0) : cell(row, "tflops", 2),
                   io::number(*row.figure("us_median") / *own.figure("us_median"), 2)});
    }
    table.print();
}

void print_counts(const Record& own, std::vector<Record> rows) {
    io::Table table({{"variant", 36, Align::left},
                     {"loads", 8, Align::right},
                     {"stores", 8, Align::right},
                     {"moved", 8, Align::right}});
    rows.push_back(own);
    for (const Record& row : rows) {
        table.row({row.stage + "/" + row.variant, cell(row, "loads_per_element", 2),
                   cell(row, "stores_per_element", 2), cell(row, "bytes_moved_per_byte", 2)});
    }
    table.print();
}

std::string shape_of(const Record& record) {
    std::string text;
    for (const std::string& size : record.shape)
        text += (text.empty() ? "" : ", ") + size + " " + io::number(record.size(size));
    return text;
}

std::string joined(const std::set<std::string>& words, const char* between) {
    std::string text;
    for (const std::string& word : words) text += (text.empty() ? "" : between) + word;
    return text;
}

// Which stages compute the same, of other types or at other shapes.
std::string computed_elsewhere(const Found& own, const std::vector<Found>& all) {
    std::map<std::string, std::set<std::string>> variants;
    std::set<std::string> dtypes, shapes;
    for (const Found& each : all) {
        const Record& record = each.record;
        if (record.op != own.record.op || record.role != "ours" ||
            record.stage == own.record.stage || record.further)
            continue;
        variants[record.stage].insert(record.variant);
        dtypes.insert(record.dtype);
        shapes.insert(shape_of(record));
    }
    std::string text;
    for (const auto& [stage, names] : variants)
        text += (text.empty() ? "" : "; ") + stage + " (" + joined(names, ", ") + ")";
    if (text.empty()) return "No stage's records are of " + own.record.op + ".";
    constexpr size_t kFewShapes = 3;
    return "No stage's records stand beside these, of " + own.record.op + ", " + own.record.dtype +
           ", " + shape_of(own.record) + ". It is computed by " + text + ", recorded in " +
           joined(dtypes, " ") +
           (shapes.size() <= kFewShapes ? " at " + joined(shapes, "; ") : "") +
           ": try it with --dtype or --shape, or ./stages run that stage so.";
}

void run(const std::string& stage, const std::filesystem::path& results) {
    std::vector<Found> all;
    if (records::is_folder(results)) all = records_in(records::read_folder(results));
    std::vector<Found> mine;
    for (const Found& each : all) {
        if (each.record.stage == stage) mine.push_back(each);
    }
    for (const records::Folder& known :
         {records::read_recorded(STAGES_SOURCE_DIRECTORY, records::kShown),
          records::read_expected(STAGES_SOURCE_DIRECTORY)}) {
        const std::vector<Found> more = records_in(known);
        all.insert(all.end(), more.begin(), more.end());
    }
    for (const Found& own : mine) {
        const std::vector<Record> rows = beside(own, all);
        if (rows.empty()) {
            std::printf("%s\n\n", io::wrapped(computed_elsewhere(own, all)).c_str());
            continue;
        }
        io::print_heading("beside the stages: " + own.record.op + ", " + own.record.dtype,
                          shape_of(own.record));
        own.record.timed() ? print_times(own.record, rows) : print_counts(own.record, rows);
        std::printf("\n");
    }
}

}  // namespace

int main(int count, char** words) {
    try {
        if (count != 3) throw std::invalid_argument("two words are wanted: STAGE and RESULTS");
        run(words[1], words[2]);
        return 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "stages: %s\n", io::wrapped(error.what()).c_str());
        return 2;
    }
}
