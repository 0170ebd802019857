// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
#include <algorithm>

#include "common/course/report/listing.hpp"
#include "common/course/report/page_parts.hpp"
#include "common/course/report/pages.hpp"
#include "common/runner/build_info.hpp"

namespace course {

std::string own_page(const std::filesystem::path& repository, const OwnKernel& kernel,
                     const std::vector<Counts>& counts) {
    report::Html html;
    add_page_head(html, kernel.file, "What " + kernel.called + " saw.",
                  {{"found", "What was found"},
                   {"source", "Source and counts"},
                   {"said", "In full"},
                   {"words", "Words"}});
    {
        const auto content = html.in("main", {{"id", "content"}});
        {
            const auto part = html.in("section", {{"id", "found"}});
            html.element("h2", "What was found");
            if (!counts.empty()) add_overview(html, counts);
            bool any = false;
            for (const Counts& each : counts) {
                add_launches(html, each);
                add_hazards(html, each);
                for (const Kernel& one : each.kernels)
                    any = any || !one.races.empty() || !one.unwritten_reads.empty();
                for (const std::string& finding : each.findings) html.element("p", finding);
                for (const std::string& remark : each.remarks) {
                    any = true;
                    html.element("p", remark, {{"class", "finding"}});
                }
            }
            if (counts.empty()) {
                html.element("p", "Nothing was counted: it did not run to its end. See below.");
            } else if (!any) {
                html.element("p", "No races, and no reads of memory that nobody has written.");
            }
        }
        {
            const auto part = html.in("section", {{"id", "source"}});
            html.element("h2", "Source and counts");
            html.element("p", "Accesses as written: a compiler may merge or drop some.");
            for (const Counts& each : counts) add_listing(html, each, repository, "my/");
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
