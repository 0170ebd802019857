// SPDX-License-Identifier: MIT
// Questions about a sequence of tokens.
#pragma once
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/cpu_device/translate/lexer.hpp"

namespace translate {

using Tokens = std::vector<Token>;

// Half-open range of indices of tokens.
struct Range {
    size_t begin;
    size_t end;
};

bool is_one_of(const Token& token, std::initializer_list<std::string_view> texts);
bool is_open(const Token& token);   // ( [ {
bool is_close(const Token& token);  // ) ] }

// The bracket that opens what the one at `close` closes, and the other way round.
std::optional<size_t> matching_open(const Tokens& tokens, size_t close);
std::optional<size_t> matching_close(const Tokens& tokens, size_t open);

// The `<` of the template arguments that the `>` at `close` ends. In template arguments,
// comparisons stand in parentheses.
std::optional<size_t> matching_angle(const Tokens& tokens, size_t close);

// Whether that one stands behind std::, and not behind cuda::std::, which is for the device as well.
bool is_of_std(const Tokens& tokens, size_t at);

// The tokens on one line, without comments, with one space where there was any.
std::string text_of(const Tokens& tokens, Range range);

// The text as the inside of a string literal.
std::string escaped(const std::string& text);

}  // namespace translate
