// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
#include "common/course/report/listing.hpp"

#include <algorithm>
#include <set>

#include "common/io/files.hpp"
#include "common/io/table.hpp"
#include "common/io/text.hpp"
#include "common/report/tables/markdown.hpp"

namespace course {

namespace {

using report::Html;
using LinesOfFile = std::map<int, AccessesByKind>;

struct Extent {
    int first, last;  // line numbers, both included
};

// The top-level definitions that these lines lie in: clang-format leaves a `}` in the first column to those alone.
std::vector<Extent> definitions(const std::vector<std::string>& source,
                                const LinesOfFile& counted) {
    const auto ends = [&](int line) {
        return source[static_cast<size_t>(line) - 1].rfind('}', 0) == 0;
    };
    const int count = static_cast<int>(source.size());
    std::vector<Extent> all;
    for (const auto& [line, kinds] : counted) {
        if (line < 1 || line > count || (!all.empty() && line <= all.back().last)) continue;
        Extent extent{line, line};
        while (extent.first > 1 && !ends(extent.first - 1)) --extent.first;
        while (extent.last < count && !ends(extent.last)) ++extent.last;
        // What lies before the definition's own comment belongs to others.
        for (int at = line; at-- > extent.first;) {
            const std::string& text = source[static_cast<size_t>(at) - 1];
            const std::string& next = source[static_cast<size_t>(at)];
            if (text.empty() && !next.empty() && next[0] != ' ' && next[0] != '}') {
                extent.first = at + 1;
                break;
            }
        }
        all.push_back(extent);
    }
    return all;
}

// The lines of a file that races and reads of unwritten memory are about.
std::set<int> lines_in_danger(const Counts& counts, const std::string& file) {
    std::set<int> lines;
    const auto add = [&](const Hazard& hazard) {
        for (const Hazard::Side& side : hazard.sides) {
            const size_t colon = side.place.rfind(':');
            if (colon != std::string::npos && side.place.substr(0, colon) == file)
                lines.insert(std::atoi(side.place.c_str() + colon + 1));
        }
    };
    for (const Kernel& kernel : counts.kernels) {
        for (const Hazard& race : kernel.races) {
            if (!race.harmless) add(race);
        }
        for (const Hazard& read : kernel.unwritten_reads) add(read);
    }
    return lines;
}

// Of a file with more lines the page shows the functions that touch memory.
constexpr size_t kMostLines = 3000;

class Listing {
public:
    Listing(Html& html, const Counts& counts) : html_(html), counts_(counts) {
        for (const auto& [place, kinds] : counts.lines()) {
            for (const auto& [kind, accesses] : kinds) {
                files_[place.first][place.second][kind] += accesses;
                steps_ += accesses.steps();
            }
        }
    }

    void add_all(const std::filesystem::path& repository, const std::string& whole) {
        for (const auto& [file, lines] : files_) {
            const std::filesystem::path path =
                file.rfind('/', 0) == 0 ? std::filesystem::path(file) : repository / file;
            const std::vector<std::string> source = io::lines_in(io::text_in(path));
            const bool is_named = !whole.empty() && file.rfind(whole, 0) == 0;
            add_file(file, source, lines, is_named && source.size() <= kMostLines);
        }
    }

private:
    void add_file(const std::string& file, const std::vector<std::string>& source,
                  const LinesOfFile& counted, bool all_of_it) {
        const std::set<int> in_danger = lines_in_danger(counts_, file);
        const auto box = html_.in("div", {{"class", "wide listing"}, {"tabindex", "0"}});
        const auto table = html_.in("table");
        html_.element("caption", file.empty() ? "Lines without debug information" : file);
        {
            const auto head = html_.in("thead");
            const auto row = html_.in("tr");
            for (const char* title : {"line", "source", "access"})
                html_.element("th", title, {{"scope", "col"}});
            for (const char* title : {"requests", "sectors or wavefronts", "each", "conflicts"})
                html_.element("th", title, {{"scope", "col"}, {"class", "n"}});
        }
        std::vector<Extent> extents = definitions(source, counted);
        if (all_of_it) extents = {{1, static_cast<int>(source.size())}};
        // A source that is gone, or has changed: the lines alone.
        if (source.empty()) {
            for (const auto& [line, kinds] : counted) extents.push_back({line, line});
        }
        for (const Extent& extent : extents) {
            const auto body = html_.in("tbody");
            for (int line = extent.first; line <= extent.last; ++line) {
                const std::string words =
                    source.empty() ? "" : source[static_cast<size_t>(line) - 1];
                const auto found = counted.find(line);
                add_line(line, words, found == counted.end() ? AccessesByKind() : found->second,
                         in_danger.count(line) > 0);
            }
        }
    }

    void add_line(int line, const std::string& words, const AccessesByKind& kinds, bool in_danger) {
        const size_t rows = std::max<size_t>(kinds.size(), 1);
        auto kind = kinds.begin();
        for (size_t i = 0; i < rows; ++i) {
            report::Attributes attributes;
            if (in_danger && i == 0) attributes.emplace_back("class", "danger");
            if (kind != kinds.end() && steps_ > 0) {
                attributes.emplace_back(
                    "style", "--share:" + io::number(static_cast<double>(kind->second.steps()) /
                                                         static_cast<double>(steps_),
                                                     3));
            }
            const auto row = html_.in("tr", attributes);
            if (i == 0) {
                report::Attributes of_line, of_source = {{"class", "source"}};
                if (rows > 1) {
                    for (auto* each : {&of_line, &of_source})
                        each->emplace_back("rowspan", std::to_string(rows));
                }
                html_.element("th", std::to_string(line), of_line);
                const auto cell = html_.in("td", of_source);
                // A line that is too long for its place goes on behind its own beginning.
                if (!words.empty()) {
                    html_.element(
                        "code", words,
                        {{"style", "--indent:" + std::to_string(words.find_first_not_of(' '))}});
                }
                if (in_danger) html_.element("strong", " race or unwritten");
            }
            if (kind != kinds.end()) {
                add_cells(kind->first, kind->second);
                ++kind;
            }
        }
    }

    void add_cells(const AccessKind& kind, const Accesses& accesses) {
        const bool has_steps = kind.is_global() || kind.is_shared();
        const char* unit = kind.is_global() ? " sectors" : " wavefronts";
        html_.element("td", kind.words());
        const report::Attributes number = {{"class", "n"}};
        html_.element("td", grouped(accesses.requests), number);
        html_.element(
            "td", has_steps ? grouped(accesses.steps()) + unit : grouped(accesses.bytes) + " bytes",
            number);
        {
            const auto cell = html_.in("td", number);
            if (has_steps && accesses.requests > 0) {
                html_.text(io::number(
                    static_cast<double>(accesses.steps()) / static_cast<double>(accesses.requests),
                    2));
            }
            if (kind.is_global() && (accesses.unrolled_requests != accesses.requests ||
                                     accesses.unrolled_sectors != accesses.sectors)) {
                html_.element("small", " unrolled by nvcc: " + grouped(accesses.unrolled_requests) +
                                           " requests, " + grouped(accesses.unrolled_sectors) +
                                           " sectors");
            }
        }
        const auto cell = html_.in("td", number);
        if (!kind.is_shared()) return;
        html_.element(accesses.conflicts > 0 ? "strong" : "span", grouped(accesses.conflicts));
    }

    Html& html_;
    const Counts& counts_;
    std::map<std::string, LinesOfFile> files_;
    int64_t steps_ = 0;
};

}  // namespace

void add_listing(Html& html, const Counts& counts, const std::filesystem::path& repository,
                 const std::string& whole) {
    Listing(html, counts).add_all(repository, whole);
}

std::string grouped(int64_t number) {
    return report::with_thousands(static_cast<double>(number));
}

}  // namespace course
