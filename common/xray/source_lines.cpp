// SPDX-License-Identifier: MIT
#include "source_lines.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

#include "common/io/text.hpp"
#include "report_words.hpp"

namespace xray {
namespace {

bool moves_sectors(AccessKind kind) {
    return kind == AccessKind::global_load || kind == AccessKind::global_store ||
           kind == AccessKind::global_atomic || is_bulk_of_global(kind);
}

// What the instructions of one place did, and the calls that lead there.
struct Done {
    AccessKind kind;
    const Counts* counts;
    const std::vector<Line>* callers;
};

std::string cost_of(AccessKind kind, const Counts& counts, const Counted& counted) {
    const bool global = moves_sectors(kind);
    if (!global && !is_shared(kind)) {
        const bool is_asynchronous = cpu_device::is_bulk(kind) || kind == AccessKind::wgmma;
        return format(is_asynchronous ? " instructions, %s bytes" : " requests, %s bytes",
                      grouped(counts.bytes).c_str());
    }
    if (global) {
        return format(" x %.2f sectors, %.2f moved/asked", ratio(counts.sectors, counts.requests),
                      moved_per_byte_asked(counts));
    }
    const SharedCost cost = counted.compiled(counts);
    if (cost.requests == 0) return " fused with others, or kept in registers";
    return format(" x %.2f wavefronts, %s conflicts", ratio(cost.wavefronts, cost.requests),
                  grouped(cost.conflicts).c_str());
}

// The numbers stand below each other, however far the words before them are indented.
std::string rows_of(const std::vector<Done>& all, bool in_cub, size_t indent,
                    const Counted& counted) {
    constexpr size_t kNumbersBegin = 29;
    std::map<AccessKind, Counts> kinds;
    for (const Done& done : all) kinds[done.kind] += *done.counts;
    std::string text;
    for (const auto& [kind, counts] : kinds) {
        const int64_t compiled = is_shared(kind) ? counted.compiled(counts).requests : 0;
        std::string row =
            std::string(indent, ' ') + word_for(kind).plural + (in_cub ? " by CUB" : "");
        row.resize(std::max(row.size(), kNumbersBegin), ' ');
        row += format(" %11s", grouped(compiled != 0 ? compiled : counts.requests).c_str());
        text += numbers(row + cost_of(kind, counts, counted));
        if (is_shared(kind) || !differs_unrolled(counts)) continue;
        row = std::string(indent, ' ') + "unrolled by nvcc:";
        row.resize(std::max(row.size(), kNumbersBegin), ' ');
        text +=
            numbers(row + format(" %11s x %.2f sectors", grouped(counts.unrolled_requests).c_str(),
                                 ratio(counts.unrolled_sectors, counts.unrolled_requests)));
    }
    return text;
}

// Where several calls lead to a line, what each of them has of its counts. `level`: as many calls
// up the stack are the same for all.
std::string calls_of(const std::vector<Done>& all, const Line& line, size_t level, size_t indent,
                     const Counted& counted) {
    std::map<Line, std::vector<Done>> by_caller;
    for (const Done& done : all) {
        if (level < done.callers->size()) by_caller[(*done.callers)[level]].push_back(done);
    }
    if (by_caller.size() == 1) {
        return calls_of(all, by_caller.begin()->first, level + 1, indent, counted);
    }
    std::string text;
    for (const auto& [caller, done] : by_caller) {
        const std::string file = caller.file == line.file
                                     ? ""
                                     : std::filesystem::path(caller.file).filename().string() + ":";
        text +=
            line_of_page(std::string(indent, ' ') + "from " + file + std::to_string(caller.number) +
                         "  " + counted.sources.source_of(caller)) +
            rows_of(done, false, indent + 2, counted) +
            calls_of(done, caller, level + 1, indent + 2, counted);
    }
    return text;
}

using ByLine = std::map<Line, std::vector<Done>>;

void add_lines(ByLine& by_line, const KernelCounts& kernel, const SourceMap& sources) {
    for (const auto& [site, counts] : kernel.sites) {
        by_line[sources.line_of(site.place)].push_back(
            {site.kind, &counts, &sources.callers_of(site.place)});
    }
}

ByLine work_by_line(const Counted& counted) {
    ByLine by_line;
    for (const KernelCounts& kernel : counted.kernels) add_lines(by_line, kernel, counted.sources);
    return by_line;
}

// Sectors or wavefronts that accesses take; of other kinds of memory, their requests.
int64_t work_of(AccessKind kind, const Counts& counts, const Counted& counted) {
    if (moves_sectors(kind)) return counts.sectors;
    return is_shared(kind) ? counted.compiled(counts).wavefronts : counts.requests;
}

// The lines with the work that each takes, the most first.
std::vector<std::pair<int64_t, const ByLine::value_type*>> by_work(const ByLine& by_line,
                                                                   const Counted& counted) {
    std::vector<std::pair<int64_t, const ByLine::value_type*>> lines;
    for (const auto& each : by_line) {
        int64_t work = 0;
        for (const Done& done : each.second) work += work_of(done.kind, *done.counts, counted);
        lines.emplace_back(work, &each);
    }
    std::stable_sort(lines.begin(), lines.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    return lines;
}

// "kernel.cuh:12"
std::string short_place(const Line& line) {
    if (line.file.empty()) return "an unknown line";
    return std::filesystem::path(line.file).filename().string() + ":" + std::to_string(line.number);
}

}  // namespace

std::string source_lines(const KernelCounts& kernel, const Counted& counted) {
    const SourceMap& sources = counted.sources;
    ByLine by_line;
    add_lines(by_line, kernel, sources);
    std::string text, file;
    unsigned number = 0;
    for (const auto& [line, done] : by_line) {
        if (line.file != file || text.empty()) {
            text +=
                "\n" + line_of_page("  " + (line.file.empty()
                                                ? "lines unknown: is addr2line (binutils) there?"
                                                : line.file));
            file = line.file;
            number = 0;
        }
        if (line.number != number) {
            text += line_of_page(format("  %5u ", line.number) + sources.source_of(line));
            number = line.number;
        }
        text += rows_of(done, line.in_cub, 8, counted) + calls_of(done, line, 0, 10, counted);
    }
    return text;
}

std::string busiest_lines(const Counted& counted, size_t most) {
    const ByLine by_line = work_by_line(counted);
    const auto lines = by_work(by_line, counted);
    std::string text;
    size_t shown = 0;
    for (const auto& [work, each] : lines) {
        const auto& [line, done] = *each;
        const std::string rows =
            line_of_page("  " + short_place(line) + "  " + counted.sources.source_of(line)) +
            rows_of(done, line.in_cub, 8, counted);
        if (shown != 0 && height_of(text) + height_of(rows) > most) break;
        text += rows;
        ++shown;
    }
    if (text.empty()) return {};
    const std::string which = shown == lines.size() ? "All " : std::to_string(shown) + " of ";
    return io::wrapped(which + std::to_string(lines.size()) +
                       " lines, those with the most sectors and wavefronts first:") +
           "\n" + text;
}

std::optional<BusiestLine> busiest_line(const Counted& counted) {
    const ByLine by_line = work_by_line(counted);
    const auto lines = by_work(by_line, counted);
    if (lines.empty()) return std::nullopt;
    const auto& [line, done] = *lines.front().second;
    std::map<AccessKind, Counts> kinds;
    for (const Done& each : done) kinds[each.kind] += *each.counts;
    const auto most =
        std::max_element(kinds.begin(), kinds.end(), [&](const auto& a, const auto& b) {
            return work_of(a.first, a.second, counted) < work_of(b.first, b.second, counted);
        });
    return BusiestLine{short_place(line), most->first, most->second,
                       work_of(most->first, most->second, counted)};
}

}  // namespace xray
