// SPDX-License-Identifier: MIT
#include "common/cpu_device/translate/host_variables.hpp"

#include <algorithm>
#include <vector>

#include "common/cpu_device/translate/outline.hpp"
#include "common/cpu_device/translate/tokens.hpp"

namespace translate {
namespace {

using Kind = HostVariables::Kind;

bool declares_variables(const Tokens& tokens, const Declaration& declaration) {
    return !declaration.is_function &&
           !has_word(tokens, declaration.head,
                     {"template", "typedef", "using", "struct", "class", "union", "enum",
                      "operator", "friend", "namespace", "static_assert", "concept", "asm"});
}

// Or perhaps, by a macro before its name.
bool is_of_device(const Tokens& tokens, Range before_name) {
    return std::any_of(
        tokens.begin() + static_cast<ptrdiff_t>(before_name.begin),
        tokens.begin() + static_cast<ptrdiff_t>(before_name.end), [](const Token& token) {
            return is_one_of(token, {"__device__", "__constant__", "__managed__", "__shared__"}) ||
                   (token.kind == TokenKind::identifier && is_like_a_macro(token.text));
        });
}

// Whether an initializer calls what no compiler computes: a function of the file's that is not constexpr, or one of
// the C library's.
bool runs(const Tokens& tokens, Range initializer, const std::set<std::string>& run_time) {
    for (size_t i = initializer.begin; i + 1 < initializer.end; ++i) {
        if (tokens[i + 1].text != "(") continue;
        if (run_time.count(tokens[i].text) != 0 || tokens[i].text.rfind("make_", 0) == 0 ||
            is_one_of(tokens[i],
                      {"atoi", "atof", "getenv", "rand", "time", "clock", "sqrt", "sqrtf", "exp",
                       "expf", "log", "logf", "pow", "powf", "sin", "cos", "strtol", "strtof"})) {
            return true;
        }
    }
    return false;
}

std::set<std::string> run_time_functions(const Tokens& tokens,
                                         const std::vector<Declaration>& declarations) {
    std::set<std::string> found;
    for (const Declaration& each : declarations) {
        if (each.is_defined() && !each.in_class &&
            !has_word(tokens, each.head, {"constexpr", "consteval"})) {
            found.insert(tokens[each.name].text);
        }
    }
    return found;
}

Kind kind_of(const Tokens& tokens, Range head, const Declarator& declarator,
             const std::set<std::string>& run_time) {
    const Range before{head.begin, declarator.name};
    const bool is_constant = has_word(tokens, before, {"constexpr"}) ||
                             (declarator.is_pointer ? declarator.is_constant_pointer
                                                    : has_word(tokens, before, {"const"}));
    const bool is_elsewhere =
        has_word(tokens, before, {"extern"}) && !has_word(tokens, declarator.initializer, {"="});
    if (!is_constant || is_elsewhere || runs(tokens, declarator.initializer, run_time))
        return Kind::run_time;
    // Of a constant pointer nvcc knows the value where it is constexpr, or null.
    const bool is_known = has_word(tokens, before, {"constexpr"}) ||
                          has_word(tokens, declarator.initializer, {"nullptr", "NULL"});
    return declarator.is_array || (declarator.is_pointer && !is_known) ? Kind::array : Kind::value;
}

}  // namespace

void HostVariables::add(const HostVariables& more) {
    for (const auto& [name, kind] : more.known) {
        const auto [at, added] = known.emplace(name, kind);
        if (!added && at->second != kind) others.insert(name);
    }
    others.insert(more.others.begin(), more.others.end());
    for (const std::string& name : others) known.erase(name);
}

HostVariables host_variables_of(const Region& region) {
    const Tokens& tokens = region.tokens;
    const std::vector<Declaration> declarations = declarations_of(region);
    const std::vector<ClassBody> classes = classes_of(tokens, declarations);
    const std::set<std::string> run_time = run_time_functions(tokens, declarations);
    HostVariables found;
    std::set<std::string> seen;
    for (const Declaration& each : declarations) {
        if (each.is_function) found.others.insert(tokens[each.name].text);
        if (!declares_variables(tokens, each)) continue;
        if (each.in_class && !has_word(tokens, each.head, {"static"})) continue;
        for (const Declarator& declarator : declarators_of(tokens, each.head)) {
            std::string name = tokens[declarator.name].text;
            if (each.in_class) {
                name = class_around(classes, each.head.begin) + "::" + name;
            } else if (tokens[declarator.name - 1].text == "::") {
                continue;  // a member that its class declares
            }
            const Range before{each.head.begin, declarator.name};
            const bool is_extern = has_word(tokens, before, {"extern"});
            if (is_of_device(tokens, before) || (!seen.insert(name).second && !is_extern)) {
                found.others.insert(name);
            } else {
                found.known.emplace(name, kind_of(tokens, each.head, declarator, run_time));
            }
        }
    }
    for (const std::string& name : found.others) found.known.erase(name);
    return found;
}

}  // namespace translate
