// SPDX-License-Identifier: MIT
#include "common/cpu_device/translate/tokens.hpp"

#include <algorithm>

namespace translate {

bool is_one_of(const Token& token, std::initializer_list<std::string_view> texts) {
    return std::find(texts.begin(), texts.end(), token.text) != texts.end();
}

bool is_open(const Token& token) {
    return is_one_of(token, {"(", "[", "{"});
}
bool is_close(const Token& token) {
    return is_one_of(token, {")", "]", "}"});
}

std::optional<size_t> matching_open(const Tokens& tokens, size_t close) {
    int depth = 0;
    for (size_t i = close + 1; i-- > 0;) {
        if (is_close(tokens[i])) ++depth;
        if (is_open(tokens[i]) && --depth == 0) return i;
    }
    return {};
}

std::optional<size_t> matching_close(const Tokens& tokens, size_t open) {
    int depth = 0;
    for (size_t i = open; i < tokens.size(); ++i) {
        if (is_open(tokens[i])) ++depth;
        if (is_close(tokens[i]) && --depth == 0) return i;
    }
    return {};
}

std::optional<size_t> matching_angle(const Tokens& tokens, size_t close) {
    int depth = 0;
    for (size_t i = close + 1; i-- > 0;) {
        const Token& token = tokens[i];
        if (is_close(token)) {
            const std::optional<size_t> open = matching_open(tokens, i);
            if (!open) return {};
            i = *open;
        } else if (is_open(token) || token.text == ";") {
            return {};
        } else if (token.text == ">") {
            ++depth;
        } else if (token.text == "<" && --depth == 0) {
            return i;
        }
    }
    return {};
}

bool is_of_std(const Tokens& tokens, size_t at) {
    if (at < 2 || tokens[at - 1].text != "::" || tokens[at - 2].text != "std") return false;
    return at < 4 || tokens[at - 3].text != "::" || tokens[at - 4].text != "cuda";
}

std::string text_of(const Tokens& tokens, Range range) {
    std::string result;
    for (size_t i = range.begin; i < range.end; ++i) {
        if (i > range.begin && tokens[i].begin > tokens[i - 1].end) result += ' ';
        result += tokens[i].text;
    }
    return result;
}

std::string escaped(const std::string& text) {
    std::string result;
    for (const char c : text) {
        if (c == '"' || c == '\\') result += '\\';
        result += c;
    }
    return result;
}

}  // namespace translate
