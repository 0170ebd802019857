// SPDX-License-Identifier: MIT
#include "report.hpp"

#include <algorithm>

#include "common/io/text.hpp"
#include "kernel_page.hpp"
#include "memory_model.hpp"
#include "report_words.hpp"

namespace xray {
namespace {

std::string heading(const CountedVariant& counted) {
    const std::string title = counted.stage + "/" + counted.variant->name;
    const std::string context =
        runner::text_of(counted.shape) + ", " + name_of(counted.dtype) + ", one run";
    const size_t used = title.size() + context.size();
    const std::string between = used < kPageWidth ? std::string(kPageWidth - used, ' ') : "\n";
    return title + between + context + "\n" + std::string(kPageWidth, '-') + "\n";
}

}  // namespace

std::string declared_text(const CountedVariant& counted) {
    const runner::Traffic declared = counted.declared(), found = counted.traffic();
    return io::wrapped(
               format("declared: %g loads and %g stores per element; counted: %.2f and %.2f%s",
                      declared.loads, declared.stores, found.loads, found.stores,
                      traffic_agrees(counted) ? "" : "  <- DIFFERS")) +
           "\n";
}

int64_t bytes_of_elements(const CountedVariant& counted) {
    return counted.variant->operation->elements(counted.shape) *
           static_cast<int64_t>(runner::size_of(counted.dtype));
}

std::string page_of(const CountedVariant& counted, bool lines, size_t most) {
    std::string page = heading(counted);
    const size_t around = height_of(page) + 2;  // and the last lines
    page += pages_of_kernels(counted, bytes_of_elements(counted), lines,
                             most == 0 ? 0 : std::max(most, around + 1) - around);
    if (!counted.is_known) {
        const runner::Traffic declared = counted.declared(), found = counted.traffic();
        return page +
               io::wrapped(
                   format("loads and stores per element: %.2f and %.2f; %g and %g in a kernel "
                          "that moves each operand once",
                          found.loads, found.stores, declared.loads, declared.stores)) +
               "\n";
    }
    return page + declared_text(counted);
}

std::string recorded_text(const CountedVariant& counted,
                          const std::vector<records::Recording>& recordings) {
    std::string text;
    for (const records::Recording& recording : recordings) {
        const records::Profile* found = recording.find(
            counted.stage, counted.variant->name, word_of(counted.shape), name_of(counted.dtype));
        if (found == nullptr) continue;
        const auto megabytes = [&](const char* key, double unit) {
            return found->sum(key) * unit / 1e6;
        };
        if (!found->has_all_counters()) continue;
        double recorded_conflicts = 0;
        for (const Conflicts& each : conflicts(counted, *found)) {
            recorded_conflicts += static_cast<double>(each.recorded);
        }
        text += "recorded on " + recording.gpu + ", nvcc " + recording.nvcc + ":\n";
        text += format("  loads: sectors of %.2f MB, L2 gave %.2f, DRAM %.2f;\n",
                       megabytes("global_load_sectors", kSectorBytes),
                       megabytes("l2_read_sectors", kSectorBytes), megabytes("dram_read_bytes", 1));
        text +=
            format("  stores: sectors of %.2f MB, L2 took %.2f, DRAM %.2f; bank conflicts %.0f\n",
                   megabytes("global_store_sectors", kSectorBytes),
                   megabytes("l2_write_sectors", kSectorBytes), megabytes("dram_write_bytes", 1),
                   recorded_conflicts);
        for (const records::Kernel& kernel : found->kernels) {
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

std::string legend(bool held_to_a_gpu) {
    const std::string words =
        "request: one memory instruction of one warp (32 threads). sector: 32 bytes, the\n"
        "unit in which global memory is moved; best are as many bytes moved as asked for,\n"
        "1.00, or fewer where threads ask for the same. wavefront: one pass through the\n"
        "32 banks of shared memory; a conflict is one more than needed. ";
    const std::string unrolled =
        "unrolled: threads of a warp that make different\n"
        "numbers of trips through a loop which nvcc unrolls load apart what they load\n"
        "together as written. ";
    const std::string course =
        "compiled: where\n"
        "the variant says so, neighbouring accesses of a thread are fused, as nvcc does\n"
        "where it can prove the alignment; else they stay as written. Beside that stands\n"
        "what the other way would take. " +
        unrolled +
        "Counted on the CPU: a GPU's own counters say the same (of\n"
        "conflicts, where threads part in a loop, nearly the same). Not seen: caches,\n";
    const std::string anybody =
        "fused:\n"
        "neighbouring accesses of a thread taken as one, as nvcc does where it can prove\n"
        "the alignment. " +
        unrolled +
        "Counted on the CPU, as written: a compiler may merge or\n"
        "drop accesses, and no GPU's counters were held beside these. Not seen: caches,\n";
    return words + (held_to_a_gpu ? course : anybody) + "DRAM, occupancy, register spills, time.\n";
}

std::string short_legend() {
    return "request: one memory instruction of a warp. sector: 32 bytes of global memory.\n"
           "wavefront: a pass through the banks of shared memory; conflict: one too many.\n";
}

}  // namespace xray
