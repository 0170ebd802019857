// SPDX-License-Identifier: MIT
#include "common/cpu_device/translate/notes.hpp"

#include <algorithm>
#include <set>
#include <string_view>

#include "common/cpu_device/translate/architecture.hpp"
#include "common/cpu_device/translate/outline.hpp"

namespace translate {
namespace {

size_t line_at(const std::string& source, size_t position) {
    return 1 + static_cast<size_t>(std::count(
                   source.begin(), source.begin() + static_cast<ptrdiff_t>(position), '\n'));
}

// 0.5, 1e-3: not 0.5f, 0x1p3 or 10.
bool is_double(const Token& token) {
    if (token.kind != TokenKind::number) return false;
    const std::string& text = token.text;
    if (text.size() > 1 && (text[1] == 'x' || text[1] == 'X')) return false;
    if (text.find_first_of(".eE") == std::string::npos) return false;
    return std::string_view("0123456789.").find(text.back()) != std::string_view::npos;
}

void note_doubles(const std::string& source, const Region& region, std::vector<Note>& notes) {
    const Tokens& tokens = region.tokens;
    for (const Declaration& function : declarations_of(region)) {
        if (!function.is_defined() || !is_for_device(tokens, function)) continue;
        const Range all{function.head.begin, function.body.end};
        if (has_word(tokens, all, {"double", "double2", "double4"}) ||
            !has_word(tokens, all, {"float", "float2", "float3", "float4"})) {
            continue;
        }
        size_t count = 0;
        const Token* first = nullptr;
        for (size_t i = function.body.begin; i < function.body.end; ++i) {
            if (!is_double(tokens[i])) continue;
            if (count++ == 0) first = &tokens[i];
        }
        if (count == 0) continue;
        notes.push_back(
            {line_at(source, first->begin),
             (count == 1 ? std::string("a literal") : std::to_string(count) + " literals") +
                 " of type double in '" + tokens[function.name].text +
                 "', which has floats only: what it meets is computed in double, slowly "
                 "on most GPUs; write " +
                 first->text + "f"});
    }
}

// Functions that are defined here as constexpr, and for the host alone.
std::set<std::string> constexpr_functions(const Tokens& tokens,
                                          const std::vector<Declaration>& declarations) {
    std::set<std::string> found;
    for (const Declaration& function : declarations) {
        if (function.is_defined() && !function.in_class &&
            has_word(tokens, function.head, {"constexpr", "consteval"})) {
            found.insert(tokens[function.name].text);
        }
    }
    for (const Declaration& function : declarations) {
        const bool has_macro =
            function.is_function &&
            std::any_of(tokens.begin() + static_cast<ptrdiff_t>(function.head.begin),
                        tokens.begin() + static_cast<ptrdiff_t>(function.name),
                        [](const Token& token) { return is_like_a_macro(token.text); });
        if (is_for_device(tokens, function) || has_macro) found.erase(tokens[function.name].text);
    }
    return found;
}

// What to write in place of such a function of the library's; null where `i` is none.
const char* in_place_of(const Tokens& tokens, size_t i) {
    if (!is_of_std(tokens, i)) return nullptr;
    if (is_one_of(tokens[i], {"max", "min"})) return "the same without std::";
    if (tokens[i].text == "clamp") return "min(max(x, low), high)";
    if (tokens[i].text == "numeric_limits") return "INFINITY, FLT_MAX, INT_MAX ...";
    if (tokens[i].text == "array") return "a plain array";
    return nullptr;
}

void note_constexpr(const std::string& source, const Region& region, std::vector<Note>& notes) {
    const Tokens& tokens = region.tokens;
    const std::vector<Declaration> declarations = declarations_of(region);
    const std::set<std::string> own = constexpr_functions(tokens, declarations);
    for (const Declaration& function : declarations) {
        // What is for both sides may have a way for the host: nvcc only warns.
        if (!function.is_defined() || !is_for_device(tokens, function) ||
            has_word(tokens, function.head, {"__host__"})) {
            continue;
        }
        std::set<std::string> said;
        for (size_t i = function.body.begin; i < function.body.end; ++i) {
            const std::string& name = tokens[i].text;
            const char* const instead = in_place_of(tokens, i);
            const bool calls_own = own.count(name) != 0 && i + 1 < function.body.end &&
                                   tokens[i + 1].text == "(" &&
                                   !is_one_of(tokens[i - 1], {".", "->", "::"});
            if ((instead == nullptr && !calls_own) || !said.insert(name).second) continue;
            notes.push_back(
                {line_at(source, tokens[i].begin),
                 "'" + tokens[function.name].text + "' runs on the device and uses '" +
                     (calls_own ? "" : "std::") + name +
                     "', which is constexpr and for the host: nvcc refuses it unless it is told "
                     "--expt-relaxed-constexpr; write " +
                     (calls_own ? "__device__ before its definition" : instead)});
        }
    }
}

// kernel<<<1, 32>>>(x, std::plus<int>()).
void note_functors(const std::string& source, const Region& region, std::vector<Note>& notes) {
    const Tokens& tokens = region.tokens;
    for (size_t i = 2; i + 1 < tokens.size(); ++i) {
        const bool launches = tokens[i].text == ">" && tokens[i - 1].text == ">" &&
                              tokens[i - 2].text == ">" && tokens[i + 1].text == "(";
        if (!launches) continue;
        const size_t close = matching_close(tokens, i + 1).value_or(i);
        for (size_t at = i + 2; at < close; ++at) {
            if (!is_of_std(tokens, at) ||
                !is_one_of(tokens[at], {"plus", "minus", "multiplies", "divides", "modulus",
                                        "negate", "less", "greater", "equal_to"})) {
                continue;
            }
            notes.push_back({line_at(source, tokens[at].begin),
                             "a kernel gets 'std::" + tokens[at].text +
                                 "', which is constexpr and for the host: nvcc refuses it unless "
                                 "it is told --expt-relaxed-constexpr; write a functor, with "
                                 "__device__ before its operator()"});
        }
    }
}

}  // namespace

std::vector<Note> notes_on(const std::string& source) {
    std::vector<Note> notes;
    for (const Region& region : regions_of(source)) {
        note_doubles(source, region, notes);
        note_constexpr(source, region, notes);
        note_functors(source, region, notes);
    }
    const std::vector<Note> on_sides = notes_on_sides(source);
    notes.insert(notes.end(), on_sides.begin(), on_sides.end());
    return notes;
}

}  // namespace translate
