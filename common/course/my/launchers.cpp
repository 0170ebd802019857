// SPDX-License-Identifier: MIT
#include "common/course/my/launchers.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>

#include "common/io/text.hpp"
#include "common/runner/run.hpp"

namespace my {
namespace {

bool is_of_word(char each) {
    return std::isalnum(static_cast<unsigned char>(each)) != 0 || each == '_';
}

struct Token {
    std::string text;  // a word, or one other character; of a comment, what it says behind `takes:`
    bool is_takes = false;
};

std::string without_comment(const std::string& text) {
    const size_t first = text.find_first_not_of(" \t\r,");
    return first == std::string::npos
               ? ""
               : text.substr(first, text.find_last_not_of(" \t\r,.*/") - first + 1);
}

// What the lines of a comment say behind `takes:`, where they begin so.
void add_takes(const std::string& comment, std::vector<Token>& tokens) {
    for (size_t begin = 0; begin < comment.size();) {
        const size_t end = std::min(comment.find('\n', begin), comment.size());
        const std::string line = comment.substr(begin, end - begin);
        const size_t first = line.find_first_not_of(" \t/*!");
        constexpr const char* kTakes = "takes:";
        const size_t length = std::char_traits<char>::length(kTakes);
        if (first != std::string::npos && line.compare(first, length, kTakes) == 0)
            tokens.push_back({without_comment(line.substr(first + length)), true});
        begin = end + 1;
    }
}

// The end of a string or character that begins there.
size_t end_of_quoted(const std::string& text, size_t begin) {
    size_t at = begin + 1;
    while (at < text.size() && text[at] != text[begin] && text[at] != '\n')
        at += text[at] == '\\' ? 2 : 1;
    return std::min(at + 1, text.size());
}

// The end of a line of the preprocessor's, with those that continue it.
size_t end_of_directive(const std::string& text, size_t begin) {
    size_t end = text.find('\n', begin);
    while (end != std::string::npos && end > 0 && text[end - 1] == '\\')
        end = text.find('\n', end + 1);
    return std::min(end, text.size());
}

std::vector<Token> tokens_of(const std::string& text) {
    std::vector<Token> tokens;
    bool line_begins = true;
    for (size_t at = 0; at < text.size();) {
        const char each = text[at];
        if (each == '\n') line_begins = true;
        if (std::isspace(static_cast<unsigned char>(each)) != 0) {
            ++at;
            continue;
        }
        size_t end = at + 1;
        if (text.compare(at, 2, "//") == 0 || text.compare(at, 2, "/*") == 0) {
            const bool is_line = text[at + 1] == '/';
            end = text.find(is_line ? "\n" : "*/", at + 2);
            end = end == std::string::npos ? text.size() : end + (is_line ? 0 : 2);
            add_takes(text.substr(at, end - at), tokens);
        } else if (each == '#' && line_begins) {
            end = end_of_directive(text, at);
        } else if (each == '"' || (each == '\'' && (at == 0 || !is_of_word(text[at - 1])))) {
            end = end_of_quoted(text, at);
            tokens.push_back({"\""});
        } else {
            while (is_of_word(each) && end < text.size() && is_of_word(text[end])) ++end;
            tokens.push_back({text.substr(at, end - at)});
        }
        line_begins = false;
        at = end;
    }
    return tokens;
}

// The place of the bracket that closes this one, or of the last token.
size_t closing(const std::vector<Token>& tokens, size_t open) {
    size_t depth = 0;
    for (size_t at = open; at < tokens.size(); ++at) {
        const std::string& each = tokens[at].text;
        if (tokens[at].is_takes) continue;
        if (each == "(" || each == "{" || each == "[") ++depth;
        if ((each == ")" || each == "}" || each == "]") && --depth == 0) return at;
    }
    return tokens.size() - 1;
}

// Whether the last parameter between these brackets is a stream.
bool ends_with_stream(const std::vector<Token>& tokens, size_t open, size_t close) {
    size_t at = close;
    while (at > open && tokens[at].text != "," && tokens[at].text != "cudaStream_t") --at;
    return tokens[at].text == "cudaStream_t";
}

std::string without_arguments(const std::string& name) {
    return name.substr(0, name.find('<'));
}

bool is_called(const std::string& full, const std::string& asked) {
    if (full == asked) return true;
    const std::string behind = "::" + asked;
    return full.size() > behind.size() &&
           full.compare(full.size() - behind.size(), behind.size(), behind) == 0;
}

std::vector<std::string> names_of(const std::vector<LauncherText>& launchers) {
    std::vector<std::string> names;
    for (const LauncherText& each : launchers) {
        if (std::find(names.begin(), names.end(), each.name) == names.end())
            names.push_back(each.name);
    }
    return names;
}

std::string in_words(const std::vector<std::string>& names) {
    constexpr size_t kShown = 12;
    std::string text;
    for (size_t i = 0; i < std::min(kShown, names.size()); ++i) text += " " + names[i];
    if (names.size() > kShown) text += " and " + std::to_string(names.size() - kShown) + " more";
    return text;
}

// Of overloads each may say something.
LauncherText joined(const std::vector<LauncherText>& launchers, const std::string& name) {
    LauncherText all{name, ""};
    for (const LauncherText& each : launchers) {
        if (each.name == name && !each.takes.empty() &&
            all.takes.find(each.takes) == std::string::npos)
            all.takes += (all.takes.empty() ? "" : ", ") + each.takes;
    }
    return all;
}

}  // namespace

std::vector<LauncherText> launchers_in(const std::string& text) {
    const std::vector<Token> tokens = tokens_of(text);
    std::vector<LauncherText> found;
    struct Scope {
        std::string name;   // of the namespace; empty where it has none
        std::string takes;  // what held before it
    };
    std::vector<Scope> scopes;
    std::string takes;
    bool continues = false;  // the last of these is in the same comment
    const auto word = [&](size_t at) {
        return at < tokens.size() && !tokens[at].is_takes ? tokens[at].text : std::string();
    };
    for (size_t at = 0; at < tokens.size(); ++at) {
        if (tokens[at].is_takes) {
            takes = (continues ? takes + ", " : "") + tokens[at].text;
            continues = true;
            continue;
        }
        continues = false;
        if (word(at) == "namespace") {
            std::string name;
            size_t next = at + 1;
            for (; next < tokens.size() && word(next) != "{" && word(next) != ";"; ++next)
                name += word(next);
            if (word(next) == "{" && name.find('=') == std::string::npos) {
                scopes.push_back({name, takes});
            }
            at = next;
        } else if (word(at) == "extern" && word(at + 1) == "\"" && word(at + 2) == "{") {
            scopes.push_back({"", takes});
            at += 2;
        } else if (word(at) == "cudaError_t" && word(at + 2) == "(") {
            const size_t close = closing(tokens, at + 2);
            if (ends_with_stream(tokens, at + 2, close)) {
                std::string name;
                for (const Scope& scope : scopes)
                    name += scope.name.empty() ? "" : scope.name + "::";
                found.push_back({name + word(at + 1), takes});
            }
            at = close;
        } else if (word(at) == "{") {
            at = closing(tokens, at);
        } else if (word(at) == "}" && !scopes.empty()) {
            takes = scopes.back().takes;
            scopes.pop_back();
        }
    }
    return found;
}

bool has_word(const std::string& text, const std::string& word) {
    const std::vector<Token> tokens = tokens_of(text);
    return std::any_of(tokens.begin(), tokens.end(),
                       [&](const Token& each) { return !each.is_takes && each.text == word; });
}

LauncherText chosen_launcher(const std::string& text, const std::string& asked,
                             const std::string& wanted) {
    const std::vector<LauncherText> launchers = launchers_in(text);
    const std::vector<std::string> names = names_of(launchers);
    const auto refuse = [&](const std::string& what) {
        if (names.empty()) throw runner::UsageError(what + "; wanted: " + wanted);
        throw runner::UsageError(what + "; launchers there are:" + in_words(names));
    };
    const std::string name = asked.empty() ? "launch" : without_arguments(asked);
    const std::string arguments = asked.empty() ? "" : asked.substr(name.size());
    std::vector<std::string> meant;
    for (const std::string& each : names) {
        if (each == name) meant = {each};
        if (each == name) break;
        if (!asked.empty() && is_called(each, name)) meant.push_back(each);
    }
    if (asked.empty() && names.size() == 1) meant = names;
    if (meant.size() > 1)
        refuse("--launcher " + io::printable(asked) + ": which of" + in_words(meant) + "?");
    if (meant.size() == 1) {
        LauncherText one = joined(launchers, meant.front());
        one.name += arguments;
        return one;
    }
    // What a macro defines, or returns something else, is not among them.
    const size_t colons = name.rfind("::");
    if (has_word(text, colons == std::string::npos ? name : name.substr(colons + 2)) &&
        (!asked.empty() || names.empty()))
        return {asked.empty() ? name : asked, ""};
    if (asked.empty())
        refuse(names.empty() ? "the header has no function launch()"
                             : "the header has no function launch(), and --launcher names none");
    refuse("--launcher " + io::printable(asked) + ": the header has no such function");
    return {};
}

}  // namespace my
