// SPDX-License-Identifier: MIT
#include "common/course/bugs/bug.hpp"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "common/course/check/in_my.hpp"
#include "common/course/check/task.hpp"
#include "common/io/files.hpp"
#include "common/io/text.hpp"
#include "common/records/where.hpp"

namespace course {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using Lines = std::vector<std::string>;

std::string joined(const Lines& lines) {
    std::string text;
    for (const std::string& line : lines) text += line + "\n";
    return text;
}

// How many lines both begin with, and then how many both end with.
struct Common {
    size_t before = 0, after = 0;
};
Common common_of(const Bug& bug) {
    const auto differ =
        std::mismatch(bug.right.begin(), bug.right.end(), bug.wrong.begin(), bug.wrong.end());
    Common common;
    common.before = static_cast<size_t>(differ.first - bug.right.begin());
    const size_t most = std::min(bug.right.size(), bug.wrong.size()) - common.before;
    while (common.after < most && bug.right[bug.right.size() - 1 - common.after] ==
                                      bug.wrong[bug.wrong.size() - 1 - common.after])
        ++common.after;
    return common;
}

Lines middle_of(const Lines& lines, const Common& common) {
    return {lines.begin() + static_cast<std::ptrdiff_t>(common.before),
            lines.end() - static_cast<std::ptrdiff_t>(common.after)};
}

Bug read_bug(const fs::path& root, const fs::path& path) {
    Bug bug;
    bug.id = path.stem().string();
    bug.stage = path.parent_path().parent_path().filename().string();
    bug.own_name = "my/" + bug.id + ".cuh";
    bug.own = root / bug.own_name;
    try {
        const json said = json::parse(io::text_in(path));
        const auto lines = [&](const char* name) { return said.at(name).get<Lines>(); };
        bug.header = bug.stage + "/" + said.at("header").get<std::string>();
        bug.right = lines("right");
        bug.wrong = lines("wrong");
        bug.launch = said.value("launch", bug.launch);
        bug.operation = said.at("operation");
        bug.launcher = said.at("launcher");
        bug.input = said.value("input", "");
        bug.dtype = said.value("dtype", "");
        bug.shape = said.value("shape", "");
        bug.overflows = said.value("overflows", false);
        bug.symptom = said.at("symptom");
        bug.explanation = said.at("explanation");
        bug.hints = lines("hints");
        bug.caught = lines("caught");
    } catch (const json::exception& error) {
        io::refuse(path, error.what());
    }
    if (bug.right == bug.wrong) io::refuse(path, "its wrong lines are the right ones");
    if (bug.hints.size() != 2 || bug.caught.empty())
        io::refuse(path, "a bug has two hints, and at least one check that catches it");
    return bug;
}

// A line of the header, and one of a bug's, which may lack the comment that ends it.
bool is_same(const std::string& of_header, const std::string& of_bug) {
    if (of_header == of_bug) return true;
    const size_t comment = of_header.find("  //");
    return comment != std::string::npos && of_header.substr(0, comment) == of_bug;
}

// The place of the right lines in the header.
size_t place_of(const Bug& bug, const Lines& header, const fs::path& root) {
    const auto find = [&](Lines::const_iterator from) {
        return std::search(from, header.end(), bug.right.begin(), bug.right.end(), is_same);
    };
    const auto found = find(header.begin());
    if (found == header.end())
        io::refuse(root / bug.header, "does not have the lines that " + bug.id + " makes wrong");
    if (find(found + 1) != header.end())
        io::refuse(root / bug.header, "has the lines that " + bug.id + " makes wrong twice");
    return static_cast<size_t>(found - header.begin());
}

Lines header_of(const Bug& bug, const fs::path& root) {
    return io::lines_in(io::text_in(root / bug.header));
}

// A header as a file in my/, with what the bug appends.
std::string text_of(Lines lines, const Bug& bug) {
    lines = lines_in_my(std::move(lines), bug.header);
    if (!bug.launch.empty()) lines.emplace_back();
    lines.insert(lines.end(), bug.launch.begin(), bug.launch.end());
    return joined(lines);
}

}  // namespace

std::vector<Bug> all_bugs(const fs::path& root) {
    std::vector<Bug> bugs;
    std::error_code error;
    for (const std::string& stage : records::stage_folders(root)) {
        for (const fs::directory_entry& file :
             fs::directory_iterator(root / stage / "bugs", error)) {
            if (file.path().extension() == ".json") bugs.push_back(read_bug(root, file.path()));
        }
    }
    std::sort(bugs.begin(), bugs.end(), comes_before<Bug>);
    return bugs;
}

std::string text_with(const Bug& bug, const fs::path& root) {
    Lines lines = header_of(bug, root);
    const auto at = lines.begin() +
                    static_cast<std::ptrdiff_t>(place_of(bug, lines, root) + common_of(bug).before);
    const auto right = static_cast<std::ptrdiff_t>(differing_right(bug).size());
    const Lines wrong = differing_wrong(bug);
    lines.insert(lines.erase(at, at + right), wrong.begin(), wrong.end());
    return text_of(lines, bug);
}
std::string text_without(const Bug& bug, const fs::path& root) {
    return text_of(header_of(bug, root), bug);
}

LineRange wrong_lines(const Bug& bug, const fs::path& root) {
    const Common common = common_of(bug);
    const size_t first = place_of(bug, header_of(bug, root), root) + common.before + 1;
    const size_t count = differing_wrong(bug).size();
    return count > 0 ? LineRange{first, first + count - 1} : LineRange{first - 1, first};
}

LineRange function_of(const Bug& bug, const fs::path& root) {
    // What begins in the first column ends with a brace there.
    const Lines lines = io::lines_in(text_with(bug, root));
    const auto ends = [&](size_t line) { return lines[line - 1].compare(0, 1, "}") == 0; };
    LineRange range = wrong_lines(bug, root);
    while (range.first > 1 && !ends(range.first - 1)) --range.first;
    while (range.last < lines.size() && !ends(range.last)) ++range.last;
    return range;
}

size_t line_number(const std::string& word) {
    constexpr size_t kDigits = 6;
    const bool is_number = !word.empty() && word.size() <= kDigits &&
                           word.find_first_not_of("0123456789") == std::string::npos;
    return is_number ? std::stoul(word) : 0;
}

Lines differing_right(const Bug& bug) {
    return middle_of(bug.right, common_of(bug));
}
Lines differing_wrong(const Bug& bug) {
    return middle_of(bug.wrong, common_of(bug));
}

std::string place_in_header(const Bug& bug, const fs::path& root) {
    const size_t line = place_of(bug, header_of(bug, root), root) + common_of(bug).before + 1;
    return bug.header + ":" + std::to_string(line);
}

}  // namespace course
