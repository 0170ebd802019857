// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <vector>

#include "common/cpu_device/translate/lexer.hpp"
#include "common/cpu_device/translate/tokens.hpp"

namespace translate {

// A declaration outside of functions, by the indices of its tokens.
struct Declaration {
    Range head;  // up to, not including, the body's `{` or the `;`
    Range body;  // of a function that is defined here: between the braces; else empty
    bool is_function;
    size_t name;  // of a function: its name's token
    bool in_class;

    bool is_defined() const { return is_function && body.end != 0; }
};

// What a file declares, as far as its tokens tell without its macros. Where they make no sense together,
// as the branches of an #if may, what comes behind is left out.
std::vector<Declaration> declarations_of(const Region& region);

// A class that is defined in the file, and what stands between its braces.
struct ClassBody {
    std::string name;
    Range body;
};
std::vector<ClassBody> classes_of(const Tokens& tokens,
                                  const std::vector<Declaration>& declarations);

// The innermost class around a token; empty where there is none.
std::string class_around(const std::vector<ClassBody>& classes, size_t at);

// A variable that a declaration declares: its name, and what stands behind it.
struct Declarator {
    size_t name;
    bool is_pointer, is_constant_pointer, is_array;
    Range initializer;
};
std::vector<Declarator> declarators_of(const Tokens& tokens, Range head);

// A word whose parentheses are no parameters, as __launch_bounds__.
bool takes_no_parameters(const Token& token);

// A word without small letters: before a function's name it may stand for __device__.
bool is_like_a_macro(const std::string& word);

bool has_word(const Tokens& tokens, Range range, std::initializer_list<std::string_view> words);

// Declared as a kernel, or as a function that kernels call.
bool is_kernel(const Tokens& tokens, const Declaration& declaration);
bool is_for_device(const Tokens& tokens, const Declaration& declaration);

}  // namespace translate
