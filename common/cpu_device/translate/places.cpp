// SPDX-License-Identifier: MIT
#include "common/cpu_device/translate/places.hpp"

#include <algorithm>

#include "common/cpu_device/translate/tokens.hpp"

namespace translate {
namespace {

// What opened a brace.
enum class Brace { of_namespace, of_device_function, other };

struct Scope {
    std::vector<Brace> braces;  // those around
    size_t statement = 0;       // first token of the statement
};

// The brace at range.end, behind the rest of its statement.
Brace brace_behind(const Tokens& tokens, Range statement) {
    if (statement.begin == statement.end) return Brace::other;
    const Token& first = tokens[statement.begin];
    const bool is_inline = first.text == "inline" && statement.end > statement.begin + 1;
    if (tokens[statement.begin + is_inline].text == "namespace" ||
        (first.text == "extern" && statement.end == statement.begin + 2 &&
         tokens[statement.begin + 1].kind == TokenKind::literal)) {
        return Brace::of_namespace;
    }
    const bool is_device = std::any_of(tokens.begin() + statement.begin,
                                       tokens.begin() + statement.end, [](const Token& token) {
                                           return is_one_of(token, {"__device__", "__global__"});
                                       });
    return is_device ? Brace::of_device_function : Brace::other;
}

void step_over(const Tokens& tokens, size_t i, Scope& scope) {
    if (tokens[i].text == "{") scope.braces.push_back(brace_behind(tokens, {scope.statement, i}));
    if (tokens[i].text == "}" && !scope.braces.empty()) scope.braces.pop_back();
    if (is_one_of(tokens[i], {"{", "}", ";"})) scope.statement = i + 1;
}

Place place_in(const Scope& scope) {
    const auto begin = scope.braces.begin();
    const auto end = scope.braces.end();
    return {std::all_of(begin, end, [](Brace brace) { return brace == Brace::of_namespace; }),
            std::find(begin, end, Brace::of_device_function) != end};
}

}  // namespace

// The branches of an #if may each open the same brace, so each begins in the scope of the #if.
std::vector<Place> places_of(const Region& region) {
    std::vector<Place> result;
    Scope scope;
    std::vector<Scope> at_if;
    auto conditional = region.conditionals.begin();
    for (size_t i = 0; i < region.tokens.size(); ++i) {
        for (; conditional != region.conditionals.end() && conditional->token == i; ++conditional) {
            if (conditional->kind == Conditional::Kind::open) at_if.push_back(scope);
            if (conditional->kind == Conditional::Kind::alternative) scope = at_if.back();
            if (conditional->kind == Conditional::Kind::close) at_if.pop_back();
        }
        step_over(region.tokens, i, scope);
        result.push_back(place_in(scope));
    }
    return result;
}

}  // namespace translate
