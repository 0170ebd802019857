// SPDX-License-Identifier: MIT
// What USING.md generates: the front calls beside what one would use instead.
#include <algorithm>
#include <map>
#include <sstream>

#include "common/course/readme_parts.hpp"
#include "common/course/readme_records.hpp"
#include "common/course/tables.hpp"
#include "common/io/table.hpp"

namespace course {
namespace {

using io::number;

// The names behind "//   WORD " in a header's card, up to a colon.
std::vector<std::string> names_in_card(const std::string& header, const std::string& word) {
    std::vector<std::string> names;
    const size_t line = header.find("\n//   " + word + " ");
    if (line == std::string::npos) return names;
    std::istringstream words(header.substr(
        line + 6 + word.size(), header.find_first_of(":\n", line + 1) - line - 6 - word.size()));
    for (std::string name; words >> name;) {
        if (name.back() == ',') name.pop_back();
        names.push_back(name);
    }
    return names;
}

struct Call {
    std::string name, header, variant;
};
// In the order of stages and headers. Cards say what a front call is timed as.
std::vector<Call> calls_of(const std::filesystem::path& repository, const runner::Stage& stage) {
    std::vector<std::filesystem::path> headers;
    const std::filesystem::path folder = repository / stage.name / "further";
    if (std::filesystem::exists(folder)) {
        for (const auto& file : std::filesystem::directory_iterator(folder))
            if (file.path().extension() == ".cuh") headers.push_back(file.path());
    }
    std::sort(headers.begin(), headers.end());
    std::vector<Call> calls;
    for (const std::filesystem::path& header : headers) {
        const std::string text = read_file(header);
        const std::vector<std::string> names = names_in_card(text, "call");
        const std::vector<std::string> variants = names_in_card(text, "timed");
        for (size_t i = 0; i < names.size(); ++i)
            calls.push_back({names[i], std::filesystem::relative(header, repository).string(),
                             i < variants.size() ? variants[i] : ""});
    }
    return calls;
}

// The first, the middle and the last of some.
template <class T>
std::vector<T> three_of(const std::vector<T>& all) {
    if (all.size() <= 3) return all;
    return {all.front(), all[all.size() / 2], all.back()};
}

}  // namespace

std::string calls_part(const std::filesystem::path& repository, const std::filesystem::path& folder,
                       const std::vector<runner::Stage>& stages) {
    std::string text = head_of({"call", "at", "us", "the fastest other", "us"}), stamps;
    for (const runner::Stage& stage : stages) {
        const std::filesystem::path path = folder / (stage.name + ".peers.json");
        const std::vector<Call> calls = calls_of(repository, stage);
        if (calls.empty() || !std::filesystem::exists(path)) continue;
        const records::File file = records::read(path);
        stamps += "\n" + stage.name + ": " + stamp(file).substr(1);
        for (const Call& call : calls) {
            std::vector<const Record*> ours;
            std::map<std::string, const Record*> fastest;  // of others, by problem
            const auto problem_of = [&](const Record& record) {
                return record.op + " " + shape_text(record, stage);
            };
            for (const Record& record : file.records) {
                if (!shown(record) || !record.has("us_median")) continue;
                if (record.role == "ours" && record.variant == call.variant)
                    ours.push_back(&record);
                if (record.role != "peer") continue;
                const Record*& best = fastest[problem_of(record)];
                if (best == nullptr || record.at("us_median") < best->at("us_median"))
                    best = &record;
            }
            const std::string title = "[`" + call.name + "`](" + call.header + ")";
            if (ours.empty()) text += row_of({title, "not timed beside others", "-", "-", "-"});
            for (const Record* each : three_of(ours)) {
                const auto other = fastest.find(problem_of(*each));
                const bool is_there = other != fastest.end();
                text += row_of({title, shape_text(*each, stage), number(each->at("us_median"), 1),
                                is_there ? "`" + other->second->variant + "`" : "-",
                                is_there ? number(other->second->at("us_median"), 1) : "-"});
            }
        }
    }
    return text + stamps;
}

}  // namespace course
