// SPDX-License-Identifier: MIT
#include "common/cpu_device/translate/statements.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "common/cpu_device/translate/outline.hpp"
#include "common/cpu_device/translate/places.hpp"
#include "common/cpu_device/translate/tokens.hpp"

namespace translate {
namespace {

// What to say of a word that device code has no business with; null where there is no such word.
const char* refused_on_device(const Token& token) {
    if (is_one_of(token, {"throw", "try"}))
        return "device code has no exceptions: return an error, or __trap()";
    if (is_one_of(token, {"typeid", "dynamic_cast"}))
        return "device code has no types at run time: keep a number in the object that tells its "
               "class";
    if (token.text == "errno") return "errno is the host's: device code has none";
    return nullptr;
}

// Whether the __device__ or __constant__ at `i`, in a function, is that of a variable: not of a lambda, nor of a
// class's member.
bool qualifies_variable(const Tokens& tokens, Range body, size_t i) {
    if (i > body.begin && is_one_of(tokens[i - 1], {")", "]", "__host__"})) return false;
    for (size_t at = i + 1; at < body.end; ++at) {
        if (tokens[at].text == "operator") return false;  // of a class in the function
        if (is_one_of(tokens[at], {";", "="})) return true;
        if (tokens[at].text == "[")
            return tokens[at - 1].kind == TokenKind::identifier && at > i + 2;
        if (is_open(tokens[at]) || is_close(tokens[at])) return false;
    }
    return false;
}

// Whether `static` stands in the same declaration: then the variable outlives the call, and nvcc takes it.
bool is_static(const Tokens& tokens, Range body, size_t i) {
    for (size_t at = i; at > body.begin && !is_one_of(tokens[at - 1], {";", "{", "}"}); --at) {
        if (tokens[at - 1].text == "static") return true;
    }
    for (size_t at = i; at < body.end && !is_one_of(tokens[at], {";", "=", "["}); ++at) {
        if (tokens[at].text == "static") return true;
    }
    return false;
}

// Whether the `static` at `i` is that of a variable: not of a local class's function, nor __shared__ or constexpr,
// which have no initializer that runs.
bool keeps_variable(const Tokens& tokens, Range body, size_t i) {
    if (is_one_of(tokens[i - 1], {"__shared__", "constexpr"})) return false;
    for (size_t at = i + 1; at < body.end; ++at) {
        if (is_one_of(tokens[at], {";", "=", "["})) return true;
        if (is_one_of(tokens[at], {"__shared__", "constexpr", "(", ")", "}"})) return false;
    }
    return false;
}

// [&x, y] __device__ (...): the bracket that opens there captures by reference.
void refuse_references(const Tokens& tokens, size_t open, Edits& edits) {
    const auto close = matching_close(tokens, open);
    if (!close || *close + 1 >= tokens.size() ||
        !is_one_of(tokens[*close + 1], {"__device__", "__host__"})) {
        return;
    }
    for (size_t i = open + 1; i < *close; ++i) {
        if (tokens[i].text != "&" || !is_one_of(tokens[i - 1], {"[", ","})) continue;
        edits.fail(tokens[i],
                   "a lambda for the device captures by reference, and what that refers to is on "
                   "the host: capture by value, as in [=] __device__ (int i) { ... }");
    }
}

void read_function(const Region& region, const std::vector<Place>& places,
                   const Declaration& function, Edits& edits) {
    const Tokens& tokens = region.tokens;
    const std::string name = "'" + tokens[function.name].text + "'";
    const bool is_device = is_for_device(tokens, function);
    // What is for both sides may have a way for the host.
    const bool is_device_alone = is_device && !has_word(tokens, function.head, {"__host__"});
    const bool perhaps_device =
        is_device ||
        std::any_of(tokens.begin() + static_cast<ptrdiff_t>(function.head.begin),
                    tokens.begin() + static_cast<ptrdiff_t>(function.name), [](const Token& token) {
                        return token.kind == TokenKind::identifier && is_like_a_macro(token.text);
                    });
    for (size_t i = function.body.begin; i < function.body.end; ++i) {
        const char* const why = is_device_alone ? refused_on_device(tokens[i]) : nullptr;
        const bool specifies =
            is_one_of(tokens[i - 1], {")", "const"}) && tokens[i + 1].text == "(";
        if (why != nullptr && !specifies && !is_one_of(tokens[i - 1], {".", "->", "::"})) {
            edits.fail(tokens[i],
                       name + " runs on the device and uses '" + tokens[i].text + "': " + why);
        }
        // Initialized by the compiler, or nvcc refuses it.
        if (is_device_alone && tokens[i].text == "static" &&
            keeps_variable(tokens, function.body, i)) {
            edits.insert(tokens[i].end, " CPU_DEVICE_CONSTINIT");
        }
        if (is_one_of(tokens[i], {"__device__", "__constant__", "__managed__"}) &&
            qualifies_variable(tokens, function.body, i) && !is_static(tokens, function.body, i)) {
            edits.fail(tokens[i], "a variable inside the function " + name + " is " +
                                      tokens[i].text +
                                      ", which nvcc takes outside of functions alone: put it "
                                      "before the function");
        }
        if (tokens[i].text == "__shared__" && !perhaps_device && !places[i].in_device_function) {
            edits.fail(tokens[i], name +
                                      " runs on the host and has a __shared__ variable, which a "
                                      "block of threads has: declare it in the kernel");
        }
        if (!is_device && tokens[i].text == "[") refuse_references(tokens, i, edits);
    }
}

}  // namespace

void refuse_statements(const Region& region, Edits& edits) {
    if (region.is_macro) return;
    const std::vector<Place> places = places_of(region);
    for (const Declaration& function : declarations_of(region)) {
        if (function.is_defined()) read_function(region, places, function, edits);
    }
}

void rewrite_pragmas(const Region& macro, Edits& edits) {
    const Tokens& tokens = macro.tokens;
    if (!macro.is_macro || macro.has_parameters || tokens.size() < 3 || tokens[0].text != "#" ||
        tokens[1].text != "pragma") {
        return;
    }
    const size_t begin = tokens.front().begin, end = tokens.back().end;
    std::string lines;  // of a macro that goes on over several
    for (const char c : edits.line_ends(begin, end)) lines += std::string("\\") + c;
    edits.replace(begin, end,
                  "_Pragma(\"" + escaped(text_of(tokens, {2, tokens.size()})) + "\")" + lines);
}

}  // namespace translate
