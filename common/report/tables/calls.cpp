// SPDX-License-Identifier: MIT
// The front calls beside what one would use instead: what USING.md shows of every stage's records.
#include <algorithm>
#include <map>
#include <sstream>

#include "common/io/files.hpp"
#include "common/io/table.hpp"
#include "common/report/tables/markdown.hpp"
#include "common/report/tables/tables.hpp"

namespace report {
namespace {

// The names behind "//   WORD " in a header's card, up to a colon.
std::vector<std::string> names_in_card(const std::string& header, const std::string& word) {
    std::vector<std::string> names;
    const size_t line = header.find("\n//   " + word + " ");
    if (line == std::string::npos) return names;
    const size_t begin = line + 6 + word.size();
    std::istringstream words(header.substr(begin, header.find_first_of(":\n", line + 1) - begin));
    for (std::string name; words >> name;) {
        if (name.back() == ',') name.pop_back();
        names.push_back(name);
    }
    return names;
}

struct Call {
    std::string name, header, variant;
};
// In the order of headers. Cards say what a front call is timed as.
std::vector<Call> calls_of(const std::filesystem::path& repository, const std::string& stage) {
    std::vector<std::filesystem::path> headers;
    const std::filesystem::path folder = repository / stage / "further";
    if (std::filesystem::exists(folder)) {
        for (const auto& file : std::filesystem::directory_iterator(folder))
            if (file.path().extension() == ".cuh") headers.push_back(file.path());
    }
    std::sort(headers.begin(), headers.end());
    std::vector<Call> calls;
    for (const std::filesystem::path& header : headers) {
        const std::string text = io::text_in(header);
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

std::string calls(const std::filesystem::path& repository, const std::vector<std::string>& stages) {
    std::string text = head_of({"call", "at", "us", "the fastest other", "us"}), stamps, untimed;
    for (const std::string& stage : stages) {
        const std::optional<records::File> file = Source{repository, stage}.find(records::kPeers);
        const std::vector<Call> calls = calls_of(repository, stage);
        if (calls.empty() || !file) continue;
        stamps += "\n" + stage + ": " + stamp(*file).substr(1);
        for (const Call& call : calls) {
            std::vector<const Record*> ours;
            for (const Record& record : file->records) {
                if (record.role == "ours" && record.variant == call.variant && !record.swept &&
                    record.has("us_median"))
                    ours.push_back(&record);
            }
            const std::string title = "[`" + call.name + "`](" + call.header + ")";
            if (ours.empty()) untimed += (untimed.empty() ? "" : ", ") + title;
            for (const Record* each : three_of(ours)) {
                const Record* const other = fastest(*file, [&](const Record& record) {
                    return record.role == "peer" && record.op == each->op &&
                           problem_text(record) == problem_text(*each);
                });
                text += row_of({title, problem_text(*each), io::number(each->at("us_median"), 1),
                                other == nullptr ? "-" : in_code(other->variant),
                                other == nullptr ? "-" : io::number(other->at("us_median"), 1)});
            }
        }
    }
    if (!untimed.empty()) untimed = "\nNot timed beside others: " + untimed + ".\n";
    return text + untimed + stamps;
}

}  // namespace report
