// SPDX-License-Identifier: MIT
#include "report_words.hpp"

#include <algorithm>
#include <cstdarg>
#include <cstdio>

#include "common/io/text.hpp"
#include "memory_model.hpp"

namespace xray {

std::string format(const char* format, ...) {
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return text;
}

std::string grouped(int64_t value) {
    const std::string digits = std::to_string(value);
    std::string text;
    for (size_t i = 0; i < digits.size(); i++) {
        if (i != 0 && (digits.size() - i) % 3 == 0) text += ',';
        text += digits[i];
    }
    return text;
}

double ratio(int64_t a, int64_t b) {
    return b == 0 ? 0 : static_cast<double>(a) / static_cast<double>(b);
}

double moved_per_byte_asked(const Counts& counts) {
    return ratio(counts.sectors * kSectorBytes, counts.bytes);
}

const std::vector<Word>& all_words() {
    static const std::vector<Word> words = {
        {AccessKind::global_load, "global loads", "global_load"},
        {AccessKind::global_store, "global stores", "global_store"},
        {AccessKind::global_atomic, "global atomics", "global_atomic"},
        {AccessKind::constant_load, "constant loads", "constant_load"},
        {AccessKind::constant_store, "__device__ stores", "constant_store"},
        {AccessKind::constant_atomic, "__device__ atomics", "constant_atomic"},
        {AccessKind::shared_load, "shared loads", "shared_load"},
        {AccessKind::shared_store, "shared stores", "shared_store"},
        {AccessKind::shared_copy, "copies to shared", "shared_copy"},
        {AccessKind::shared_atomic, "shared atomics", "shared_atomic"},
        {AccessKind::remote_load, "cluster loads", "remote_load"},
        {AccessKind::remote_store, "cluster stores", "remote_store"},
        {AccessKind::remote_atomic, "cluster atomics", "remote_atomic"},
        {AccessKind::texture_load, "texture fetches", "texture_load"},
        {AccessKind::surface_load, "surface reads", "surface_load"},
        {AccessKind::surface_store, "surface writes", "surface_store"},
        {AccessKind::bulk_load, "bulk loads", "bulk_load"},
        {AccessKind::bulk_store, "bulk stores", "bulk_store"},
        {AccessKind::bulk_reduce, "bulk reductions", "bulk_reduce"},
        {AccessKind::bulk_prefetch, "bulk prefetches", "bulk_prefetch"},
        {AccessKind::shared_bulk_load, "bulk from shared", "shared_bulk_load"},
        {AccessKind::shared_bulk_store, "bulk to shared", "shared_bulk_store"},
        {AccessKind::remote_bulk_store, "bulk to cluster", "remote_bulk_store"},
        {AccessKind::wgmma, "wgmma", "wgmma"},
        {AccessKind::mbarrier, "mbarriers", "mbarrier"},
    };
    return words;
}

const Word& word_for(AccessKind kind) {
    return *std::find_if(all_words().begin(), all_words().end(),
                         [&](const Word& word) { return word.kind == kind; });
}

Split split(const KernelCounts& kernel, const SourceMap& sources, AccessKind kind) {
    Split split;
    for (const auto& [site, counts] : kernel.sites) {
        if (site.kind != kind) continue;
        const bool of_matrices =
            kind == AccessKind::shared_load && sources.moves_matrices(site.place);
        Counts& part = sources.in_cub(site.place) ? split.cub
                       : of_matrices              ? split.matrices
                                                  : split.own;
        part += counts;
    }
    return split;
}

int64_t conflicts_of(const KernelCounts& kernel, const Counted& counted) {
    const Split loads = split(kernel, counted.sources, AccessKind::shared_load);
    return counted.compiled(loads.own).conflicts + counted.compiled(loads.cub).conflicts +
           loads.matrices.conflicts +
           counted.compiled(kernel.total(AccessKind::shared_store)).conflicts;
}

std::string not_modelled(const KernelCounts& kernel) {
    const bool copies = kernel.total(AccessKind::shared_bulk_load).requests +
                            kernel.total(AccessKind::shared_bulk_store).requests +
                            kernel.total(AccessKind::remote_bulk_store).requests !=
                        0;
    const bool multiplies = kernel.total(AccessKind::wgmma).requests != 0;
    if (!copies && !multiplies) return {};
    const char* const whose = copies && multiplies ? "bulk copies and of wgmma's operands"
                              : copies             ? "bulk copies"
                                                   : "wgmma's operands";
    return std::string("wavefronts and bank conflicts of ") + whose;
}

std::string line_of_page(const std::string& text) {
    constexpr size_t kDots = 2;
    return io::printable(text, kPageWidth - kDots) + "\n";
}

std::string end_of(const std::string& text, size_t most) {
    const std::string printable = io::printable(text, std::string::npos);
    return printable.size() <= most ? printable
                                    : ".." + printable.substr(printable.size() - (most - 2));
}

std::string place_of_page(size_t indent, const std::string& place) {
    constexpr size_t kDots = 2;
    return std::string(indent, ' ') + end_of(place, kPageWidth - kDots - indent) + "\n";
}

std::string numbers(const std::string& text) {
    return io::wrapped(text, kPageWidth) + "\n";
}

size_t height_of(const std::string& text) {
    return static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
}

bool differs_unrolled(const Counts& counts) {
    return counts.unrolled_requests != counts.requests || counts.unrolled_sectors != counts.sectors;
}

std::string text_of_lanes(unsigned lanes) {
    std::string text;
    for (unsigned first = 0; first < 32; first++) {
        if ((lanes >> first & 1) == 0) continue;
        unsigned last = first;
        while (last < 31 && (lanes >> (last + 1) & 1) != 0) last++;
        if (!text.empty()) text += ", ";
        text += std::to_string(first);
        if (last > first) text += (last == first + 1 ? ", " : "-") + std::to_string(last);
        first = last;
    }
    return text;
}

}  // namespace xray
