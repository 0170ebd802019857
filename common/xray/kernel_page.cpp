// SPDX-License-Identifier: MIT
#include "kernel_page.hpp"

#include <algorithm>
#include <set>

#include "causes.hpp"
#include "common/cpu_device/failure.hpp"
#include "common/io/table.hpp"
#include "common/io/text.hpp"
#include "memory_model.hpp"
#include "report_words.hpp"
#include "source_lines.hpp"

namespace xray {
namespace {

std::string text_of(dim3 extent) {
    std::string text = std::to_string(extent.x);
    if (extent.y * extent.z > 1) text += " x " + std::to_string(extent.y);
    if (extent.z > 1) text += " x " + std::to_string(extent.z);
    return text;
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

// Bulk and tensor copies, each end in a row of its own; wgmma; mbarriers. These are in none of the other tables.
std::string asynchronous_accesses(const KernelCounts& kernel) {
    struct Row {
        AccessKind kind;
        const char* label;
    };
    constexpr Row kEnds[] = {{AccessKind::bulk_load, "from global memory"},
                             {AccessKind::bulk_store, "to global memory"},
                             {AccessKind::bulk_reduce, "reduced in global"},
                             {AccessKind::shared_bulk_load, "from shared memory"},
                             {AccessKind::shared_bulk_store, "to shared memory"},
                             {AccessKind::remote_bulk_store, "to other blocks"},
                             {AccessKind::bulk_prefetch, "prefetched to L2"}};
    std::string text;
    for (const auto& [kind, label] : kEnds) {
        const Counts counts = kernel.total(kind);
        if (counts.requests == 0) continue;
        const auto number = [](bool known, int64_t value) {
            return known ? grouped(value) : std::string("-");
        };
        text += numbers(format("  %-18s %12s %12s %16s", label, grouped(counts.requests).c_str(),
                               number(is_bulk_of_global(kind), counts.sectors).c_str(),
                               number(kind != AccessKind::bulk_prefetch, counts.bytes).c_str()));
    }
    if (!text.empty()) {
        text =
            format("  %-18s %12s %12s %16s\n", "bulk copies:", "instructions", "sectors", "bytes") +
            text;
    }
    const Counts products = kernel.total(AccessKind::wgmma);
    if (products.requests != 0) {
        text +=
            numbers(format("  %-18s %12s of warps, %s bytes of operands in shared memory", "wgmma",
                           grouped(products.requests).c_str(), grouped(products.bytes).c_str()));
    }
    const Counts barriers = kernel.total(AccessKind::mbarrier);
    if (barriers.requests != 0) {
        text += numbers(format("  %-18s %12s operations of warps", "mbarriers",
                               grouped(barriers.requests).c_str()));
    }
    const std::string missing = not_modelled(kernel);
    return missing.empty()
               ? text
               : text + io::wrapped("  (not modelled: " + missing + ")", kPageWidth) + "\n";
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
    text += asynchronous_accesses(kernel);
    int64_t of_textures = 0;
    for (const AccessKind kind :
         {AccessKind::texture_load, AccessKind::surface_load, AccessKind::surface_store}) {
        const Counts counts = kernel.total(kind);
        of_textures += counts.requests;
        if (counts.requests == 0) continue;
        text += format("  %-17s %13s requests, %s bytes\n", word_for(kind).plural,
                       grouped(counts.requests).c_str(), grouped(counts.bytes).c_str());
    }
    if (of_textures != 0) text += "  (sectors of textures and surfaces are not modelled)\n";
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
           place_of_page(6, sources.text_of(toucher.place));
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

// Where there is something wrong, or something that was not watched.
std::string hazards_of(const Counted& counted) {
    std::string text;
    for (const KernelCounts& kernel : counted.kernels) {
        const std::string hazards = hazards_text(kernel, counted.sources);
        if (!hazards.empty()) text += line_of_page("kernel " + kernel.name) + hazards;
    }
    return text;
}

// One row a kernel, as many as `most` lines have room for.
std::string table_of_kernels(const Counted& counted, size_t most) {
    constexpr size_t kNameWidth = 36, kHeader = 1;
    io::Table table({{"kernel", 0, io::Align::left},
                     {"launches", 0, io::Align::right},
                     {"loads", 0, io::Align::right},
                     {"stores", 0, io::Align::right},
                     {"moved", 0, io::Align::right},
                     {"conflicts", 0, io::Align::right}});
    const size_t rows =
        std::min(counted.kernels.size(), most > kHeader + 1 ? most - kHeader - 1 : 1);
    for (size_t i = 0; i < rows; ++i) {
        const KernelCounts& kernel = counted.kernels[i];
        const Counts loads = kernel.total(AccessKind::global_load);
        const Counts stores = kernel.total(AccessKind::global_store);
        Counts both = loads;
        both += stores;
        table.row({io::printable(kernel.name, kNameWidth), grouped(kernel.launches),
                   grouped(loads.requests), grouped(stores.requests),
                   format("%.2f", moved_per_byte_asked(both)),
                   grouped(conflicts_of(kernel, counted))});
    }
    if (rows == counted.kernels.size()) return table.text();
    return table.text() + "  ... and " + std::to_string(counted.kernels.size() - rows) + " more\n";
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

std::string pages_of_kernels(const Counted& counted, int64_t bytes_of_x, bool lines, size_t most) {
    const auto pages = [&](bool with_lines) {
        std::string text;
        for (const KernelCounts& kernel : counted.kernels)
            text += page_of_kernel(counted, kernel, bytes_of_x, with_lines);
        return text;
    };
    std::string text = pages(lines);
    if (most == 0 || height_of(text) <= most) return text;
    const std::string rest =
        io::wrapped(lines ? "--all prints every kernel's page and every line of the source."
                          : "--all prints every kernel's page.");
    constexpr size_t kFewestLines = 10, kOfTheRest = 3;
    const size_t above = most - std::min(most, kOfTheRest + (lines ? kFewestLines : 0));
    text = pages(false);
    if (height_of(text) > above) {
        text = table_of_kernels(counted, above - std::min(above, size_t{2})) +
               "  loads, stores: requests of warps to global memory; moved: bytes moved per byte\n"
               "  asked for; conflicts: of shared memory's banks\n" +
               hazards_of(counted) + "\n";
    }
    if (lines) {
        const size_t taken = height_of(text) + kOfTheRest;
        text += busiest_lines(counted, most > taken + kFewestLines ? most - taken : kFewestLines);
    }
    return text + rest + "\n\n";
}

}  // namespace xray
