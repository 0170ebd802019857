// SPDX-License-Identifier: MIT
#include "kernel_page.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "causes.hpp"
#include "common/cpu_device/failure.hpp"
#include "common/io/text.hpp"
#include "memory_model.hpp"
#include "report_words.hpp"

namespace xray {
namespace {

// A line of names and code: cut to the columns that there are.
std::string line_of_page(const std::string& text) {
    constexpr size_t kDots = 2;
    return io::printable(text, kPageWidth - kDots) + "\n";
}

bool differs_unrolled(const Counts& counts) {
    return counts.unrolled_requests != counts.requests || counts.unrolled_sectors != counts.sectors;
}

std::string text_of(dim3 extent) {
    std::string text = std::to_string(extent.x);
    if (extent.y * extent.z > 1) text += " x " + std::to_string(extent.y);
    if (extent.z > 1) text += " x " + std::to_string(extent.z);
    return text;
}

// A line of numbers: continued on another where they are too large for one.
std::string numbers(const std::string& text) {
    return io::wrapped(text, kPageWidth) + "\n";
}

// bytes_of_x: of what the accesses are counted by; 0 where there is no such thing.
std::string global_row(const char* label, const Counts& counts, int64_t bytes_of_x) {
    const std::string per_element =
        bytes_of_x == 0 ? "" : format(" %10.2f", ratio(counts.bytes, bytes_of_x));
    return numbers(format("  %-17s %13s %12s %9.2f %12.2f", label, grouped(counts.requests).c_str(),
                          grouped(counts.sectors).c_str(), ratio(counts.sectors, counts.requests),
                          moved_per_byte_asked(counts)) +
                   per_element);
}

// What the GPU counts in place of the row before, where that is something else.
std::string unrolled_row(const Counts& counts) {
    if (!differs_unrolled(counts)) return {};
    return numbers(format("  %-17s %13s %12s %9.2f",
                          "unrolled by nvcc:", grouped(counts.unrolled_requests).c_str(),
                          grouped(counts.unrolled_sectors).c_str(),
                          ratio(counts.unrolled_sectors, counts.unrolled_requests)));
}

std::string shared_row(const std::string& label, const SharedCost& compiled,
                       const SharedCost& otherwise) {
    return numbers(format("  %-17s %13s %12s %9s %12s %10s", label.c_str(),
                          grouped(compiled.requests).c_str(), grouped(compiled.wavefronts).c_str(),
                          grouped(compiled.conflicts).c_str(), grouped(otherwise.requests).c_str(),
                          grouped(otherwise.conflicts).c_str()));
}

std::string global_table(const KernelCounts& kernel, int64_t bytes_of_x) {
    std::string rows;
    for (const AccessKind kind :
         {AccessKind::global_load, AccessKind::global_store, AccessKind::global_atomic}) {
        const Counts counts = kernel.total(kind);
        if (counts.requests == 0) continue;
        rows += global_row(word_for(kind).plural, counts, bytes_of_x) + unrolled_row(counts);
    }
    if (rows.empty()) return {};
    const bool by_element = bytes_of_x != 0;
    return format("  %-17s %13s %12s %9s %12s%s\n", "", "requests", "sectors", "sectors/",
                  "bytes moved/", by_element ? "  accesses/" : "") +
           format("  %-17s %13s %12s %9s %12s%s\n", "", "of warps", "of 32 bytes", "request",
                  "byte asked", by_element ? "    element" : "") +
           rows;
}

std::string shared_table(const KernelCounts& kernel, const Counted& counted) {
    std::string rows;
    const auto add = [&](const std::string& label, const Counts& counts) {
        if (counts.requests == 0) return;
        rows += shared_row(label, counted.compiled(counts), counted.otherwise(counts));
    };
    for (const AccessKind kind : {AccessKind::shared_load, AccessKind::shared_store}) {
        const Split counts = split(kernel, counted.sources, kind);
        add(word_for(kind).plural, counts.own);
        add(kind == AccessKind::shared_load ? "CUB's own loads" : "CUB's own stores", counts.cub);
        add("matrix loads", counts.matrices);
    }
    if (rows.empty()) return {};
    const bool fused = counted.shared_accesses_fuse;
    return format("  %-17s %13s %12s %9s %23s\n", counted.is_known ? "as compiled:" : "",
                  "requests", "wavefronts", "bank",
                  fused ? "as it is written:" : "if it were fused:") +
           format("  %-17s %13s %12s %9s %12s %10s\n", fused ? "fused" : "as written", "of warps",
                  "", "conflicts", "requests", "conflicts") +
           rows;
}

// Kinds that are rare enough to need no table.
std::string other_accesses(const KernelCounts& kernel) {
    std::string text;
    for (const AccessKind kind :
         {AccessKind::constant_load, AccessKind::constant_store, AccessKind::constant_atomic,
          AccessKind::shared_copy, AccessKind::shared_atomic, AccessKind::remote_load,
          AccessKind::remote_store, AccessKind::remote_atomic}) {
        const Counts counts = kernel.total(kind);
        if (counts.requests == 0) continue;
        text += format("  %-17s %13s requests, %s bytes\n", word_for(kind).plural,
                       grouped(counts.requests).c_str(), grouped(counts.bytes).c_str());
    }
    for (const AccessKind kind : {AccessKind::bulk_load, AccessKind::bulk_store}) {
        const Counts counts = kernel.total(kind);
        if (counts.bytes == 0) continue;
        text += format("  %-17s %13s bytes, in none of the columns above\n", word_for(kind).plural,
                       grouped(counts.bytes).c_str());
    }
    int64_t pieces = 0;
    for (const auto& [site, counts] : kernel.sites) pieces += counts.split_requests;
    if (pieces != 0) {
        text += format("  %s requests are pieces of copies of an unusual size: a best guess\n",
                       grouped(pieces).c_str());
    }
    return text;
}

std::string meetings(const KernelCounts& kernel) {
    const auto per_block = [&](int64_t count) {
        constexpr double kMany = 10'000;  // of which no more than whole ones are said
        const double each = ratio(count, kernel.blocks);
        return each < kMany ? format("%.4g", each) : format("%.0f", each);
    };
    return "  a block: " + per_block(kernel.barriers) +
           " __syncthreads; warps: " + per_block(kernel.warp_syncs) + " __syncwarp, " +
           per_block(kernel.warp_exchanges) + " shuffles, votes\n";
}

std::string side(const Toucher& toucher, const Hazard& hazard, const SourceMap& sources) {
    const std::string block =
        hazard.between_blocks ? " of block " + cpu_device::coordinates(toucher.block) : "";
    return "    thread " + std::to_string(toucher.thread) + block +
           (toucher.writes ? " writes" : " reads") + " it at\n" +
           line_of_page("      " + sources.text_of(toucher.place));
}

const char* memory_of(const Hazard& hazard) {
    if (hazard.in_cluster) return "the cluster's shared memory";
    return hazard.global ? "global memory" : "shared memory";
}

constexpr size_t kShownOfACause = 2;

std::string how_often(const Hazard& hazard) {
    return grouped(hazard.times) + (hazard.times == 1 ? " time" : " times") + ", first in block " +
           cpu_device::coordinates(hazard.block) + ":";
}

// The lines of those races of a cause that are not shown.
std::string lines_of(const Cause& cause, const SourceMap& sources) {
    std::set<std::string> lines;
    for (size_t i = kShownOfACause; i < cause.races.size(); i++) {
        lines.insert(sources.text_of(cause.races[i]->first.place));
        lines.insert(sources.text_of(cause.races[i]->second.place));
    }
    std::string text;
    constexpr size_t kMost = 8;
    for (const std::string& line : lines) {
        if (text.empty()) {
            text = line;
            continue;
        }
        const size_t colon = line.rfind(':');
        const bool same_file =
            colon != std::string::npos && text.rfind(line.substr(0, colon), 0) == 0;
        text += ", " + (same_file ? line.substr(colon + 1) : line);
        if (static_cast<size_t>(std::count(text.begin(), text.end(), ',')) + 1 == kMost) break;
    }
    return text + (lines.size() > kMost ? ", ..." : "");
}

std::string text_of(const Cause& cause, const SourceMap& sources) {
    if (cause.same_value) {
        return io::wrapped(std::string("  RACE in ") + memory_of(*cause.races.front()) +
                               " that looks harmless: all threads write the same value, " +
                               grouped(cause.times()) + " times, at " +
                               sources.text_of(cause.races.front()->first.place),
                           kPageWidth) +
               "\n";
    }
    std::string text;
    const size_t shown = std::min(cause.races.size(), kShownOfACause);
    for (size_t i = 0; i < shown; i++) {
        const Hazard& race = *cause.races[i];
        text += numbers(std::string("  RACE in ") + memory_of(race) + ", " + how_often(race)) +
                side(race.first, race, sources) + side(race.second, race, sources);
    }
    text += io::wrapped("    " + what_is_missing(cause), kPageWidth) + "\n";
    const size_t more = cause.races.size() - shown;
    if (more == 0) return text;
    return text +
           io::wrapped(std::string("    Most likely the same is missing for ") +
                           std::to_string(more) + " more pairs of accesses, at " +
                           lines_of(cause, sources),
                       kPageWidth) +
           "\n";
}

// What the instructions of one place did, and the calls that lead there.
struct Done {
    AccessKind kind;
    const Counts* counts;
    const std::vector<Line>* callers;
};

std::string cost_of(AccessKind kind, const Counts& counts, const Counted& counted) {
    const bool global = kind == AccessKind::global_load || kind == AccessKind::global_store ||
                        kind == AccessKind::global_atomic;
    if (!global && !is_shared(kind)) {
        return format(" requests, %s bytes", grouped(counts.bytes).c_str());
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

std::string source_lines(const KernelCounts& kernel, const Counted& counted) {
    const SourceMap& sources = counted.sources;
    std::map<Line, std::vector<Done>> by_line;
    for (const auto& [site, counts] : kernel.sites) {
        by_line[sources.line_of(site.place)].push_back(
            {site.kind, &counts, &sources.callers_of(site.place)});
    }
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

}  // namespace

std::string hazards_text(const KernelCounts& kernel, const SourceMap& sources) {
    std::string text;
    for (const Cause& cause : causes_of(kernel.races)) text += text_of(cause, sources);
    for (const Hazard& read : kernel.uninitialized_reads) {
        text += numbers(std::string("  READ of ") + memory_of(read) + " that nobody has written, " +
                        how_often(read)) +
                side(read.second, read, sources);
    }
    if (!kernel.all_memory_watched) {
        text += "  Races in global memory were looked for in a part of it: it is too much.\n";
    }
    if (!kernel.clusters_watched) {
        text += "  Races in the shared memory of clusters were not looked for.\n";
    }
    if (!kernel.all_signals_known) {
        text +=
            "  There are more atomics and fences than can be followed: races were looked\n"
            "  for in a part of the launch.\n";
    }
    return text;
}

std::string page_of_kernel(const Counted& counted, const KernelCounts& kernel, int64_t bytes_of_x,
                           bool lines) {
    std::string grid = text_of(kernel.configuration.grid) + " blocks of " +
                       text_of(kernel.configuration.block) + " threads";
    if (kernel.configuration.shared_bytes != 0) {
        grid += ", " + grouped(static_cast<int64_t>(kernel.configuration.shared_bytes)) +
                " bytes of dynamic shared memory";
    }
    if (kernel.launches_differ) {
        grid += ", the first of " + grouped(kernel.launches) + " launches, which differ";
    } else if (kernel.launches > 1) {
        grid += ", " + grouped(kernel.launches) + " launches";
    }
    return line_of_page("kernel " + kernel.name) + io::wrapped(grid) + "\n" +
           global_table(kernel, bytes_of_x) + shared_table(kernel, counted) +
           other_accesses(kernel) + meetings(kernel) + hazards_text(kernel, counted.sources) +
           (lines ? source_lines(kernel, counted) : "") + "\n";
}

}  // namespace xray
