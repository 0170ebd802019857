// SPDX-License-Identifier: MIT
#include "report.hpp"

#include <map>

#include "memory_model.hpp"
#include "report_words.hpp"

namespace xray {
namespace {

constexpr size_t kPageWidth = 80;

double ratio(int64_t a, int64_t b) {
    return b == 0 ? 0 : static_cast<double>(a) / static_cast<double>(b);
}

std::string cut_to(const std::string& text, size_t width) {
    return text.size() <= width ? text : text.substr(0, width - 3) + "...";
}

std::string text_of(dim3 extent) {
    std::string text = std::to_string(extent.x);
    if (extent.y * extent.z > 1) text += " x " + std::to_string(extent.y);
    if (extent.z > 1) text += " x " + std::to_string(extent.z);
    return text;
}

std::string global_row(const char* label, const Counts& counts, int64_t bytes_of_x) {
    return format("  %-17s %13s %12s %9.2f %10.2f %11.2f\n", label,
                  grouped(counts.requests).c_str(), grouped(counts.sectors).c_str(),
                  ratio(counts.sectors, counts.requests), ratio(counts.bytes, bytes_of_x),
                  ratio(counts.sectors * kSectorBytes, counts.useful_bytes));
}

std::string shared_row(const std::string& label, const Counts& counts) {
    return format("  %-17s %13s %12s %9s %12s %10s\n", label.c_str(),
                  grouped(counts.requests).c_str(), grouped(counts.wavefronts).c_str(),
                  grouped(counts.conflicts).c_str(), grouped(counts.fused_requests).c_str(),
                  grouped(counts.fused_conflicts).c_str());
}

std::string global_table(const KernelCounts& kernel, int64_t bytes_of_x) {
    std::string rows;
    for (const AccessKind kind :
         {AccessKind::global_load, AccessKind::global_store, AccessKind::global_atomic}) {
        const Counts counts = kernel.total(kind);
        if (counts.requests != 0) rows += global_row(word_for(kind).plural, counts, bytes_of_x);
    }
    if (rows.empty()) return {};
    return format("  %-17s %13s %12s %9s %10s %11s\n", "", "requests", "sectors", "sectors/",
                  "accesses/", "bytes moved/") +
           format("  %-17s %13s %12s %9s %10s %11s\n", "", "of warps", "of 32 bytes", "request",
                  "element", "useful") +
           rows;
}

std::string shared_table(const KernelCounts& kernel, const SourceMap& sources) {
    std::string rows;
    for (const AccessKind kind : {AccessKind::shared_load, AccessKind::shared_store}) {
        const Split counts = split(kernel, sources, kind);
        if (counts.own.requests != 0) rows += shared_row(word_for(kind).plural, counts.own);
        if (counts.cub.requests != 0) {
            const bool loads = kind == AccessKind::shared_load;
            rows += shared_row(loads ? "CUB's own loads" : "CUB's own stores", counts.cub);
        }
    }
    if (rows.empty()) return {};
    return format("  %-17s %13s %12s %9s %23s\n", "", "requests", "wavefronts", "bank",
                  "if the compiler fuses:") +
           format("  %-17s %13s %12s %9s %12s %10s\n", "", "of warps", "", "conflicts", "requests",
                  "conflicts") +
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
    return "thread " + std::to_string(toucher.thread) + (toucher.writes ? " writes" : " reads") +
           " it at\n      " + sources.text_of(toucher.place);
}

std::string hazards(const KernelCounts& kernel, const SourceMap& sources) {
    std::string text;
    const auto where = [](const Hazard& hazard) {
        return format("block (%u,%u,%u)", hazard.block.x, hazard.block.y, hazard.block.z);
    };
    for (const Hazard& race : kernel.races) {
        text += "  RACE in shared memory, " + grouped(race.times) + " times, first in " +
                where(race) + ": " + side(race.first, sources) + "\n    and " +
                side(race.second, sources) + "\n    with no __syncthreads or __syncwarp between\n";
    }
    for (const Hazard& read : kernel.uninitialized_reads) {
        text += "  READ of shared memory that nobody has written, " + grouped(read.times) +
                " times,\n    first in " + where(read) + ": " + side(read.second, sources) + "\n";
    }
    return text;
}

std::string line_row(AccessKind kind, bool in_cub, const Counts& counts) {
    const std::string what = std::string(word_for(kind).plural) + (in_cub ? " by CUB" : "");
    const std::string text =
        format("        %-21s %11s", what.c_str(), grouped(counts.requests).c_str());
    if (!is_shared(kind)) {
        return text + format(" x %.2f sectors\n", ratio(counts.sectors, counts.requests));
    }
    return text + format(" x %.2f wavefronts, %s conflicts\n",
                         ratio(counts.wavefronts, counts.requests),
                         grouped(counts.conflicts).c_str());
}

std::string source_lines(const KernelCounts& kernel, const SourceMap& sources) {
    std::map<Line, std::map<AccessKind, Counts>> by_line;
    for (const auto& [site, counts] : kernel.sites) {
        by_line[sources.line_of(site.place)][site.kind] += counts;
    }
    std::string text, file;
    unsigned number = 0;
    for (const auto& [line, kinds] : by_line) {
        if (line.file != file || text.empty()) {
            text +=
                "\n  " +
                (line.file.empty() ? "lines unknown: is addr2line (binutils) there?" : line.file) +
                "\n";
            file = line.file;
            number = 0;
        }
        if (line.number != number) {
            text +=
                cut_to(format("  %5u ", line.number) + sources.source_of(line), kPageWidth) + "\n";
            number = line.number;
        }
        for (const auto& [kind, counts] : kinds) text += line_row(kind, line.in_cub, counts);
    }
    return text;
}

std::string heading(const CountedVariant& counted) {
    const std::string title = counted.stage + "/" + counted.variant->name;
    const std::string context =
        text_of(counted.shape) + ", " + name_of(counted.dtype) + ", one run";
    const size_t used = title.size() + context.size();
    return title + std::string(used < kPageWidth ? kPageWidth - used : 1, ' ') + context + "\n" +
           std::string(kPageWidth, '-') + "\n";
}

}  // namespace

std::string page_of(const CountedVariant& counted, bool lines) {
    std::string page = heading(counted);
    const int64_t bytes_of_x =
        runner::elements(counted.shape) * static_cast<int64_t>(runner::size_of(counted.dtype));
    for (const KernelCounts& kernel : counted.kernels) {
        page += cut_to("kernel " + kernel.name, kPageWidth) + "\n" +
                text_of(kernel.configuration.grid) + " blocks of " +
                text_of(kernel.configuration.block) + " threads";
        if (kernel.configuration.shared_bytes != 0) {
            page += ", " + grouped(static_cast<int64_t>(kernel.configuration.shared_bytes)) +
                    " bytes of dynamic shared memory";
        }
        if (kernel.launches > 1) page += ", " + grouped(kernel.launches) + " launches";
        page += "\n" + global_table(kernel, bytes_of_x) + shared_table(kernel, counted.sources) +
                other_accesses(kernel) + meetings(kernel) + hazards(kernel, counted.sources);
        if (lines) page += source_lines(kernel, counted.sources);
        page += "\n";
    }
    const runner::Traffic declared = counted.declared(), found = counted.traffic();
    page += format("declared: %g loads and %g stores per element; counted: %.2f and %.2f%s\n",
                   declared.loads, declared.stores, found.loads, found.stores,
                   traffic_agrees(counted) ? "" : "  <- DIFFERS");
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
        text += format("  %.2f MB asked for by loads, L2 gave %.2f, DRAM %.2f;\n",
                       megabytes("global_load_sectors", kSectorBytes),
                       megabytes("l2_read_sectors", kSectorBytes), megabytes("dram_read_bytes", 1));
        text += format(
            "  %.2f MB stored, L2 took %.2f, DRAM %.2f; bank conflicts %.0f\n",
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
           "unit in which global memory is moved. wavefront: one pass through the 32 banks\n"
           "of shared memory; a conflict is one more than needed. Counted on the CPU: a\n"
           "GPU's own counters say the same. Not seen: caches, DRAM, occupancy, register\n"
           "spills, time.\n";
}

}  // namespace xray
