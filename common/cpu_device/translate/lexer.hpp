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

// #if, #else (also #elif) or #endif before the token of that index. `word` is the directive's own, `condition`
// what stands after it; [begin, end) is where they stand in the source.
struct Conditional {
    enum class Kind { open, alternative, close } kind;
    size_t token;
    std::string word;
    std::vector<Token> condition;
    size_t begin, end;
};

// Tokens that belong together: the code of the file, or the body of one #define. Other directives,
// comments and what stands under `#if 0` have no tokens.
struct Region {
    bool is_macro = false;
    std::string name;             // of the macro
    bool has_parameters = false;  // of the macro
    std::vector<Token> tokens;
    std::vector<Conditional> conditionals;
    std::vector<std::string> parameters;  // of the macro: their names
    size_t begin = 0;                     // of the macro: where its # stands in the source
};

// The file's code first, then each macro's body. Never fails: what is not C++ is for the compiler
// to say.
std::vector<Region> regions_of(const std::string& source);

}  // namespace translate
