// SPDX-License-Identifier: MIT
#include "common/course/header.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <vector>

namespace course {
namespace {

namespace fs = std::filesystem;
using Lines = std::vector<std::string>;

bool starts_with(const std::string& text, const std::string& prefix) {
    return text.rfind(prefix, 0) == 0;
}

bool is_licence(const std::string& line) {
    return starts_with(line, "// SPDX-") || starts_with(line, "// Copyright");
}

void add_once(Lines& lines, const std::string& line) {
    if (std::find(lines.begin(), lines.end(), line) == lines.end()) lines.push_back(line);
}

void add_blank(Lines& lines) {
    if (!lines.empty() && !lines.back().empty()) lines.emplace_back();
}

// What a line of preprocessing says: `#  include "a.cuh"` has the word include and the rest
// "a.cuh".
struct Directive {
    std::string word;  // empty: the line is none
    std::string rest;
};

Directive read_directive(const std::string& line) {
    std::istringstream text(line);
    char hash = 0;
    Directive directive;
    if (text >> hash && hash == '#' && text >> directive.word) {
        std::getline(text >> std::ws, directive.rest);
    }
    return directive;
}

class Amalgamation {
public:
    explicit Amalgamation(fs::path repository) : repository_(std::move(repository)) {}

    std::string run(const fs::path& header) {
        const Lines lines = read(header);
        // The header's opening comment is the whole file's.
        size_t first = 0;
        Lines card;
        for (; first < lines.size() && starts_with(lines[first], "//"); ++first) {
            is_licence(lines[first]) ? add_once(licence_, lines[first])
                                     : card.push_back(lines[first]);
        }
        take_in(header, lines, first);

        std::string text;
        const auto append = [&](const Lines& part) {
            for (const std::string& line : part) text += line + "\n";
        };
        append(licence_);
        append(card);
        text += "//\n// One file made of: " + sources_ + "\n#pragma once\n";
        append(includes_);
        text += "\n";
        append(body_);
        return text;
    }

private:
    Lines read(const fs::path& header) const {
        std::ifstream file(repository_ / header);
        if (!file.is_open()) throw std::runtime_error(header.string() + ": cannot be read");
        Lines lines;
        for (std::string line; std::getline(file, line);) lines.push_back(line);
        return lines;
    }

    void take_in(const fs::path& header, const Lines& lines, size_t first) {
        taken_in_.push_back(header);
        int conditionals = 0;
        for (size_t i = first; i < lines.size(); ++i) {
            const auto [word, rest] = read_directive(lines[i]);
            if (starts_with(word, "if")) ++conditionals;
            if (word == "endif") --conditionals;

            if (word == "include" && starts_with(rest, "\"")) {
                if (conditionals > 0) {
                    throw std::runtime_error(header.string() + ":" + std::to_string(i + 1) +
                                             ": an include of the course's own under #if");
                }
                take_in(header.parent_path() / rest.substr(1, rest.find('"', 1) - 1));
            } else if (word == "include" && conditionals == 0) {
                add_once(includes_, lines[i]);
            } else if (is_licence(lines[i])) {
                add_once(licence_, lines[i]);
            } else if (lines[i].empty()) {
                add_blank(body_);
            } else if (word != "pragma" || !starts_with(rest, "once")) {
                body_.push_back(lines[i]);
            }
        }
        sources_ += (sources_.empty() ? "" : ", ") + header.string();
    }

    void take_in(const fs::path& path) {
        const fs::path header = path.lexically_normal();
        if (std::find(taken_in_.begin(), taken_in_.end(), header) != taken_in_.end()) return;
        take_in(header, read(header), 0);
        add_blank(body_);
    }

    const fs::path repository_;
    std::vector<fs::path> taken_in_;
    std::string sources_;
    Lines licence_;
    Lines includes_;
    Lines body_;
};

}  // namespace

std::string amalgamate(const fs::path& repository, const fs::path& stage_header) {
    return Amalgamation(repository).run(stage_header);
}

}  // namespace course
