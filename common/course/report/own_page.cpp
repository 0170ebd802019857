// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
#include <algorithm>

#include "common/course/report/listing.hpp"
#include "common/course/report/page_parts.hpp"
#include "common/course/report/pages.hpp"
#include "common/report/html/picture.hpp"
#include "common/runner/build_info.hpp"

namespace course {
namespace {

void add_verdict(report::Html& html, const OwnKernel& kernel, const std::vector<Counts>& counts) {
    const auto words = html.in("p", {{"class", kernel.good ? "good" : "finding"}});
    html.element("strong", kernel.good ? "Nothing is wrong" : "Something is wrong");
    html.text(kernel.good      ? ", as far as this command can see."
              : counts.empty() ? ": it ended too early to be counted. What was printed: "
                               : ". All that was printed: ");
    if (!kernel.good) html.link("in full", "#said").text(".");
}

}  // namespace

std::string own_page(const std::filesystem::path& repository, const OwnKernel& kernel,
                     const std::vector<Counts>& counts) {
    report::Html html;
    Parts parts = {{"found", "What was found"}};
    if (!counts.empty()) parts.emplace_back("source", "Source and counts");
    const std::vector<std::filesystem::path> pictures = report::pictures_in(kernel.pictures);
    if (!pictures.empty()) parts.emplace_back("pictures", "Sectors and banks");
    parts.insert(parts.end(), {{"said", "In full"}, {"words", "Words"}});
    add_page_head(html, kernel.file, "What " + kernel.called + " saw.", parts);
    {
        const auto content = html.in("main", {{"id", "content"}});
        {
            const auto part = html.in("section", {{"id", "found"}});
            html.element("h2", "What was found");
            add_verdict(html, kernel, counts);
            if (!counts.empty()) add_overview(html, counts);
            for (const Counts& each : counts) {
                add_launches(html, each);
                for (const std::string& words : each.wrong)
                    html.element("p", words, {{"class", "finding"}});
                add_hazards(html, each);
                for (const auto* sentences : {&each.findings, &each.notes}) {
                    for (const std::string& words : *sentences) html.element("p", words);
                }
            }
        }
        if (!counts.empty()) {
            const auto part = html.in("section", {{"id", "source"}});
            html.element("h2", "Source and counts");
            html.element("p", "Accesses as written: a compiler may merge or drop some.");
            for (const Counts& each : counts) add_listing(html, each, repository, "my/");
        }
        if (!pictures.empty()) {
            const auto part = html.in("section", {{"id", "pictures"}});
            html.element("h2", "Sectors and banks");
            html.element("p", "Of each kernel the request that wastes most, lane by lane.");
            for (const std::filesystem::path& picture : pictures)
                report::add_picture(html, picture, picture.stem().string());
        }
        {
            const auto part = html.in("section", {{"id", "said"}});
            html.element("h2", "In full");
            html.element("p", kernel.called + " printed:");
            html.element("pre", kernel.said, {{"tabindex", "0"}});
            const runner::BuildInfo built = runner::build_info();
            add_facts(html, {{"counted by", "the CPU device, compiled with " + built.compiler},
                             {"commit", built.commit}});
        }
        add_words(html, "words");
    }
    return html.document(kernel.file, style_sheet(repository));
}

}  // namespace course
