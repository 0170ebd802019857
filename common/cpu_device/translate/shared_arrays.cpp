// SPDX-License-Identifier: MIT
#include "common/cpu_device/translate/shared_arrays.hpp"

#include <algorithm>

#include "common/cpu_device/translate/places.hpp"
#include "common/cpu_device/translate/tokens.hpp"

namespace translate {
namespace {

bool is_alignment(const Token& token) {
    return is_one_of(token, {"__align__", "alignas", "__attribute__"});
}

// The first token of the declaration that has its __shared__ at `shared`.
size_t declaration_begin(const Tokens& tokens, size_t shared) {
    size_t begin = shared;
    while (begin > 0) {
        const Token& before = tokens[begin - 1];
        std::optional<size_t> open = begin - 1;
        if (before.text == ")") {
            open = matching_open(tokens, begin - 1);
            if (!open || *open == 0 || !is_alignment(tokens[--*open])) return begin;
        } else if (before.text == ">") {
            open = matching_angle(tokens, begin - 1);
        } else if (before.kind != TokenKind::identifier && before.text != "::") {
            return begin;
        }
        if (!open) return begin;
        begin = *open;
    }
    return begin;
}

// What is left of a declaration's specifiers without storage and alignment, and its declarator.
struct SharedArray {
    std::string type;        // float
    std::string name;        // tile
    std::string dimensions;  // [][33]
    size_t end_of_dimensions;
};

constexpr const char* kForm =
    "dynamic shared memory is declared as: extern __shared__ T name[]; one array a declaration";

// The declaration is tokens [range.begin, range.end), its `;` is at range.end.
SharedArray read_declaration(const Tokens& tokens, Range range, const Edits& edits) {
    SharedArray array;
    size_t i = range.begin;
    for (; i < range.end && tokens[i].text != "["; ++i) {
        if (is_alignment(tokens[i])) {
            i = matching_close(tokens, i + 1).value_or(range.end);
        } else if (!is_one_of(tokens[i], {"extern", "__shared__"})) {
            if (!array.name.empty()) array.type += array.name + " ";
            array.name = tokens[i].text;
        }
    }
    const size_t dimensions = i;
    while (i < range.end && tokens[i].text == "[") {
        i = matching_close(tokens, i).value_or(range.end) + 1;
    }
    const bool is_complete = i == range.end || (i < range.end && is_alignment(tokens[i]));
    if (array.type.empty() || dimensions == i || !is_complete ||
        tokens[dimensions - 1].kind != TokenKind::identifier) {
        edits.fail(tokens[range.begin], kForm);
    }
    array.dimensions = text_of(tokens, {dimensions, i});
    array.end_of_dimensions = i;
    return array;
}

// __shared__ alignas(16) float x[4]: nvcc takes it, but among words of C++ that stands before all others.
void align_at_the_beginning(const Tokens& tokens, size_t shared, Edits& edits) {
    const size_t alignment = shared + 1;
    if (alignment + 1 >= tokens.size() || tokens[alignment].text != "alignas") return;
    const auto close = matching_close(tokens, alignment + 1);
    if (!close) return;
    const size_t begin = tokens[alignment].begin, end = tokens[*close].end;
    edits.insert(tokens[declaration_begin(tokens, shared)].begin,
                 text_of(tokens, {alignment, *close + 1}) + " ");
    edits.replace(begin, end, edits.line_ends(begin, end));
}

// Neither a value, which nvcc refuses, nor a type with padding that nobody knows of.
void read_static_declaration(const Tokens& tokens, Range range, bool in_namespace, Edits& edits) {
    size_t name = 0;
    bool plain = false;
    int angles = 0;
    for (size_t i = range.begin; i < range.end; ++i) {
        if (tokens[i].text == "<") ++angles;
        if (tokens[i].text == ">") --angles;
        if (angles > 0) continue;
        // struct { ... } x: the class is defined here.
        if (is_one_of(tokens[i], {"struct", "class", "union"})) return;
        if (is_one_of(tokens[i], {"=", "{"}) && name != 0) {
            edits.fail(tokens[i], "'" + tokens[name].text +
                                      "' is __shared__ and has an initial value, which nvcc "
                                      "refuses: let a thread write it, then __syncthreads()");
        }
        plain |= is_one_of(tokens[i], {"char", "short", "int", "unsigned", "long", "float",
                                       "double", "bool", "float2", "float4", "half", "__half"});
        const bool ends = i + 1 == range.end || is_one_of(tokens[i + 1], {"[", "=", "{", ","});
        if (name == 0 && ends && tokens[i].kind == TokenKind::identifier) name = i;
        if (is_open(tokens[i])) i = matching_close(tokens, i).value_or(range.end);
    }
    if (plain || name == 0 || in_namespace || range.end >= tokens.size()) return;
    edits.insert(tokens[range.end].end, " CPU_DEVICE_KNOW_TYPE_OF(" + tokens[name].text + ")");
}

// A declaration that nobody uses: g++ says by it, as nvcc does, where a name is declared again with another type,
// also by a template for its second type.
std::string told_by_name(const SharedArray& array) {
    return "[[maybe_unused]] extern " + array.type + "extern___shared___needs_one_type_for_" +
           array.name + array.dimensions + ";";
}

}  // namespace

void rewrite_shared_arrays(const Region& region, Edits& edits) {
    const Tokens& tokens = region.tokens;
    const std::vector<Place> places = places_of(region);
    for (size_t i = 0; i < tokens.size(); ++i) {
        if (tokens[i].text != "__shared__") continue;
        Range range{declaration_begin(tokens, i), i};
        while (range.end < tokens.size() && tokens[range.end].text != ";") ++range.end;
        const bool is_dynamic =
            std::any_of(tokens.begin() + range.begin, tokens.begin() + range.end,
                        [](const Token& token) { return token.text == "extern"; });
        if (!is_dynamic) {
            align_at_the_beginning(tokens, i, edits);
            if (!region.is_macro)
                read_static_declaration(tokens, range, places[i].in_namespace, edits);
            continue;
        }
        // Of a macro it is known that it stands in a function where the macro has that function's braces.
        const bool is_in_function = !places[i].in_namespace;
        const bool is_one_line =
            edits.line_ends(tokens[range.begin].begin, tokens[range.end - 1].end).empty();
        if (region.is_macro && !(is_in_function && is_one_line)) {
            edits.fail(tokens[i], "write 'extern __shared__ T name[];' outside of macros");
        }

        const SharedArray array = read_declaration(tokens, range, edits);
        if (places[i].in_namespace) {
            edits.insert(tokens[array.end_of_dimensions - 1].end, " __asm__(\"shared_bytes\")");
            if (range.end < tokens.size())
                edits.insert(tokens[range.end].end, " " + told_by_name(array));
            continue;
        }
        const size_t begin = tokens[range.begin].begin;
        const size_t end = tokens[range.end - 1].end;
        edits.replace(begin, end,
                      (region.is_macro ? std::string() : told_by_name(array) + " ") +
                          "[[maybe_unused]] auto& " + array.name +
                          " = ::cpu_device::dynamic_shared<" + array.type + array.dimensions +
                          ">()" + edits.line_ends(begin, end));
    }
}

}  // namespace translate
