// SPDX-License-Identifier: MIT
#include "common/report/compare.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <set>
#include <tuple>
#include <utility>

#include "common/io/table.hpp"
#include "common/io/text.hpp"
#include "common/report/pictures/captions.hpp"

namespace report {
namespace {

using io::Align;
using io::number;

constexpr double kLeastDifference = 0.02;  // of the median

constexpr size_t kVariant = 23, kShape = 15, kNumber = 8;  // widths of columns

std::string cut(const std::string& words, size_t most) {
    const std::string whole = io::printable(words, most);
    return whole == words ? words : io::printable(words, most - 2);
}

// What makes two records the same measurement.
using Key =
    std::tuple<std::string, std::string, std::string, std::string, std::string, std::string, Sizes>;

// In the order of the files; the first of several records with one key stays.
std::vector<std::pair<Key, const Record*>> keyed(const RecordFolder& folder,
                                                 bool (Record::*holds)() const) {
    std::vector<std::pair<Key, const Record*>> all;
    for (const RecordFile& file : folder.files) {
        if (file.peers()) continue;  // they belong to others, and come with a run of their own
        for (const Record& record : file.records) {
            if (!(record.*holds)()) continue;
            all.push_back({{record.stage, record.role, record.shown_as, record.variant,
                            record.dtype, record.input, record.sizes},
                           &record});
        }
    }
    return all;
}

Verdict verdict_of(const Record& a, const Record& b) {
    const double us_a = *a.figure("us_median");
    const double us_b = *b.figure("us_median");
    // Records without percentiles are held to the 2 % alone.
    const double low_a = a.figure("us_p10").value_or(us_a);
    const double high_a = a.figure("us_p90").value_or(us_a);
    const double low_b = b.figure("us_p10").value_or(us_b);
    const double high_b = b.figure("us_p90").value_or(us_b);
    if (us_b < us_a * (1 - kLeastDifference) && high_b < low_a) return Verdict::faster;
    if (us_b > us_a * (1 + kLeastDifference) && low_b > high_a) return Verdict::slower;
    return Verdict::within_noise;
}

const char* word_of(Verdict verdict) {
    switch (verdict) {
        case Verdict::faster:
            return "faster";
        case Verdict::slower:
            return "SLOWER";
        case Verdict::within_noise:
            return "";
        case Verdict::only_in_a:
            return "only A";
        case Verdict::only_in_b:
            return "only B";
    }
    return "";
}

std::string shape_of(const Record& record) {
    const std::string text = record.shape_text();
    return cut(text.size() > kShape ? record.shape_word() : text, kShape);
}

std::string variant_of(const Record& record) {
    std::string text = record.stage.substr(0, 2) + " " + record.variant;
    if (record.dtype != "float32") text += " " + record.dtype;
    return cut(text, kVariant);
}

// In eight characters, also where it is far from what a launch takes.
std::string short_number(double value, int decimals) {
    constexpr double kLargest = 9'999'999;
    if (value < kLargest) {
        const std::string text = number(value, decimals);
        return text.size() <= kNumber ? text : number(value, 0);
    }
    char text[20];
    std::snprintf(text, sizeof(text), "%.2e", value);
    return text;
}

std::string us_of(const Record* record) {
    return record == nullptr ? "-" : short_number(*record->figure("us_median"), 1);
}

// Of a ratio: six characters.
std::string ratio_of(const Pair& pair) {
    if (pair.ratio <= 0) return "-";
    if (pair.ratio >= 1e4) return ">9999";
    return pair.ratio < 0.005 ? "<0.01" : number(pair.ratio, pair.ratio < 1000 ? 2 : 0);
}

std::string described(const RecordFolder& folder) {
    std::vector<const RecordFile*> files;
    for (const RecordFile& file : folder.files) {
        if (!file.peers()) files.push_back(&file);
    }
    const std::string partial = partial_words(files);
    return (partial.empty() ? "" : partial + "; ") +
           (folder.timed() ? origin_of(files) : "counted on the CPU device, not timed");
}

// Of a stage's runs in one folder those of that kind.
bool has_run(const RecordFolder& folder, const std::string& stage, bool partial) {
    return std::any_of(folder.files.begin(), folder.files.end(), [&](const RecordFile& file) {
        return file.run() && file.partial() == partial && file.stage() == stage;
    });
}

void keep_runs(RecordFolder& folder, const std::string& stage, bool partial) {
    std::erase_if(folder.files, [&](const RecordFile& file) {
        return file.run() && file.partial() != partial && file.stage() == stage;
    });
}

void print_times(const Comparison& comparison, bool only_changes) {
    io::Table table({{"stage, variant", kVariant, Align::left},
                     {"shape", kShape, Align::right},
                     {"us A", kNumber, Align::right},
                     {"us B", kNumber, Align::right},
                     {"A/B", 6, Align::right},
                     {"B is", 8, Align::left}});
    for (const Pair& pair : comparison.timed) {
        if (only_changes && pair.verdict == Verdict::within_noise) continue;
        table.row({variant_of(pair.any()), shape_of(pair.any()), us_of(pair.a), us_of(pair.b),
                   ratio_of(pair), word_of(pair.verdict)});
    }
    table.print();
    std::printf(
        "\n%zu faster, %zu slower, %zu within noise, %zu only in A, %zu only in B.\n"
        "Faster or slower: medians differ by more than 2 %%, and the intervals from the\n"
        "10th to the 90th percentile do not overlap. All else is within noise.\n",
        comparison.count(Verdict::faster), comparison.count(Verdict::slower),
        comparison.count(Verdict::within_noise), comparison.count(Verdict::only_in_a),
        comparison.count(Verdict::only_in_b));
}

void print_counts(const Comparison& comparison) {
    io::Table table({{"stage, variant", kVariant, Align::left},
                     {"shape", kShape, Align::right},
                     {"count", 20, Align::left},
                     {"A", kNumber, Align::right},
                     {"B", kNumber, Align::right}});
    for (const CountChange& change : comparison.changed_counts) {
        table.row({variant_of(*change.a), shape_of(*change.a), change.count,
                   short_number(change.in_a, 2), short_number(change.in_b, 2)});
    }
    table.print();
    std::printf("%s%zu counted in both, %zu counts changed, %zu only in A, %zu only in B.\n",
                comparison.changed_counts.empty() ? "" : "\n", comparison.counted,
                comparison.changed_counts.size(), comparison.counts_only_in_a,
                comparison.counts_only_in_b);
}

}  // namespace

void keep_comparable_runs(RecordFolder& a, RecordFolder& b) {
    std::set<std::string> stages;
    for (const RecordFile& file : a.files) stages.insert(file.stage());
    for (const std::string& stage : stages) {
        for (const bool partial : {false, true}) {
            if (!has_run(a, stage, partial) || !has_run(b, stage, partial)) continue;
            keep_runs(a, stage, partial);
            keep_runs(b, stage, partial);
            break;
        }
    }
    keep_newer_runs(a);
    keep_newer_runs(b);
}

size_t Comparison::count(Verdict verdict) const {
    return static_cast<size_t>(std::count_if(
        timed.begin(), timed.end(), [&](const Pair& pair) { return pair.verdict == verdict; }));
}

Comparison compare(const RecordFolder& a, const RecordFolder& b) {
    Comparison comparison;
    const auto timed_a = keyed(a, &Record::timed);
    const auto timed_b = keyed(b, &Record::timed);
    const std::map<Key, const Record*> in_a(timed_a.begin(), timed_a.end());
    const std::map<Key, const Record*> in_b(timed_b.begin(), timed_b.end());
    for (const auto& [key, record] : timed_a) {
        const auto other = in_b.find(key);
        if (other == in_b.end()) {
            comparison.timed.push_back({record, nullptr, Verdict::only_in_a});
            continue;
        }
        comparison.timed.push_back(
            {record, other->second, verdict_of(*record, *other->second),
             *record->figure("us_median") / *other->second->figure("us_median")});
    }
    for (const auto& [key, record] : timed_b) {
        if (in_a.count(key) == 0) comparison.timed.push_back({nullptr, record, Verdict::only_in_b});
    }

    const auto counted_a = keyed(a, &Record::counted);
    const auto counted_b = keyed(b, &Record::counted);
    std::map<Key, const Record*> left(counted_b.begin(), counted_b.end());
    for (const auto& [key, record] : counted_a) {
        const auto other = left.find(key);
        if (other == left.end()) {
            ++comparison.counts_only_in_a;
            continue;
        }
        ++comparison.counted;
        for (const char* count : {"loads_per_element", "stores_per_element", "sectors_per_request",
                                  "bytes_moved_per_byte", "bank_conflicts"}) {
            const auto in_a = record->figure(count);
            const auto in_b = other->second->figure(count);
            if (!in_a || !in_b) continue;  // older records hold fewer
            const double was = *in_a;
            const double is = *in_b;
            if (std::abs(was - is) > 1e-9 * std::max(std::abs(was), std::abs(is)))
                comparison.changed_counts.push_back({record, count, was, is});
        }
        left.erase(other);
    }
    comparison.counts_only_in_b = left.size();
    return comparison;
}

void print(const Comparison& comparison, const RecordFolder& a, const RecordFolder& b,
           bool only_changes) {
    const auto say = [](const std::string& text) {
        std::printf("%s\n", io::wrapped(text, 80, 3).c_str());
    };
    for (const auto& [name, folder] : {std::pair{"A", &a}, std::pair{"B", &b}}) {
        say(std::string(name) + "  " + io::printable(folder->path.string()));
        say("   " + described(*folder));
    }
    if (a.timed() && b.timed() && a.gpu() != b.gpu())
        say("Different GPUs: A is " + a.gpu() + ", B is " + b.gpu() + ".");
    std::printf("\n");
    if (!comparison.timed.empty()) print_times(comparison, only_changes);
    const bool counted =
        comparison.counted + comparison.counts_only_in_a + comparison.counts_only_in_b > 0;
    if (counted && !comparison.timed.empty()) std::printf("\n");
    if (counted) print_counts(comparison);
}

std::vector<Figure> pictures_of(const Comparison& comparison, const RecordFolder& a,
                                const RecordFolder& b, const std::vector<std::string>& known) {
    // What is the same all over a picture: operation, element type, rows; of a grid of widths the bytes are, and rows
    // are as many as fit into those.
    constexpr int64_t kRowsOfGrid = 0;
    std::set<const Record*> in_grid;
    for (const RecordFile& file : a.files) {
        for (const Record& record : file.records) {
            if (file.widths()) in_grid.insert(&record);
        }
    }
    using Group = std::tuple<std::string, std::string, int64_t>;
    std::map<Group, std::vector<const Pair*>> groups;
    for (const Pair& pair : comparison.timed) {
        const auto& shape = pair.any().sizes;
        if (pair.a == nullptr || pair.b == nullptr || shape.size() != 2) continue;
        if (shape.count("rows") == 0 || shape.count("cols") == 0) continue;
        const auto rows =
            in_grid.count(pair.a) > 0 ? kRowsOfGrid : static_cast<int64_t>(shape.at("rows"));
        groups[{pair.any().shown_as, pair.any().dtype, rows}].push_back(&pair);
    }
    const std::string first = first_operation({a, b});
    std::vector<Figure> figures;
    for (const auto& [group, pairs] : groups) {
        const auto& [op, dtype, rows] = group;
        Figure figure;
        figure.kind = "compare";
        const bool grid = rows == kRowsOfGrid;
        figure.name = "compare" + op_suffix(op, first) + (dtype == "float32" ? "" : "_" + dtype) +
                      "_" + (grid ? "widths" : std::to_string(rows));
        figure.title = "How much faster B is than A: " + (op.empty() ? "" : op + ", ") +
                       (grid ? "every kind of width" : std::to_string(rows) + " rows") +
                       (dtype == "float32" ? "" : ", " + dtype);
        figure.origin = "above 1 B is faster; grey: less than 2 % apart";
        figure.notes = {"A  " + a.name() + ": " + described(a),
                        "B  " + b.name() + ": " + described(b)};
        figure.x_label = "columns";
        figure.y_label = "time of A / time of B";
        figure.band = {1 - kLeastDifference, 1 + kLeastDifference};
        Panel panel;
        std::map<std::string, size_t> lines;
        double low = 0.9;
        double high = 1.1;
        for (const Pair* pair : pairs) {
            const std::string label =
                short_name(pair->any().stage, known) + ": " + pair->any().variant;
            const auto [at, fresh] = lines.try_emplace(label, panel.lines.size());
            if (fresh) {
                Line line;
                line.label = label;
                line.style = static_cast<int>(at->second);
                panel.lines.push_back(line);
            }
            const auto x = pair->any().sizes.at("cols");
            panel.lines[at->second].points[x] = pair->ratio;
            low = std::min(low, pair->ratio - 0.05);
            high = std::max(high, pair->ratio + 0.05);
        }
        panel.y_range = {low, high};
        figure.panels = {panel};
        figures.push_back(figure);
    }
    return figures;
}

}  // namespace report
