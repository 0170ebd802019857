// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
#include <algorithm>
#include <optional>

#include "common/course/report/lesson.hpp"
#include "common/course/report/listing.hpp"
#include "common/course/report/page_parts.hpp"
#include "common/course/report/pages.hpp"
#include "common/io/changes.hpp"
#include "common/io/files.hpp"
#include "common/io/text.hpp"
#include "common/records/record.hpp"
#include "common/records/where.hpp"
#include "common/report/html/from_markdown.hpp"
#include "common/report/html/picture.hpp"
#include "common/report/tables/tables.hpp"
#include "common/runner/build_info.hpp"

namespace course {
namespace {

namespace fs = std::filesystem;
using report::Html;
using Kind = io::ChangedLine::Kind;

std::string id_of(const std::string& stage) {
    return "stage-" + stage.substr(0, 2);
}

// The lines of a header without its card, which stands on the page itself.
std::vector<std::string> below_card(const fs::path& header) {
    std::vector<std::string> lines = io::lines_in(io::text_in(header));
    const auto once = std::find(lines.begin(), lines.end(), "#pragma once");
    if (once != lines.end()) lines.erase(lines.begin(), once + 1);
    return lines;
}

class CoursePage {
public:
    CoursePage(const fs::path& repository, const std::vector<std::string>& stages,
               const std::vector<Counts>& counts)
        : repository_(repository), stages_(stages), counts_(counts) {}

    std::string write() {
        Parts parts = {{"staircase", "All stages"}};
        std::vector<Lesson> lessons;
        for (const std::string& stage : stages_) {
            lessons.push_back(lesson_of(repository_, stage));
            parts.emplace_back(id_of(stage), lessons.back().title);
        }
        parts.emplace_back("environment", "Environment");
        parts.emplace_back("words", "Words");
        const std::string title = "Softmax in stages";
        add_page_head(html_, title,
                      "What each stage teaches, what its kernels touch, and how long they take.",
                      parts);
        {
            const auto content = html_.in("main", {{"id", "content"}});
            add_staircase();
            for (size_t i = 0; i < stages_.size(); ++i) add_stage(stages_[i], lessons[i]);
            add_environment();
            add_words(html_, "words");
        }
        return html_.document(title, style_sheet(repository_));
    }

private:
    // Links of a README: to a stage's folder, wherever the page lies; or to the web.
    report::LinkTarget links() const {
        return [this](const std::string& target) {
            for (const std::string& stage : stages_) {
                if (target.find(stage) != std::string::npos) return "#" + id_of(stage);
            }
            return target;
        };
    }

    void add_staircase() {
        const auto part = html_.in("section", {{"id", "staircase"}});
        html_.element("h2", "All stages");
        add_pictures_of_all();
        const auto list = html_.in("ol", {{"class", "stages"}});
        for (const std::string& stage : stages_) {
            const auto item = html_.in("li");
            const Lesson lesson = lesson_of(repository_, stage);
            html_.element("a", lesson.title, {{"href", "#" + id_of(stage)}}).text(" ");
            report::add_inline_markdown(html_, lesson.subtitle, links());
        }
    }

    void add_pictures_of_all() {
        const fs::path folder = records::recorded_of_all(repository_, records::kShown) / "pictures";
        for (const fs::path& picture : report::pictures_in(folder))
            report::add_picture(html_, picture, "The staircase: effective bandwidth of each stage");
    }

    void add_stage(const std::string& stage, const Lesson& lesson) {
        const auto part = html_.in("section", {{"id", id_of(stage)}});
        html_.element("h2", lesson.title);
        {
            const auto lead = html_.in("p", {{"class", "lead"}});
            report::add_inline_markdown(html_, lesson.subtitle, links());
        }
        report::add_markdown(html_, lesson.idea, links());
        if (!lesson.summary.empty()) html_.element("p", lesson.summary);
        add_facts(html_, lesson.card);
        add_changes(lesson);
        add_counts(stage);
        add_times(stage, lesson);
    }

    // A heading that opens what stands below it.
    class Fold {
    public:
        Fold(Html& html, const std::string& title) : details_(html.in("details")) {
            html.element("summary", title);
        }

    private:
        Html::Element details_;
    };

    void add_changes(const Lesson& lesson) {
        for (const Lesson::Pair& pair : lesson.pairs) {
            const auto shown = [&](const fs::path& path) {
                return fs::relative(path, repository_).generic_string();
            };
            const std::vector<io::ChangedLine> lines =
                io::changes(below_card(pair.before), below_card(pair.after));
            const auto added = std::count_if(lines.begin(), lines.end(), [](const auto& line) {
                return line.kind == Kind::added;
            });
            const Fold fold(html_, "What changes: " + shown(pair.before) + " to " +
                                       shown(pair.after) + ", " + grouped(added) + " new lines");
            add_changed_lines(lines);
        }
    }

    // Every change with a few lines around it.
    void add_changed_lines(const std::vector<io::ChangedLine>& lines) {
        constexpr size_t kAround = 3;
        std::vector<bool> shown(lines.size(), false);
        for (size_t i = 0; i < lines.size(); ++i) {
            if (lines[i].kind == Kind::same) continue;
            for (size_t k = i - std::min(i, kAround); k < std::min(lines.size(), i + kAround + 1);
                 ++k)
                shown[k] = true;
        }
        const auto block = html_.in("pre", {{"class", "changes"}, {"tabindex", "0"}});
        for (size_t i = 0; i < lines.size(); ++i) {
            if (!shown[i]) {
                size_t end = i;
                while (end < lines.size() && !shown[end]) ++end;
                html_.element("span",
                              "  ... " + grouped(static_cast<int64_t>(end - i)) +
                                  (end - i == 1 ? " line" : " lines") + " as before\n",
                              {{"class", "same"}});
                i = end - 1;
                continue;
            }
            // Those that changed are blocks of their own, which end their lines by themselves.
            switch (lines[i].kind) {
                case Kind::same:
                    html_.text("  " + lines[i].text + "\n");
                    break;
                case Kind::added:
                    html_.element("ins", "+ " + lines[i].text);
                    break;
                case Kind::removed:
                    html_.element("del", "- " + lines[i].text);
                    break;
            }
        }
    }

    void add_counts(const std::string& stage) {
        std::vector<Counts> of_stage;
        for (const Counts& each : counts_) {
            if (each.stage == stage) of_stage.push_back(each);
        }
        if (of_stage.empty()) return;
        html_.element("h3", "What its kernels touch");
        add_overview(html_, of_stage);
        for (const Counts& each : of_stage) {
            const Fold fold(html_, each.name + ", line by line");
            add_launches(html_, each);
            add_hazards(html_, each);
            add_listing(html_, each, repository_, "");
        }
    }

    void add_times(const std::string& stage, const Lesson& lesson) {
        html_.element("h3", "What came out on a GPU");
        for (const Lesson::Picture& picture : lesson.pictures)
            report::add_picture(html_, picture.path, picture.words);
        const report::Source source{repository_, stage};
        for (const auto& [name, title] :
             {std::pair("measured", "Times of its variants"),
              std::pair("peers", "Beside what one would use instead")}) {
            const std::optional<std::string> table = report::table_named(name, source);
            if (!table) continue;
            const Fold fold(html_, title);
            report::add_markdown(html_, *table, links());
        }
    }

    void add_environment() {
        const auto part = html_.in("section", {{"id", "environment"}});
        html_.element("h2", "Environment");
        {
            const auto box = html_.in("div", {{"class", "wide"}, {"tabindex", "0"}});
            const auto table = html_.in("table");
            {
                const auto head = html_.in("thead");
                const auto row = html_.in("tr");
                for (const char* title :
                     {"recorded", "GPU", "driver", "CUDA", "nvcc", "commit", "date"})
                    html_.element("th", title);
            }
            const auto body = html_.in("tbody");
            for (const std::string& stage : stages_) {
                for (const char* name : {records::kOwn, records::kPeers}) {
                    const fs::path path =
                        records::record_of(repository_, stage, records::kShown, name);
                    if (!fs::exists(path)) continue;
                    const records::File file = records::read(path);
                    const auto row = html_.in("tr");
                    html_.element("td", stage + "/" + name);
                    for (const std::string& words : {file.gpu, file.driver, file.cuda, file.nvcc,
                                                     file.commit, file.date.substr(0, 10)})
                        html_.element("td", words);
                }
            }
        }
        const runner::BuildInfo built = runner::build_info();
        add_facts(html_,
                  {{"accesses counted by", "the CPU device, compiled with " + built.compiler},
                   {"commit of this page", built.commit}});
    }

    const fs::path& repository_;
    const std::vector<std::string>& stages_;
    const std::vector<Counts>& counts_;
    Html html_;
};

}  // namespace

std::string course_page(const fs::path& repository, const std::vector<std::string>& stages,
                        const std::vector<Counts>& counts) {
    return CoursePage(repository, stages, counts).write();
}

}  // namespace course
