// SPDX-License-Identifier: MIT
#include "pictures.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <map>

#include "memory_model.hpp"
#include "picture_parts.hpp"
#include "report_words.hpp"

namespace xray {
namespace {

constexpr double kStep = (Svg::kWidth - 2 * kMargin) / 32;  // from lane to lane, bank to bank
constexpr double kBox = kStep - 4;

const char* verb_of(AccessKind kind) {
    const bool loads = kind == AccessKind::shared_load || kind == AccessKind::global_load;
    return loads ? "load" : "store";
}

double lane_x(unsigned lane) {
    return kMargin + lane * kStep;
}

constexpr double kLaneTop = 140;

void draw_lanes(Svg& svg, unsigned lanes, const std::string& what) {
    svg.text(kMargin, kLaneTop - 12, 16, what, Anchor::left, kQuiet);
    for (unsigned lane = 0; lane < 32; lane++) {
        const bool takes_part = (lanes >> lane & 1) != 0;
        svg.box(lane_x(lane), kLaneTop, kBox, kBox, takes_part ? kBlue : "#f4f4f4");
        svg.text(lane_x(lane) + kBox / 2, kLaneTop + kBox / 2 + 5, 15, std::to_string(lane),
                 Anchor::middle, takes_part ? "#222222" : "#bbbbbb");
    }
}

constexpr double kLaneBottom = kLaneTop + kBox;

std::string printed(const char* format, double value) {
    char text[32];
    std::snprintf(text, sizeof text, format, value);
    return text;
}

}  // namespace

std::string draw_banks(const Request& request, const Caption& caption) {
    constexpr double kBanksTop = 410, kBanksBottom = 630;
    // Wide accesses go by groups of lanes, one after the other: that with most conflicts is shown.
    const LaneGroups groups = lanes_at_once(request);
    Request group = request;
    unsigned most = 0;
    for (const unsigned lanes : groups) {
        Request one = request;
        one.lanes = lanes;
        const unsigned taken = collision_of(one).words;
        if (taken > most) group = one, most = taken;
    }

    std::map<uintptr_t, std::vector<unsigned>> words;  // who wants it
    for (unsigned lane = 0; lane < 32; lane++) {
        if ((group.lanes >> lane & 1) == 0) continue;
        const uintptr_t last = (group.address[lane] + group.bytes - 1) / kBankBytes;
        for (uintptr_t word = group.address[lane] / kBankBytes; word <= last; word++) {
            words[word].push_back(lane);
        }
    }
    // Where a variable lies in shared memory is not the kernel's choice: count from its first word.
    std::map<unsigned, std::vector<uintptr_t>> banks;
    for (const auto& [word, lanes] : words) {
        banks[(word - words.begin()->first) % kBanks].push_back(word);
    }
    size_t deepest = 1;
    for (const auto& [bank, wanted] : banks) deepest = std::max(deepest, wanted.size());

    Svg svg;
    draw_caption(svg, caption);
    const std::string bytes = std::to_string(request.bytes) + " bytes a lane";
    const Wavefronts all = wavefronts_of(request);
    const std::string of_warp =
        groups.count == 1 ? "lanes of the warp; all access shared memory at once"
                          : "lanes " + text_of_lanes(group.lanes) + " of the warp: one of the " +
                                std::to_string(groups.count) + " groups of lanes in which " +
                                bytes + " are accessed; all groups together take " +
                                std::to_string(all.taken) + " wavefronts";
    draw_lanes(svg, group.lanes, of_warp);
    svg.fitting_text(kMargin, kBanksBottom + 22, 16,
                     "the 32 banks, numbered from the first word's; each box above is a word, with "
                     "the lane that accesses it, or the number of lanes",
                     kQuiet);
    const double height = std::min(30.0, (kBanksBottom - kBanksTop) / static_cast<double>(deepest));
    for (unsigned bank = 0; bank < kBanks; bank++) {
        svg.text(lane_x(bank) + kBox / 2, kBanksTop - 8, 15, std::to_string(bank), Anchor::middle);
        svg.line(lane_x(bank), kBanksTop, lane_x(bank) + kBox, kBanksTop, "#999999");
    }
    for (const auto& [bank, wanted] : banks) {
        const bool collides = wanted.size() > 1;
        for (size_t i = 0; i < wanted.size(); i++) {
            const double top = kBanksTop + 2 + static_cast<double>(i) * height;
            svg.box(lane_x(bank), top, kBox, height - 1, collides ? kRed : kBlue);
            const std::vector<unsigned>& lanes = words[wanted[i]];
            if (height >= 14) {
                const std::string who = lanes.size() == 1 ? std::to_string(lanes[0])
                                                          : std::to_string(lanes.size()) + "x";
                svg.text(lane_x(bank) + kBox / 2, top + height / 2 + 4, 13, who, Anchor::middle);
            }
            for (const unsigned lane : lanes) {
                svg.line(lane_x(lane) + kBox / 2, kLaneBottom, lane_x(bank) + kBox / 2,
                         kBanksTop - 26, collides ? kRedLine : kBlueLine, collides ? 1.8 : 1.2);
            }
        }
    }
    const std::string who =
        groups.count == 1 ? "" : "lanes " + text_of_lanes(group.lanes) + " take ";
    const std::string verdict =
        deepest == 1 ? who + "one wavefront: no bank has two of the words."
                     : who + std::to_string(deepest) +
                           " wavefronts where one would do: " + std::to_string(deepest) +
                           " different words lie in one bank.";
    svg.fitting_text(
        kMargin, 690, 20,
        "shared " + std::string(verb_of(request.kind)) + " of " + bytes + ": " + verdict);
    return svg.finished();
}

std::string draw_sectors(const Request& request, const Caption& caption) {
    constexpr double kSectorsTop = 470, kHeight = 60;
    std::map<uintptr_t, std::vector<bool>> sectors;  // which of its bytes are wanted
    for (unsigned lane = 0; lane < 32; lane++) {
        if ((request.lanes >> lane & 1) == 0) continue;
        for (unsigned i = 0; i < request.bytes; i++) {
            const uintptr_t byte = request.address[lane] + i;
            std::vector<bool>& wanted = sectors[byte / kSectorBytes];
            wanted.resize(kSectorBytes);
            wanted[byte % kSectorBytes] = true;
        }
    }
    const double step =
        std::min(150.0, (Svg::kWidth - 2 * kMargin) / static_cast<double>(sectors.size()));
    const double width = step - std::min(12.0, step / 5);
    const double left = (Svg::kWidth - step * static_cast<double>(sectors.size())) / 2;
    const auto left_of = [&](uintptr_t sector) {
        return left +
               step * static_cast<double>(std::distance(sectors.begin(), sectors.find(sector)));
    };

    Svg svg;
    draw_caption(svg, caption);
    draw_lanes(svg, request.lanes, "lanes of the warp");
    for (unsigned lane = 0; lane < 32; lane++) {
        if ((request.lanes >> lane & 1) == 0) continue;
        const uintptr_t address = request.address[lane];
        const double middle = static_cast<double>(address % kSectorBytes) + request.bytes / 2.0;
        svg.line(lane_x(lane) + kBox / 2, kLaneBottom,
                 left_of(address / kSectorBytes) + width * middle / kSectorBytes, kSectorsTop,
                 kBlueLine, 1.2);
    }
    svg.text(kMargin, kSectorsTop + kHeight + 60, 16,
             "sectors of 32 bytes, with their distance in bytes from the first; blue: bytes that "
             "lanes access",
             Anchor::left, kQuiet);
    const uintptr_t first = sectors.begin()->first;
    const auto distance = [&](uintptr_t sector) {
        return "+" + grouped(static_cast<int64_t>((sector - first) * kSectorBytes));
    };
    // Where labels are wider than their sectors, only some of them.
    constexpr double kLabelSize = 15, kBetween = 8;
    const double widest = Svg::width_of(kLabelSize, distance(sectors.rbegin()->first)) + kBetween;
    const auto every = static_cast<size_t>(std::ceil(widest / step));
    size_t number = 0;
    for (const auto& [sector, wanted] : sectors) {
        const double x = left_of(sector);
        svg.box(x, kSectorsTop, width, kHeight, kGrey);
        for (unsigned byte = 0; byte < kSectorBytes; byte++) {
            if (!wanted[byte]) continue;
            unsigned end = byte;
            while (end < kSectorBytes && wanted[end]) end++;
            svg.box(x + width * byte / kSectorBytes, kSectorsTop,
                    width * (end - byte) / kSectorBytes, kHeight, kBlue);
            byte = end;
        }
        if (number++ % every == 0) {
            svg.text(x + width / 2, kSectorsTop + kHeight + 24, kLabelSize, distance(sector),
                     Anchor::middle);
        }
    }
    const unsigned useful = touched_by(request).bytes;
    const auto moved = static_cast<unsigned>(sectors.size()) * kSectorBytes;
    const std::string verdict = moved == useful
                                    ? "every byte moved is used."
                                    : printed("%.3g", static_cast<double>(moved) / useful) +
                                          " bytes are moved for each byte used.";
    svg.fitting_text(
        kMargin, 690, 20,
        "global " + std::string(verb_of(request.kind)) + " of " + std::to_string(request.bytes) +
            " bytes a lane: " + plural(static_cast<unsigned>(sectors.size()), "sector") + ", " +
            grouped(moved) + " bytes for " + grouped(useful) + " used; " + verdict);
    return svg.finished();
}

}  // namespace xray
