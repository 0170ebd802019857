// SPDX-License-Identifier: MIT
#include "common/runner/print.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>
#include <vector>

#include "common/io/standard_output.hpp"
#include "common/io/text.hpp"
#include "common/runner/choose.hpp"
#include "common/runner/quick.hpp"

namespace runner {

using io::Align;
using io::Column;

namespace {

std::string remark(const Validation& result) {
    if (result.left_open > 0)
        return "partly open in " + std::to_string(result.left_open) +
               (result.left_open == 1 ? " case" : " cases");
    if (result.overflowed == 0) return "";
    return std::to_string(result.overflowed) + " overflow, as promised";
}

// How many elements are held to no value, and why: a sentence for each reason, of all variants together.
std::vector<std::string> sentences_on_open(const StageRun& run) {
    std::map<std::string, Validation::Open> by_reason;
    for (const auto& [key, result] : run.results) {
        for (const auto& [why, open] : result.open()) {
            by_reason[why].unchecked += open.unchecked;
            by_reason[why].all += open.all;
        }
    }
    std::vector<std::string> sentences;
    for (const auto& [why, open] : by_reason)
        sentences.push_back("partly open: " + describe_unchecked(open.unchecked, open.all, why));
    return sentences;
}

// Whether nothing was checked of a variant, for no reason that is said elsewhere.
bool is_passed_over(const StageRun& run, const Variant& variant) {
    if (!run.options.shapes.empty() || run.array) return false;  // who named them knows
    const std::string name = variant.name + ": ";
    return std::none_of(run.results.begin(), run.results.end(),
                        [&](const auto& each) { return each.first.first == &variant; }) &&
           std::none_of(run.left_out.begin(), run.left_out.end(), [&](const auto& each) {
               return each.first.compare(0, name.size(), name) == 0;
           });
}

}  // namespace

void say(const std::string& text) {
    io::say(stdout, "  " + text);
}

std::vector<Column> with_dtype(bool several, std::vector<Column> columns) {
    if (several) columns.insert(columns.begin() + 1, {"dtype", 8, Align::left});
    return columns;
}
std::vector<std::string> with_dtype(bool several, DType dtype, std::vector<std::string> cells) {
    if (several) cells.insert(cells.begin() + 1, name_of(dtype));
    return cells;
}

Column name_column(const StageRun& run) {
    size_t longest = 16;
    for (const Variant* variant : run.chosen)
        longest = std::max(longest, shown_name(variant->name).size());
    return {"variant", static_cast<int>(longest), Align::left};
}
std::string shown_name(const std::string& variant) {
    constexpr size_t kLongest = 24;
    return io::printable(variant, kLongest);
}

void print_title(const StageRun& run) {
    const std::vector<DType> validated = validated_dtypes(run);
    const std::string types = validated.size() == 1 ? name_of(validated.front())
                                                    : std::to_string(validated.size()) + " types";
    io::print_heading(run.stage.name + ": " + run.stage.title,
                      std::string(on_gpu() ? "cuda" : "cpu") + " device, " + types);
}

void print_validation(StageRun& run) {
    const bool several = validated_dtypes(run).size() > 1;
    io::Table table(with_dtype(several, {name_column(run),
                                         {"correct", 10, Align::right},
                                         {"error/bound", 12, Align::right},
                                         {"vs previous", 12, Align::right},
                                         {"", 24, Align::left}}));
    for (const Variant* variant : run.chosen) {
        for (const DType dtype : all_dtypes()) {
            const auto found = run.results.find({variant, dtype});
            if (found == run.results.end()) continue;
            const Validation& result = found->second;
            run.verdict = std::max(run.verdict, result.verdict());
            table.row(with_dtype(
                several, dtype,
                {shown_name(variant->name), result.count(), share_text(result.worst_share),
                 result.compared ? share_text(result.worst_previous) : "-", remark(result)}));
        }
    }
    table.print();
    for (const auto& [key, result] : run.results) {
        for (const std::string& line : result.remarks(key.first->name)) say(line);
    }
    for (const std::string& sentence : sentences_on_open(run)) say(sentence);
    for (const Variant* variant : run.chosen) {
        if (!is_passed_over(run, *variant)) continue;
        run.verdict = std::max(run.verdict, Verdict::incomplete);
        say("NOT CHECKED " + variant->name + ": it takes none of the shapes that are checked");
    }
    std::fflush(stdout);  // to be read in a file, too, while times are taken
}

void print_ways(StageRun& run) {
    std::vector<std::pair<std::string, std::vector<std::string>>> ways;  // and where they are taken
    for_each_measured(run, [&](const auto& variants, const Shape& shape, DType dtype) {
        for (const Variant* variant : variants) {
            if (!variant->way) continue;
            const std::string way = variant->name + ", " + variant->way(shape, dtype);
            auto known = std::find_if(ways.begin(), ways.end(),
                                      [&](const auto& each) { return each.first == way; });
            if (known == ways.end()) known = ways.insert(ways.end(), {way, {}});
            const std::string type =
                dtype == DType::float32 ? "" : std::string(" ") + name_of(dtype);
            known->second.push_back(text_of(shape) + type);
        }
    });
    constexpr size_t kNamed = 4;
    for (const auto& [way, where] : ways) {
        std::string text;
        for (size_t i = 0; i < std::min(kNamed, where.size()); ++i)
            text += (i == 0 ? "" : "; ") + where[i];
        if (where.size() > kNamed)
            text += "; and " + std::to_string(where.size() - kNamed) + " more";
        say(way + ": " + text);
    }
}

void print_left_out(const StageRun& run) {
    const auto one_or_many = [](const std::set<std::string>& all, const char* what) {
        return all.size() == 1 ? *all.begin() : std::to_string(all.size()) + what;
    };
    for (const auto& [what, where] : run.left_out) {
        say("left out: " + what + " (" + one_or_many(where.dtypes, " types") + ", " +
            one_or_many(where.shapes, " shapes") + ")");
    }
}

void print_left_out_by_quick(const StageRun& run) {
    const std::string text = left_out_by_quick(run);
    if (!text.empty()) say(text);
}

void print_warnings(const StageRun& run) {
    for (const std::string& warning : run.warnings) say(warning);
}

void print_legend_of_times(const StageRun& run) {
    const Operation& operation = *run.chosen.front()->operation;
    if (operation.unit() == Unit::gigabytes) {
        std::printf(
            "  GB/s: bytes of the inputs and the result over the median time, caches flushed.\n");
    } else {
        std::printf("  TFLOP/s: floating-point operations over the median time, caches flushed.\n");
    }
    const char* const roof = operation.roof() == Roof::own    ? "a library's way"
                             : operation.roof() == Roof::read ? "a read of the same bytes"
                                                              : "a copy of the same bytes";
    std::printf(
        "  roof: %s, timed in turn. speed-up: over the\n"
        "  variant before that computes the same.\n",
        roof);
}

void print_more_traffic(const StageRun& run) {
    std::map<std::string, std::string> by_reason;  // of which variants
    for (const Variant* variant : run.chosen) {
        if (variant->why_more_traffic.empty()) continue;
        std::string& names = by_reason[variant->why_more_traffic];
        names += (names.empty() ? "" : ", ") + variant->name;
    }
    for (const auto& [why, names] : by_reason) say("more (+): " + why + " (" + names + ")");
}

void print_races_looked_for(const StageRun& run) {
    if (run.watch.found || run.watch.launches == 0) return;
    say(std::string("Races in shared ") + (run.watch.global ? "and global " : "") +
        "memory, looked for in " + std::to_string(run.watch.launches) +
        (run.watch.launches == 1 ? " launch" : " launches") + ": none" +
        (run.watch.in_clusters ? " (not looked for between the blocks of a cluster)" : "") + ".");
}

}  // namespace runner
