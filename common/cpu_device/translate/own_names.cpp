// SPDX-License-Identifier: MIT
#include "common/cpu_device/translate/own_names.hpp"

namespace translate {
namespace {

bool is_builtin_type(const Token& token) {
    return is_one_of(token, {"auto", "bool", "char", "short", "int", "unsigned", "long", "float",
                             "double", "size_t", "int64_t", "const", "volatile"});
}

// As the condition of a for.
bool is_in_parentheses(const Tokens& tokens, const Declaration& function, size_t i) {
    while (i > function.body.begin) {
        const Token& before = tokens[--i];
        if (is_close(before)) {
            i = matching_open(tokens, i).value_or(function.body.begin);
        } else if (is_open(before)) {
            return before.text == "(";
        }
    }
    return false;
}

// Whether the name at `i` is declared there: behind a type that begins a statement or a parameter.
bool is_declared_at(const Tokens& tokens, const Declaration& function, size_t i) {
    size_t at = i;
    bool has_type = false, is_sure = false, has_stars = false;
    while (at > function.head.begin) {
        const Token& before = tokens[at - 1];
        if (is_one_of(before, {"*", "&"})) {
            has_stars = has_stars || !has_type;
        } else if (before.text == ">") {
            const auto open = matching_angle(tokens, at - 1);
            if (!open) return false;
            has_type = true;
            at = *open;
            continue;
        } else if (before.kind == TokenKind::identifier &&
                   !is_one_of(before, {"return", "else", "case", "throw", "new", "delete", "sizeof",
                                       "goto", "co_return"})) {
            has_type = true;
            is_sure = is_sure || is_builtin_type(before);
        } else if (before.text != "::") {
            break;
        }
        --at;
    }
    if (!has_type || at == i) return false;
    if (!has_stars || is_sure || at == function.head.begin) return true;
    // T * name: a product where it is an argument, unless the parenthesis is the function's own.
    const Token& before = tokens[at - 1];
    if (before.text == ";" && is_in_parentheses(tokens, function, at)) return false;
    if (is_one_of(before, {";", "{", "}"})) return true;
    const size_t open = function.name + 1;
    return i > open && i < matching_close(tokens, open).value_or(open);
}

// float first = 1, *name = x: behind the comma of a statement, or of a for's beginning, that declares its first name.
bool is_declared_behind_comma(const Tokens& tokens, const Declaration& function, size_t i) {
    size_t begin = i;
    while (begin > 0 && is_one_of(tokens[begin - 1], {"*", "&"})) --begin;
    if (begin == 0 || tokens[begin - 1].text != ",") return false;
    for (--begin; begin > function.body.begin; --begin) {
        const Token& before = tokens[begin - 1];
        if (is_one_of(before, {";", "{"})) break;
        if (is_one_of(before, {"(", "["})) {
            if (tokens[begin - 2].text != "for") return false;
            break;
        }
        if (!is_close(before)) continue;
        const auto open = matching_open(tokens, begin - 1);
        if (!open || *open <= function.body.begin) return false;
        // The end of another statement's block, not of an initializer.
        if (before.text == "}" && !is_one_of(tokens[begin], {","})) break;
        begin = *open + 1;
    }
    for (size_t at = begin; at < i; ++at) {
        if (tokens[at].kind == TokenKind::identifier &&
            is_one_of(tokens[at + 1], {"=", ",", "[", "(", "{"})) {
            return is_declared_at(tokens, function, at);
        }
    }
    return false;
}

// auto [name, other] = ...; [name = x] { ... }
bool is_bound_at(const Tokens& tokens, size_t i) {
    if (!is_one_of(tokens[i - 1], {"[", ",", "&"})) return false;
    size_t open = i;
    while (open > 0 && tokens[open].text != "[" && !is_one_of(tokens[open], {";", "{", "}"}))
        --open;
    if (open == 0 || tokens[open].text != "[") return false;
    const size_t type = is_one_of(tokens[open - 1], {"&"}) ? open - 2 : open - 1;
    return tokens[type].text == "auto" || tokens[i + 1].text == "=";
}

}  // namespace

std::optional<size_t> own_declaration(const Tokens& tokens, const Declaration& function,
                                      const std::string& name) {
    for (size_t i = function.head.begin; i < function.body.end; ++i) {
        if (tokens[i].text != name || i == 0 || i == function.name) continue;
        if (i < function.name) return i;  // a parameter of the template's
        if (is_one_of(tokens[i - 1], {".", "->", "::"})) continue;
        if (is_declared_at(tokens, function, i) || is_declared_behind_comma(tokens, function, i) ||
            is_bound_at(tokens, i)) {
            return i;
        }
    }
    return {};
}

bool has_its_own(const Tokens& tokens, const Declaration& function, const std::string& name) {
    return own_declaration(tokens, function, name).has_value();
}

}  // namespace translate
