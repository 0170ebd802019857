// SPDX-License-Identifier: MIT
#include "findings.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "common/cpu_device/failure.hpp"
#include "common/io/text.hpp"
#include "kernel_page.hpp"
#include "memory_model.hpp"
#include "report_words.hpp"

namespace xray {
namespace {

// What is worth a word: a part of all that its kind of memory does, and how much more than needed.
constexpr double kWorthAWord = 0.05;
constexpr double kMuchMore = 1.5;
constexpr size_t kMostSaid = 8;

// The accesses of one kind on one line, and the worst of their requests.
struct OfLine {
    Counts counts;
    std::optional<WorstRequest> worst;
};
using Lines = std::map<std::pair<std::string, AccessKind>, OfLine>;

Lines lines_of(const Counted& counted) {
    Lines lines;
    for (const KernelCounts& kernel : counted.kernels) {
        for (const auto& [site, counts] : kernel.sites) {
            OfLine& line = lines[{counted.sources.text_of(site.place), site.kind}];
            line.counts += counts;
            const auto worst = kernel.worst.find(site);
            if (worst == kernel.worst.end()) continue;
            if (!line.worst || line.worst->in_vain < worst->second.in_vain)
                line.worst = worst->second;
        }
    }
    return lines;
}

// The distance from each lane to the next that takes part, where it is the same for all.
std::optional<int64_t> distance_of_lanes(const Request& request) {
    std::optional<int64_t> distance;
    std::optional<uintptr_t> before;
    for (unsigned left = request.lanes; left != 0; left &= left - 1) {
        const uintptr_t address = request.address[static_cast<unsigned>(__builtin_ctz(left))];
        if (before) {
            const auto from_before = static_cast<int64_t>(address - *before);
            if (distance && *distance != from_before) return std::nullopt;
            distance = from_before;
        }
        before = address;
    }
    return distance;
}

std::string distance_in_words(const Request& request) {
    const std::optional<int64_t> distance = distance_of_lanes(request);
    if (!distance) return "";
    return "each lane is " + grouped(std::abs(*distance)) + " bytes from the next";
}

std::string who(const WorstRequest& worst) {
    return "block " + cpu_device::coordinates(worst.block) + ", warp " + std::to_string(worst.warp);
}

// Where accesses are more than enough.
void say_surplus(const Lines& lines, AccessKind kind, double enough, int64_t bytes,
                 std::vector<std::string>& said) {
    std::vector<std::pair<double, std::string>> parts;
    double all = 0;
    for (const auto& [key, line] : lines) {
        if (key.second != kind) continue;
        const double each = ratio(line.counts.bytes, bytes);
        all += each;
        parts.emplace_back(-each, key.first);
    }
    if (all <= enough * (1 + kWorthAWord) + kWorthAWord) return;
    std::sort(parts.begin(), parts.end());
    const bool is_load = kind == AccessKind::global_load;
    std::string text = format("%.2f %s of global memory per element, and %.4g in a kernel that ",
                              all, is_load ? "loads" : "stores", enough) +
                       (is_load ? "keeps on the chip what it reads again:" : "stores once:");
    const size_t shown = std::min(parts.size(), kMostSaid);
    for (size_t i = 0; i < shown; i++)
        text += format("%s %.2f at ", i == 0 ? "" : ",", -parts[i].first) + parts[i].second;
    if (shown < parts.size()) text += ", ...";
    said.push_back(text);
}

std::string about_sectors(const std::string& place, AccessKind kind, const OfLine& line) {
    std::string text =
        place + ": " + word_for(kind).plural +
        format(" move %.2f bytes for each that is asked for", moved_per_byte_asked(line.counts));
    if (!line.worst) return text;
    const Request& request = line.worst->request;
    const auto lanes = static_cast<unsigned>(__builtin_popcount(request.lanes));
    const std::string distance = distance_in_words(request);
    text += lanes == 1         ? ": one lane of the warp asks"
            : distance.empty() ? ": lanes far from each other ask"
                               : ": " + distance;
    return text +
           format(", and %u %s of 32 bytes %s moved for %u bytes (", touched_by(request).sectors,
                  touched_by(request).sectors == 1 ? "sector" : "sectors",
                  touched_by(request).sectors == 1 ? "is" : "are", touched_by(request).bytes) +
           who(*line.worst) + ")";
}

std::string about_banks(const std::string& place, AccessKind kind, const OfLine& line) {
    std::string text =
        place + ": bank conflicts, " + word_for(kind).plural +
        format(" take %.2f passes each, and %.2f would do",
               ratio(line.counts.wavefronts, line.counts.requests),
               ratio(line.counts.wavefronts - line.counts.conflicts, line.counts.requests));
    if (!line.worst) return text;
    const Collision collision = collision_of(line.worst->request);
    text += format(": bank %u is asked for %u different words at once, by lanes ", collision.bank,
                   collision.words) +
            text_of_lanes(collision.lanes) + " (" + who(*line.worst);
    const std::string distance = distance_in_words(line.worst->request);
    return text + (distance.empty() ? "" : "; " + distance) + ")";
}

}  // namespace

std::vector<std::string> findings(const Counted& counted, const Enough& enough) {
    const Lines lines = lines_of(counted);
    std::vector<std::string> said;
    if (enough.bytes != 0) {
        say_surplus(lines, AccessKind::global_load, enough.loads, enough.bytes, said);
        say_surplus(lines, AccessKind::global_store, enough.stores, enough.bytes, said);
    }
    const int64_t sectors = total(counted.kernels, AccessKind::global_load).sectors +
                            total(counted.kernels, AccessKind::global_store).sectors;
    const int64_t wavefronts = total(counted.kernels, AccessKind::shared_load).wavefronts +
                               total(counted.kernels, AccessKind::shared_store).wavefronts;
    std::vector<std::pair<int64_t, std::string>> wasteful;  // how much in vain, first the most
    for (const auto& [key, line] : lines) {
        const auto& [place, kind] = key;
        const Counts& counts = line.counts;
        if (is_shared(kind)) {
            if (ratio(counts.conflicts, wavefronts) < kWorthAWord) continue;
            wasteful.emplace_back(-counts.conflicts, about_banks(place, kind, line));
        } else if (kind == AccessKind::global_load || kind == AccessKind::global_store) {
            const int64_t in_vain = counts.sectors * kSectorBytes - counts.bytes;
            if (moved_per_byte_asked(counts) < kMuchMore) continue;
            if (ratio(in_vain, sectors * kSectorBytes) < kWorthAWord) continue;
            wasteful.emplace_back(-in_vain / kSectorBytes, about_sectors(place, kind, line));
        }
    }
    std::sort(wasteful.begin(), wasteful.end());
    for (const auto& [in_vain, text] : wasteful) {
        if (said.size() < kMostSaid) said.push_back(text);
    }
    return said;
}

std::string findings_text(const Counted& counted, const Enough& enough) {
    const std::vector<std::string> said = findings(counted, enough);
    if (said.empty()) return {};
    std::string text = "What to look at:\n";
    for (const std::string& each : said) text += io::wrapped("  " + each, kPageWidth) + "\n";
    return text + "\n";
}

}  // namespace xray
