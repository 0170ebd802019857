// SPDX-License-Identifier: MIT
// Just enough of C++'s lexical rules to find launches: what is code, what is a comment, a literal
// or a directive.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

namespace translate {

enum class TokenKind { identifier, number, literal, punctuation };

// One token of the source. `text` is without line continuations; [begin, end) is where it stands in
// the source. Punctuation is one character, except for `<<<`, `<<`, `<=`, `>=`, `::`, `->`, `...`
// and `##`: a `>` always stands alone.
struct Token {
    TokenKind kind;
    std::string text;
    size_t begin;
    size_t end;
};

// #if, #else (also #elif) or #endif before the token of that index.
struct Conditional {
    enum class Kind { open, alternative, close } kind;
    size_t token;
};

// Tokens that belong together: the code of the file, or the body of one #define. Other directives,
// comments and what stands under `#if 0` have no tokens.
struct Region {
    bool is_macro = false;
    std::vector<Token> tokens;
    std::vector<Conditional> conditionals;
};

// The file's code first, then each macro's body. Never fails: what is not C++ is for the compiler
// to say.
std::vector<Region> regions_of(const std::string& source);

}  // namespace translate
