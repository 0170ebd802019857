// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
#include "common/course/report/lesson.hpp"

#include <algorithm>
#include <regex>

#include "common/io/files.hpp"
#include "common/io/text.hpp"
#include "common/records/where.hpp"

namespace course {
namespace {

namespace fs = std::filesystem;

// The first paragraph of plain text from a line on: no heading, picture, table, list, code or comment. Where it ends with
// a colon, the block that it announces follows.
std::string paragraph_from(const std::vector<std::string>& lines, size_t at) {
    const auto is_plain = [](const std::string& line) {
        return !line.empty() && std::string("#!|-<` ").find(line[0]) == std::string::npos;
    };
    while (at < lines.size() && !is_plain(lines[at])) ++at;
    std::string words;
    while (at < lines.size() && !lines[at].empty()) words += lines[at++] + "\n";
    if (words.size() < 2 || words[words.size() - 2] != ':') return words;
    while (at < lines.size() && lines[at].empty()) ++at;
    if (at == lines.size() || lines[at][0] == '#' || lines[at][0] == '<') return words;
    words += "\n";
    const bool is_code = lines[at][0] == ' ';
    while (at < lines.size() &&
           (is_code ? lines[at].empty() || lines[at][0] == ' ' : !lines[at].empty()))
        words += lines[at++] + "\n";
    return words;
}

void add_pictures(std::vector<Lesson::Picture>& pictures, const fs::path& page,
                  const std::string& part_of_name) {
    static const std::regex link(R"(!\[([^\]]*)\]\(([^)\s]+\.svg)\))");
    const std::string text = io::text_in(page);
    for (std::sregex_iterator each(text.begin(), text.end(), link), none; each != none; ++each) {
        const fs::path path = (page.parent_path() / (*each)[2].str()).lexically_normal();
        if (path.filename().string().find(part_of_name) == std::string::npos) continue;
        const bool known = std::any_of(pictures.begin(), pictures.end(),
                                       [&](const auto& other) { return other.path == path; });
        if (known) continue;
        std::string words = (*each)[1];
        std::replace(words.begin(), words.end(), '\n', ' ');
        pictures.push_back({path, words});
    }
}

// From the commands that a README shows: files named from the repository's root or from the stage's folder.
std::vector<Lesson::Pair> pairs_in(const std::string& text, const fs::path& repository,
                                   const fs::path& folder) {
    static const std::regex command(R"(\bdiff (?:--no-index )?([\w./]+\.cuh) ([\w./]+\.cuh))");
    std::vector<Lesson::Pair> pairs;
    for (std::sregex_iterator each(text.begin(), text.end(), command), none; each != none; ++each) {
        const auto found = [&](const std::string& name) {
            return fs::exists(folder / name) ? folder / name : repository / name;
        };
        const Lesson::Pair pair{found((*each)[1]), found((*each)[2])};
        if (fs::exists(pair.before) && fs::exists(pair.after) && pair.after.parent_path() == folder)
            pairs.push_back(pair);
    }
    return pairs;
}

void read_card(Lesson& lesson, const std::string& header) {
    static const std::regex entry(R"(//   (\w[\w ]*?)  +(\S.*))");
    static const std::regex more(R"(// {8,}(\S.*))");
    for (const std::string& line : io::lines_in(header)) {
        std::smatch match;
        if (line.rfind("//", 0) != 0) break;
        if (line.rfind("// SPDX", 0) == 0 || line.rfind("// Copyright", 0) == 0 ||
            line.rfind("// softmax-stages", 0) == 0 || line == "//")
            continue;
        if (std::regex_match(line, match, entry)) {
            lesson.card.emplace_back(match[1], match[2]);
        } else if (!lesson.card.empty() && std::regex_match(line, match, more)) {
            lesson.card.back().second += " " + match[1].str();
        } else if (line.size() > 3 && lesson.card.empty()) {
            lesson.summary += (lesson.summary.empty() ? "" : " ") + line.substr(3);
        }
    }
}

}  // namespace

Lesson lesson_of(const fs::path& repository, const std::string& stage) {
    const fs::path folder = repository / stage;
    const std::string text = io::text_in(folder / "README.md");
    const std::vector<std::string> lines = io::lines_in(text);
    Lesson lesson;
    lesson.title = lines.empty() || lines[0].size() < 2 ? stage : lines[0].substr(2);
    lesson.subtitle = paragraph_from(lines, 1);
    const auto idea = std::find(lines.begin(), lines.end(), "## The idea");
    lesson.idea = paragraph_from(lines, static_cast<size_t>(idea - lines.begin()));
    for (const fs::path& page : records::pages_of(repository, stage))
        add_pictures(lesson.pictures, page, page.parent_path() == folder ? "" : "peers");
    lesson.pairs = pairs_in(text, repository, folder);
    read_card(lesson, io::text_in(folder / (stage.substr(3) + ".cuh")));
    return lesson;
}

}  // namespace course
