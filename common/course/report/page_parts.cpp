// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
#include "common/course/report/page_parts.hpp"

#include <algorithm>

#include "common/course/report/listing.hpp"
#include "common/io/files.hpp"
#include "common/io/table.hpp"

namespace course {

using report::Html;

void add_page_head(Html& html, const std::string& title, const std::string& below,
                   const Parts& parts) {
    html.element("a", "Skip to the content", {{"class", "skip"}, {"href", "#content"}});
    const auto head = html.in("header");
    html.element("h1", title).element("p", below);
    const auto nav = html.in("nav", {{"aria-label", "Contents"}});
    const auto list = html.in("ul");
    for (const auto& [id, words] : parts) {
        const auto item = html.in("li");
        html.element("a", words, {{"href", "#" + id}});
    }
}

void add_overview(Html& html, const std::vector<Counts>& counts) {
    const bool by_element = std::any_of(counts.begin(), counts.end(), [](const Counts& each) {
        return each.loads + each.stores > 0;
    });
    const auto box = html.in("div", {{"class", "wide"}, {"tabindex", "0"}});
    const auto table = html.in("table", {{"class", "numbers"}});
    {
        const auto head = html.in("thead");
        const auto row = html.in("tr");
        html.element("th", "counted");
        if (by_element) html.element("th", "loads + stores an element");
        for (const char* title : {"requests to global memory", "sectors", "sectors a request",
                                  "wavefronts of shared memory", "bank conflicts", "races"})
            html.element("th", title);
    }
    const auto body = html.in("tbody");
    for (const Counts& each : counts) {
        const auto row = html.in("tr");
        const Accesses global = each.total(&AccessKind::is_global),
                       shared = each.total(&AccessKind::is_shared);
        size_t races = 0;
        for (const Kernel& kernel : each.kernels) races += kernel.races.size();
        {
            const auto name = html.in("th", {{"scope", "row"}});
            html.element("code", each.name);
            const std::string at = each.shape.empty() ? "" : " " + each.shape;
            html.text(at + (each.dtype.empty() || each.dtype == "float32" ? "" : " " + each.dtype));
        }
        if (by_element)
            html.element("td", io::number(each.loads, 2) + " + " + io::number(each.stores, 2));
        html.element("td", grouped(global.requests)).element("td", grouped(global.sectors));
        html.element("td", global.requests == 0
                               ? "-"
                               : io::number(static_cast<double>(global.sectors) /
                                                static_cast<double>(global.requests),
                                            2));
        html.element("td", grouped(shared.wavefronts)).element("td", grouped(shared.conflicts));
        html.element("td", std::to_string(races));
    }
}

void add_hazards(Html& html, const Counts& counts) {
    for (const Kernel& kernel : counts.kernels) {
        const auto add = [&](const Hazard& hazard, const std::string& what) {
            const auto box = html.in("div", {{"class", "finding"}});
            {
                const auto first = html.in("p");
                html.element("strong", what);
                html.text(" in " + hazard.memory + " memory, ").element("code", kernel.name);
                html.text(", " + grouped(hazard.times) + (hazard.times == 1 ? " time" : " times"));
            }
            const auto list = html.in("ul");
            for (const Hazard::Side& side : hazard.sides) {
                const auto item = html.in("li");
                html.text(side.who + " at ").element("code", side.place);
            }
            if (!hazard.missing.empty() && !hazard.harmless) html.element("li", hazard.missing);
        };
        for (const Hazard& race : kernel.races)
            add(race, race.harmless ? "Race that looks harmless: all threads write the same value"
                                    : "Race");
        for (const Hazard& read : kernel.unwritten_reads) add(read, "Read of unwritten memory");
    }
}

void add_launches(Html& html, const Counts& counts) {
    const auto list = html.in("ul");
    for (const Kernel& kernel : counts.kernels) {
        const auto item = html.in("li");
        html.element("code", kernel.name);
        html.text(": " + kernel.launch +
                  "; barriers a block: " + io::number(kernel.barriers_per_block));
    }
}

void add_words(Html& html, const std::string& id) {
    const auto part = html.in("section", {{"id", id}});
    html.element("h2", "The words of these tables");
    add_facts(
        html,
        {{"request", "One load or store instruction of a warp, 32 threads that execute together."},
         {"sector",
          "32 bytes, the unit in which global memory moves. A request of 32 neighbouring "
          "floats needs 4."},
         {"wavefront", "One pass through the 32 banks of shared memory."},
         {"bank conflict",
          "A wavefront more than the request needs, because lanes want different "
          "words of one bank."},
         {"race",
          "Two threads use the same bytes, at least one of them writes, and nothing orders "
          "the two."}});
    html.element("p",
                 "The CPU device ran the unmodified kernels and counted every access. These counts "
                 "do not see caches, DRAM, occupancy, register spills or time.");
}

void add_facts(Html& html, const Parts& facts) {
    const auto list = html.in("dl");
    for (const auto& [word, value] : facts) html.element("dt", word).element("dd", value);
}

std::string style_sheet(const std::filesystem::path& repository) {
    const std::filesystem::path path = repository / "common/report/html/page.css";
    io::require_readable(path);
    return io::text_in(path);
}

}  // namespace course
