// SPDX-License-Identifier: MIT
#include "common/cpu_device/translate/lambdas.hpp"

#include <algorithm>

#include "common/cpu_device/translate/tokens.hpp"

namespace translate {
namespace {

// For each token: is it in the body of a function that is declared as __device__ or __global__?
std::vector<bool> in_device_function(const Tokens& tokens) {
    std::vector<bool> result(tokens.size(), false);
    size_t statement = 0;
    for (size_t i = 0; i < tokens.size(); ++i) {
        const auto is_device = [](const Token& token) {
            return is_one_of(token, {"__device__", "__global__"});
        };
        if (tokens[i].text == "{" &&
            std::any_of(tokens.begin() + statement, tokens.begin() + i, is_device)) {
            const size_t close = matching_close(tokens, i).value_or(tokens.size() - 1);
            std::fill(result.begin() + i, result.begin() + close, true);
            i = close;
        }
        if (is_one_of(tokens[i], {"{", "}", ";"})) statement = i + 1;
    }
    return result;
}

// Does the [ at `open` begin a lambda, rather than an index, a dimension or an attribute?
bool begins_lambda(const Tokens& tokens, size_t open) {
    if (tokens[open].text != "[" || open == 0) return false;
    const Token& before = tokens[open - 1];
    if (before.kind == TokenKind::identifier && before.text != "return") return false;
    if (before.kind == TokenKind::number || before.kind == TokenKind::literal) return false;
    if (is_one_of(before, {")", "]", "["})) return false;
    const std::optional<size_t> close = matching_close(tokens, open);
    return close && *close + 1 < tokens.size() && tokens[open + 1].text != "[" &&
           is_one_of(tokens[*close + 1], {"(", "{"});
}

// The last token before the place for attributes: before the -> or the body.
size_t last_of_declarator(const Tokens& tokens, size_t parameters) {
    size_t last = matching_close(tokens, parameters).value_or(tokens.size() - 1);
    while (
        last + 1 < tokens.size() &&
        is_one_of(tokens[last + 1], {"mutable", "constexpr", "noexcept", "(", "__attribute__"})) {
        last = tokens[last + 1].text == "("
                   ? matching_close(tokens, last + 1).value_or(tokens.size() - 1)
                   : last + 1;
    }
    return last;
}

}  // namespace

void inline_lambdas(const Region& region, Edits& edits) {
    const Tokens& tokens = region.tokens;
    const std::vector<bool> is_device = in_device_function(tokens);
    for (size_t i = 0; i < tokens.size(); ++i) {
        if (!is_device[i] || !begins_lambda(tokens, i)) continue;
        const size_t close = *matching_close(tokens, i);
        const std::string attribute = " __attribute__((always_inline))";
        if (tokens[close + 1].text == "{") {
            edits.insert(tokens[close].end, "()" + attribute);
        } else {
            edits.insert(tokens[last_of_declarator(tokens, close + 1)].end, attribute);
        }
    }
}

}  // namespace translate
