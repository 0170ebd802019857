// SPDX-License-Identifier: MIT
#include "common/cpu_device/translate/lambdas.hpp"

#include "common/cpu_device/translate/places.hpp"
#include "common/cpu_device/translate/tokens.hpp"

namespace translate {
namespace {

// The last token before the place for attributes: before the -> or the body.
size_t last_of_declarator(const Tokens& tokens, size_t parameters) {
    size_t last = matching_close(tokens, parameters).value_or(tokens.size() - 1);
    while (last + 1 < tokens.size() &&
           is_one_of(tokens[last + 1],
                     {"mutable", "constexpr", "noexcept", "throw", "(", "__attribute__"})) {
        last = tokens[last + 1].text == "("
                   ? matching_close(tokens, last + 1).value_or(tokens.size() - 1)
                   : last + 1;
    }
    return last;
}

// Where attributes go behind the [ at `open`: behind that token. Empty where it begins no lambda but an
// index, a dimension, an attribute or a structured binding.
std::optional<size_t> place_for_attributes(const Tokens& tokens, size_t open) {
    if (tokens[open].text != "[" || open == 0) return {};
    const Token& before = tokens[open - 1];
    if (before.kind == TokenKind::number || before.kind == TokenKind::literal ||
        (before.kind == TokenKind::identifier && !is_one_of(before, {"return", "else"})) ||
        is_one_of(before, {")", "]", "["})) {
        return {};
    }
    const std::optional<size_t> close = matching_close(tokens, open);
    if (!close || *close + 1 >= tokens.size() || tokens[open + 1].text == "[") return {};
    if (tokens[*close + 1].text == "{") {  // new T*[3]{} or auto& [a, b]{c}
        return is_one_of(before, {"*", "&", ">"}) ? std::nullopt : close;
    }
    if (tokens[*close + 1].text != "(") return {};
    const size_t last = last_of_declarator(tokens, *close + 1);
    const bool has_body = last + 1 < tokens.size() && is_one_of(tokens[last + 1], {"{", "->"});
    return has_body ? std::optional(last) : std::nullopt;
}

// Does the lambda with that last token before its body hand itself on, as in self(self, n - 1)? What
// calls itself cannot be inlined.
bool is_recursive(const Tokens& tokens, size_t last) {
    size_t open = last;
    while (open < tokens.size() && tokens[open].text != "{") ++open;
    const size_t close = matching_close(tokens, open).value_or(tokens.size());
    for (size_t i = open; i + 3 < close; ++i) {
        if (tokens[i].kind == TokenKind::identifier && tokens[i + 1].text == "(" &&
            tokens[i + 2].text == tokens[i].text && is_one_of(tokens[i + 3], {",", ")"})) {
            return true;
        }
    }
    return false;
}

}  // namespace

void inline_lambdas(const Region& region, Edits& edits) {
    const Tokens& tokens = region.tokens;
    const std::vector<Place> places = places_of(region);
    for (size_t i = 0; i < tokens.size(); ++i) {
        if (!places[i].in_device_function) continue;
        const std::optional<size_t> place = place_for_attributes(tokens, i);
        if (!place || is_recursive(tokens, *place)) continue;
        const std::string parameters = tokens[*place].text == "]" ? "()" : "";
        edits.insert(tokens[*place].end, parameters + " __attribute__((always_inline))");
    }
}

}  // namespace translate
