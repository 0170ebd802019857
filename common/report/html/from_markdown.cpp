// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
#include "common/report/html/from_markdown.hpp"

#include <cctype>
#include <sstream>
#include <vector>

namespace report {
namespace {

bool begins_with(const std::string& line, const char* words) {
    return line.rfind(words, 0) == 0;
}

// What stands between `open` at this place and the next `close`, which must be neither empty nor begin or end with a
// blank; npos where there is no such thing.
size_t end_of_span(const std::string& text, size_t begin, const std::string& mark) {
    if (begin >= text.size() || text[begin] == ' ') return std::string::npos;
    for (size_t end = text.find(mark, begin); end != std::string::npos;
         end = text.find(mark, end + 1)) {
        if (end > begin && text[end - 1] != ' ') return end;
    }
    return std::string::npos;
}

// A row's cells. A `|` in code belongs to its cell.
std::vector<std::string> cells_of(const std::string& line) {
    std::vector<std::string> cells(1);
    bool in_code = false;
    for (size_t i = 1; i < line.size(); ++i) {
        if (line[i] == '`') in_code = !in_code;
        if (line[i] == '|' && !in_code && line[i - 1] != '\\') {
            cells.emplace_back();
        } else {
            cells.back() += line[i];
        }
    }
    cells.pop_back();  // behind the last |
    for (std::string& cell : cells) {
        while (!cell.empty() && cell.front() == ' ') cell.erase(0, 1);
        while (!cell.empty() && cell.back() == ' ') cell.pop_back();
    }
    return cells;
}

bool is_rule(const std::string& line) {
    return line.find_first_not_of("|-: ") == std::string::npos && begins_with(line, "|");
}

// The words of a link are plain or, as a whole, code.
void add_link(Html& html, const std::string& words, const std::string& target) {
    const bool is_code = words.size() > 2 && words.front() == '`' && words.back() == '`';
    if (!is_code) {
        html.link(words, target);
        return;
    }
    const auto code = html.in("code");
    html.link(words.substr(1, words.size() - 2), target);
}

bool is_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// Where an index or exponent at this place ends, whose mark stands there: behind its brace, its number or its one
// letter. npos where it is none.
size_t end_of_raised(const std::string& text, size_t mark) {
    const bool follows_name = mark > 0 &&
                              std::isalnum(static_cast<unsigned char>(text[mark - 1])) != 0 &&
                              (mark == 1 || !is_word(text[mark - 2]));
    size_t at = mark + 1;
    if (!follows_name || at >= text.size()) return std::string::npos;
    if (text[at] == '{') {
        int depth = 0;
        for (; at < text.size() && text[at] != '\n'; ++at) {
            depth += text[at] == '{' ? 1 : text[at] == '}' ? -1 : 0;
            if (depth == 0) return at + 1;
        }
        return std::string::npos;
    }
    if (text[mark] == '^' && text[at] == '-') ++at;
    size_t end = at;
    while (end < text.size() && is_word(text[end])) ++end;
    const bool is_number = text.find_first_not_of("0123456789", at) >= end;
    return end == at + 1 || (end > at && is_number) ? end : std::string::npos;
}

// A text whose formulas, such as d_{j-1} and e^{x_j}, become indices and exponents. Where `keeps_columns`, blanks take
// the place of the marks that are left out, in the next gap of the line.
void add_formulas(Html& html, const std::string& text, bool keeps_columns = false) {
    std::string plain;
    size_t missing = 0;
    for (size_t at = 0; at < text.size();) {
        const size_t end =
            text[at] == '_' || text[at] == '^' ? end_of_raised(text, at) : std::string::npos;
        if (end == std::string::npos) {
            const bool is_gap = text.compare(at, 2, "  ") == 0;
            if (text[at] == '\n') missing = 0;
            if (is_gap && keeps_columns) {
                plain += std::string(missing, ' ');
                missing = 0;
            }
            plain += text[at++];
            continue;
        }
        html.text(plain);
        plain.clear();
        const bool in_braces = text[at + 1] == '{';
        const std::string inner =
            in_braces ? text.substr(at + 2, end - at - 3) : text.substr(at + 1, end - at - 1);
        {
            const auto raised = html.in(text[at] == '_' ? "sub" : "sup");
            add_formulas(html, inner);
        }
        for (const char c : text.substr(at, end - at))
            missing += c == '_' || c == '^' || c == '{' || c == '}' ? 1 : 0;
        at = end;
    }
    html.text(plain);
}

class Reader {
public:
    Reader(Html& html, const std::string& text, const LinkTarget& target)
        : html_(html), target_(target) {
        std::istringstream lines(text);
        for (std::string line; std::getline(lines, line);) lines_.push_back(line);
    }

    void read() {
        while (at_ < lines_.size()) {
            if (lines_[at_].empty()) {
                ++at_;
            } else if (begins_with(lines_[at_], "|")) {
                table();
            } else if (begins_with(lines_[at_], "```")) {
                ++at_;
                code([](const std::string& line) { return !begins_with(line, "```"); }, 0);
                ++at_;
            } else if (begins_with(lines_[at_], "    ")) {
                code(
                    [](const std::string& line) {
                        return line.empty() || begins_with(line, "    ");
                    },
                    4);
            } else if (begins_with(lines_[at_], "- ")) {
                list();
            } else {
                const auto paragraph = html_.in("p");
                add_inline_markdown(html_, until_block(), target_);
            }
        }
    }

private:
    // The lines up to an empty one or the next block, as one.
    std::string until_block() {
        std::string words = lines_[at_++];
        while (at_ < lines_.size() && !lines_[at_].empty() && !begins_with(lines_[at_], "- ") &&
               !begins_with(lines_[at_], "|") && !begins_with(lines_[at_], "```")) {
            const std::string& line = lines_[at_++];
            words += "\n" + line.substr(line.find_first_not_of(' '));
        }
        return words;
    }

    void list() {
        const auto all = html_.in("ul");
        while (at_ < lines_.size() && begins_with(lines_[at_], "- ")) {
            const auto item = html_.in("li");
            add_inline_markdown(html_, until_block().substr(2), target_);
        }
    }

    template <class Belongs>
    void code(Belongs belongs, size_t indent) {
        std::string words;
        while (at_ < lines_.size() && belongs(lines_[at_])) {
            words += (lines_[at_].empty() ? "" : lines_[at_].substr(indent)) + "\n";
            ++at_;
        }
        while (words.size() > 1 && words[words.size() - 2] == '\n') words.pop_back();
        const auto block = html_.in("pre", {{"tabindex", "0"}});
        if (indent > 0)
            add_formulas(html_, words, true);
        else
            html_.text(words);
    }

    void table() {
        const auto box = html_.in("div", {{"class", "wide"}, {"tabindex", "0"}});
        const auto all = html_.in("table");
        const bool has_head = at_ + 1 < lines_.size() && is_rule(lines_[at_ + 1]);
        if (has_head) {
            const auto head = html_.in("thead");
            row("th", lines_[at_]);
            at_ += 2;
        }
        const auto body = html_.in("tbody");
        while (at_ < lines_.size() && begins_with(lines_[at_], "|")) row("td", lines_[at_++]);
    }

    void row(const char* tag, const std::string& line) {
        const auto whole = html_.in("tr");
        for (const std::string& words : cells_of(line)) {
            const auto cell = html_.in(tag);
            add_inline_markdown(html_, words, target_);
        }
    }

    Html& html_;
    const LinkTarget& target_;
    std::vector<std::string> lines_;
    size_t at_ = 0;
};

}  // namespace

void add_inline_markdown(Html& html, const std::string& text, const LinkTarget& target) {
    std::string plain;
    const auto flush = [&] {
        add_formulas(html, plain);
        plain.clear();
    };
    for (size_t at = 0; at < text.size();) {
        const std::string here = text.substr(at, 2);
        if (here[0] == '`') {
            if (const size_t end = text.find('`', at + 1); end != std::string::npos) {
                flush();
                html.element("code", text.substr(at + 1, end - at - 1));
                at = end + 1;
                continue;
            }
        } else if (here[0] == '[') {
            const size_t end = text.find_first_of("[]", at + 1);
            const size_t close = end == std::string::npos ? end : text.find(')', end);
            if (close != std::string::npos && text.compare(end, 2, "](") == 0) {
                flush();
                add_link(html, text.substr(at + 1, end - at - 1),
                         target(text.substr(end + 2, close - end - 2)));
                at = close + 1;
                continue;
            }
        } else if (here[0] == '*') {
            const std::string mark = here == "**" ? "**" : "*";
            const size_t end = end_of_span(text, at + mark.size(), mark);
            if (end != std::string::npos) {
                flush();
                {
                    const std::string inner = text.substr(at + mark.size(), end - at - mark.size());
                    const auto span = html.in(mark == "**" ? "strong" : "em");
                    add_inline_markdown(html, inner, target);
                }
                at = end + mark.size();
                continue;
            }
        } else if (here == "\\|" || here == "\\*") {
            ++at;
        }
        plain += text[at++];
    }
    flush();
}

void add_markdown(Html& html, const std::string& text, const LinkTarget& target) {
    Reader(html, text, target).read();
}

}  // namespace report
