// SPDX-License-Identifier: MIT
#include "report.hpp"

#include <algorithm>
#include <map>

#include "common/io/text.hpp"
#include "memory_model.hpp"
#include "report_words.hpp"

namespace xray {
namespace {

constexpr size_t kPageWidth = 80;

double ratio(int64_t a, int64_t b) {
    return b == 0 ? 0 : static_cast<double>(a) / static_cast<double>(b);
}

// A line of names and code: cut to the columns that there are.
std::string line_of_page(const std::string& text) {
    constexpr size_t kDots = 2;
    return io::printable(text, kPageWidth - kDots) + "\n";
}

double moved_per_byte_asked(const Counts& counts) {
    return ratio(counts.sectors * kSectorBytes, counts.bytes);
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

std::string global_row(const char* label, const Counts& counts, int64_t bytes_of_x) {
    return numbers(format("  %-17s %13s %12s %9.2f %12.2f %10.2f", label,
                          grouped(counts.requests).c_str(), grouped(counts.sectors).c_str(),
                          ratio(counts.sectors, counts.requests), moved_per_byte_asked(counts),
                          ratio(counts.bytes, bytes_of_x)));
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
        if (counts.requests != 0) rows += global_row(word_for(kind).plural, counts, bytes_of_x);
    }
    if (rows.empty()) return {};
    return format("  %-17s %13s %12s %9s %12s %10s\n", "", "requests", "sectors", "sectors/",
                  "bytes moved/", "accesses/") +
           format("  %-17s %13s %12s %9s %12s %10s\n", "", "of warps", "of 32 bytes", "request",
                  "byte asked", "element") +
           rows;
}

std::string shared_table(const KernelCounts& kernel, const CountedVariant& counted) {
    std::string rows;
    const auto add = [&](const std::string& label, const Counts& counts) {
        if (counts.requests == 0) return;
        rows += shared_row(label, counted.compiled(counts), counted.otherwise(counts));
    };
    for (const AccessKind kind : {AccessKind::shared_load, AccessKind::shared_store}) {
        const Split counts = split(kernel, counted.sources, kind);
        add(word_for(kind).plural, counts.own);
        add(kind == AccessKind::shared_load ? "CUB's own loads" : "CUB's own stores", counts.cub);
    }
    if (rows.empty()) return {};
    const bool fused = counted.variant->shared_accesses_fuse;
    return format("  %-17s %13s %12s %9s %23s\n", "as compiled:", "requests", "wavefronts", "bank",
                  fused ? "as it is written:" : "if it were fused:") +
           format("  %-17s %13s %12s %9s %12s %10s\n", fused ? "fused" : "as written", "of warps",
                  "", "conflicts", "requests", "conflicts") +
           rows;
}

// Kinds that are rare enough to need no table.
std::string other_accesses(const KernelCounts& kernel) {
    std::string text;
    for (const AccessKind kind :
         {AccessKind::constant_load, AccessKind::constant_store, AccessKind::shared_copy,
          AccessKind::shared_atomic, AccessKind::remote_load, AccessKind::remote_store,
          AccessKind::remote_atomic}) {
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
    const dim3 grid = kernel.configuration.grid;
    const int64_t blocks = int64_t{grid.x} * grid.y * grid.z * kernel.launches;
    const auto per_block = [&](int64_t count) { return format("%.4g", ratio(count, blocks)); };
    return "  each block: " + per_block(kernel.barriers) +
           " __syncthreads; its warps: " + per_block(kernel.warp_syncs) + " __syncwarp, " +
           per_block(kernel.warp_exchanges) + " shuffles or votes\n";
}

std::string side(const Toucher& toucher, const SourceMap& sources) {
    return "    thread " + std::to_string(toucher.thread) +
           (toucher.writes ? " writes" : " reads") + " it at\n" +
           line_of_page("      " + sources.text_of(toucher.place));
}

std::string hazards(const KernelCounts& kernel, const SourceMap& sources) {
    std::string text;
    const auto how_often = [](const Hazard& hazard) {
        return grouped(hazard.times) + " times, first in block" +
               format(" (%u,%u,%u):", hazard.block.x, hazard.block.y, hazard.block.z);
    };
    for (const Hazard& race : kernel.races) {
        text += numbers("  RACE in shared memory, " + how_often(race)) + side(race.first, sources) +
                side(race.second, sources) + "    with no __syncthreads or __syncwarp between\n";
    }
    for (const Hazard& read : kernel.uninitialized_reads) {
        text += numbers("  READ of shared memory that nobody has written, " + how_often(read)) +
                side(read.second, sources);
    }
    return text;
}

// What the instructions of one place did, and the calls that lead there.
struct Done {
    AccessKind kind;
    const Counts* counts;
    const std::vector<Line>* callers;
};

std::string cost_of(AccessKind kind, const Counts& counts, const CountedVariant& counted) {
    if (!is_shared(kind)) {
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
                    const CountedVariant& counted) {
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
    }
    return text;
}

// Where several calls lead to a line, what each of them has of its counts. `level`: as many calls
// up the stack are the same for all.
std::string calls_of(const std::vector<Done>& all, const Line& line, size_t level, size_t indent,
                     const CountedVariant& counted) {
    std::map<Line, std::vector<Done>> by_caller;
    for (const Done& done : all) {
        if (level < done.callers->size()) by_caller[(*done.callers)[level]].push_back(done);
    }
    if (by_caller.size() == 1) {
        return calls_of(all, by_caller.begin()->first, level + 1, indent, counted);
    }
    std::string text;
    for (const auto& [caller, done] : by_caller) {
        const std::string file = caller.file == line.file ? "" : caller.file + ":";
        text +=
            line_of_page(std::string(indent, ' ') + "called from " + file +
                         std::to_string(caller.number) + "  " + counted.sources.source_of(caller)) +
            rows_of(done, false, indent + 2, counted) +
            calls_of(done, caller, level + 1, indent + 2, counted);
    }
    return text;
}

std::string source_lines(const KernelCounts& kernel, const CountedVariant& counted) {
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

std::string heading(const CountedVariant& counted) {
    const std::string title = counted.stage + "/" + counted.variant->name;
    const std::string context =
        text_of(counted.shape) + ", " + name_of(counted.dtype) + ", one run";
    const size_t used = title.size() + context.size();
    const std::string between = used < kPageWidth ? std::string(kPageWidth - used, ' ') : "\n";
    return title + between + context + "\n" + std::string(kPageWidth, '-') + "\n";
}

}  // namespace

std::string page_of(const CountedVariant& counted, bool lines) {
    std::string page = heading(counted);
    const int64_t bytes_of_x = counted.variant->operation->elements(counted.shape) *
                               static_cast<int64_t>(runner::size_of(counted.dtype));
    for (const KernelCounts& kernel : counted.kernels) {
        std::string grid = text_of(kernel.configuration.grid) + " blocks of " +
                           text_of(kernel.configuration.block) + " threads";
        if (kernel.configuration.shared_bytes != 0) {
            grid += ", " + grouped(static_cast<int64_t>(kernel.configuration.shared_bytes)) +
                    " bytes of dynamic shared memory";
        }
        if (kernel.launches > 1) grid += ", " + grouped(kernel.launches) + " launches";
        page += line_of_page("kernel " + kernel.name) + io::wrapped(grid) + "\n" +
                global_table(kernel, bytes_of_x) + shared_table(kernel, counted) +
                other_accesses(kernel) + meetings(kernel) + hazards(kernel, counted.sources);
        if (lines) page += source_lines(kernel, counted);
        page += "\n";
    }
    const runner::Traffic declared = counted.declared(), found = counted.traffic();
    page += numbers(format("declared: %g loads and %g stores per element; counted: %.2f and %.2f%s",
                           declared.loads, declared.stores, found.loads, found.stores,
                           traffic_agrees(counted) ? "" : "  <- DIFFERS"));
    return page;
}

std::string recorded_text(const CountedVariant& counted, const std::vector<Recording>& recordings) {
    std::string text;
    for (const Recording& recording : recordings) {
        const RecordedVariant* found =
            recording.find(counted.stage, counted.variant->name, counted.shape, counted.dtype);
        if (found == nullptr) continue;
        const auto megabytes = [&](const char* key, double unit) {
            return found->sum(key) * unit / 1e6;
        };
        text += "recorded on " + recording.gpu + ", nvcc " + recording.nvcc + ":\n";
        text += format("  loads: sectors of %.2f MB, L2 gave %.2f, DRAM %.2f;\n",
                       megabytes("global_load_sectors", kSectorBytes),
                       megabytes("l2_read_sectors", kSectorBytes), megabytes("dram_read_bytes", 1));
        text += format(
            "  stores: sectors of %.2f MB, L2 took %.2f, DRAM %.2f; bank conflicts %.0f\n",
            megabytes("global_store_sectors", kSectorBytes),
            megabytes("l2_write_sectors", kSectorBytes), megabytes("dram_write_bytes", 1),
            static_cast<double>(recorded_conflicts(*found, counted, AccessKind::shared_load) +
                                recorded_conflicts(*found, counted, AccessKind::shared_store)));
        for (const RecordedKernel& kernel : found->kernels) {
            const double spills = kernel.counters.at("spill_load_requests") +
                                  kernel.counters.at("spill_store_requests");
            text +=
                format("  %.0f registers, %s; hits: L1 %.0f %%, L2 %.0f %%; occupancy %.0f %%\n",
                       kernel.counters.at("registers"),
                       spills == 0 ? "no spills" : format("%.0f spills", spills).c_str(),
                       kernel.counters.at("l1_hit_percent"), kernel.counters.at("l2_hit_percent"),
                       kernel.counters.at("occupancy_percent"));
        }
    }
    return text;
}

std::string legend() {
    return "request: one memory instruction of one warp (32 threads). sector: 32 bytes, the\n"
           "unit in which global memory is moved; best are as many bytes moved as asked for,\n"
           "1.00, or fewer where threads ask for the same. wavefront: one pass through the\n"
           "32 banks of shared memory; a conflict is one more than needed. compiled: where\n"
           "the variant says so, neighbouring accesses of a thread are fused, as nvcc does\n"
           "where it can prove the alignment; else they stay as written. Beside that stands\n"
           "what the other way would take. Counted on the CPU: a GPU's own counters say the\n"
           "same. Not seen: caches, DRAM, occupancy, register spills, time.\n";
}

}  // namespace xray
