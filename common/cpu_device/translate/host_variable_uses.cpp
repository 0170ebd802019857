// SPDX-License-Identifier: MIT
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "common/cpu_device/translate/host_variables.hpp"
#include "common/cpu_device/translate/outline.hpp"
#include "common/cpu_device/translate/own_names.hpp"
#include "common/cpu_device/translate/places.hpp"
#include "common/cpu_device/translate/tokens.hpp"

namespace translate {
namespace {

using Kind = HostVariables::Kind;

// Whether what stands there is computed by the compiler: sizeof(x), decltype(x), f<x>(), constexpr y = x, case x.
bool is_for_compiler(const Tokens& tokens, Range body, size_t i) {
    size_t begin = i;
    for (; begin > body.begin; --begin) {
        const Token& before = tokens[begin - 1];
        if (is_one_of(before, {";", "{", "}"})) break;
        if (is_one_of(before, {"constexpr", "static_assert", "case", "sizeof", "decltype",
                               "alignof", "typeid", "noexcept"})) {
            const size_t behind = begin;
            const bool in_parentheses =
                tokens[behind].text == "(" && is_one_of(before, {"sizeof", "decltype", "alignof"});
            if (!in_parentheses || matching_close(tokens, behind).value_or(0) > i) return true;
        }
        if (before.text == "[") {  // float y[x]: not y[x] = 1
            const size_t name = begin - 2;
            if (name > body.begin && tokens[name].kind == TokenKind::identifier &&
                tokens[name - 1].kind == TokenKind::identifier &&
                !is_one_of(tokens[name - 1], {"return", "else"})) {
                return true;
            }
        }
    }
    for (size_t at = i + 1; at < body.end && !is_one_of(tokens[at], {";", "{"}); ++at) {
        if (tokens[at].text != ">") continue;
        const auto open = matching_angle(tokens, at);
        if (open && *open > begin && *open < i) return true;
    }
    return false;
}

// What nvcc compiles only where somebody calls it, and nobody does.
bool is_left_out(const Tokens& tokens, const Declaration& function) {
    if (is_kernel(tokens, function) ||
        !has_word(tokens, function.head, {"template", "static", "inline", "__forceinline__"})) {
        return false;
    }
    const std::string& name = tokens[function.name].text;
    return std::count_if(tokens.begin(), tokens.end(),
                         [&](const Token& token) { return token.text == name; }) == 1;
}

// The functions of the file whose parameter of that number is a reference, by their names.
std::map<std::string, std::set<size_t>> references_of(
    const Tokens& tokens, const std::vector<Declaration>& declarations) {
    std::map<std::string, std::set<size_t>> found;
    for (const Declaration& each : declarations) {
        if (!each.is_function || each.name + 1 >= tokens.size()) continue;
        const size_t close = matching_close(tokens, each.name + 1).value_or(each.name);
        size_t number = 0;
        int angles = 0;
        for (size_t i = each.name + 2; i < close; ++i) {
            if (tokens[i].text == "<") ++angles;
            if (tokens[i].text == ">") --angles;
            if (tokens[i].text == "," && angles == 0) ++number;
            if (tokens[i].text == "&" && angles == 0) found[tokens[each.name].text].insert(number);
            if (is_open(tokens[i])) i = matching_close(tokens, i).value_or(close);
        }
    }
    return found;
}

class UsesReader {
public:
    UsesReader(const Region& region, const HostVariables& included, Edits& edits)
        : region_(region),
          tokens_(region.tokens),
          declarations_(declarations_of(region)),
          classes_(classes_of(tokens_, declarations_)),
          variables_(host_variables_of(region)),
          references_(references_of(tokens_, declarations_)),
          edits_(edits) {
        variables_.add(included);
    }

    void run() const {
        if (variables_.known.empty()) return;
        const std::vector<Place> places = places_of(region_);
        for (const Declaration& function : declarations_) {
            if (!function.is_defined()) continue;
            const bool is_device = is_for_device(tokens_, function);
            if (is_device && (is_left_to_host(function) || is_left_out(tokens_, function)))
                continue;
            for (size_t i = function.body.begin; i + 1 < function.body.end; ++i) {
                if (is_device || places[i].in_device_function) read(function, i);
            }
        }
    }

private:
    // Of what is for both sides an #if may tell the two; and a template or an inline function nvcc compiles for the
    // device only if device code calls it.
    bool is_left_to_host(const Declaration& function) const {
        if (!has_word(tokens_, function.head, {"__host__"})) return false;
        for (const Conditional& each : region_.conditionals) {
            if (each.token >= function.body.begin && each.token <= function.body.end) return true;
        }
        if (!function.in_class &&
            !has_word(tokens_, function.head, {"template", "static", "inline"})) {
            return false;
        }
        return std::none_of(
            declarations_.begin(), declarations_.end(), [&](const Declaration& caller) {
                return caller.is_defined() && is_for_device(tokens_, caller) &&
                       !has_word(tokens_, caller.head, {"__host__"}) &&
                       has_word(tokens_, caller.body, {tokens_[function.name].text});
            });
    }

    void read(const Declaration& function, size_t i) const {
        const Token& token = tokens_[i];
        if (token.kind != TokenKind::identifier || is_one_of(tokens_[i - 1], {".", "->"})) return;
        const auto variable = variable_at(function, i);
        if (variable == variables_.known.end() || is_for_compiler(tokens_, function.body, i))
            return;
        const auto& [name, kind] = *variable;
        const std::string runs = "'" + tokens_[function.name].text + "' runs on the device and ";
        const std::string instead =
            ": write __constant__ or __device__ before its definition, or "
            "give the kernel its value";
        if (kind == Kind::run_time) {
            edits_.fail(token, runs + "uses '" + name + "', a variable of the host" + instead);
        }
        if (kind == Kind::array) {
            edits_.fail(token, runs + "uses '" + name +
                                   "', an array of the host, of which the device has no copy" +
                                   instead);
        }
        if (needs_address(i)) {
            edits_.fail(token, runs + "needs the address of '" + name +
                                   "', a constant of the host, of which the device has the value "
                                   "alone" +
                                   instead);
        }
    }

    std::map<std::string, Kind>::const_iterator variable_at(const Declaration& function,
                                                            size_t i) const {
        const std::string& name = tokens_[i].text;
        const auto none = variables_.known.end();
        if (tokens_[i - 1].text == "::") {
            const std::string& of = tokens_[i - 2].text;
            const auto member = variables_.known.find(of + "::" + name);
            if (member != none) return member;
            const bool of_namespace =
                tokens_[i - 2].kind != TokenKind::identifier || has_namespace(of);
            if (!of_namespace) return none;
            return variables_.known.find(name);
        }
        // A member function, also one that is defined outside of its class.
        std::string around =
            function.in_class ? class_around(classes_, function.head.begin) : std::string();
        if (!function.in_class && function.name >= 2 && tokens_[function.name - 1].text == "::")
            around = tokens_[function.name - 2].text;
        auto found = around.empty() ? none : variables_.known.find(around + "::" + name);
        if (found == none) {
            found = variables_.known.find(name);
            if (found != none && !around.empty() && is_member(around, name)) return none;
        }
        if (found == none || has_its_own(tokens_, function, name)) return none;
        return found;
    }

    bool has_namespace(const std::string& name) const {
        for (size_t i = 0; i + 1 < tokens_.size(); ++i) {
            if (tokens_[i].text == "namespace" && tokens_[i + 1].text == name) return true;
        }
        return false;
    }

    bool is_member(const std::string& of, const std::string& name) const {
        for (const ClassBody& each : classes_) {
            if (each.name != of) continue;
            for (size_t i = each.body.begin; i < each.body.end; ++i) {
                if (tokens_[i].text == name) return true;
            }
        }
        return false;
    }

    // &x, x.array[i], f(x) where f takes a reference, const T& y = x.
    bool needs_address(size_t i) const {
        const Token& before = tokens_[i - 1];
        if (before.text == "&") {
            const Token& first = tokens_[i - 2];
            const bool is_operand = first.kind == TokenKind::identifier ||
                                    first.kind == TokenKind::number ||
                                    is_one_of(first, {")", "]", "&"});
            if (!is_operand || first.text == "return") return true;
        }
        if (tokens_[i + 1].text == "." && i + 3 < tokens_.size() && tokens_[i + 3].text == "[")
            return true;
        if (before.text == "=" && tokens_[i + 1].text == ";" && tokens_[i - 3].text == "&")
            return true;
        return is_given_by_reference(i);
    }

    bool is_given_by_reference(size_t i) const {
        if (!is_one_of(tokens_[i - 1], {"(", ","}) || !is_one_of(tokens_[i + 1], {")", ","}))
            return false;
        size_t number = 0;
        for (size_t at = i - 1;; --at) {
            if (is_close(tokens_[at])) {
                const auto open = matching_open(tokens_, at);
                if (!open) return false;
                at = *open;
            } else if (tokens_[at].text == ",") {
                ++number;
            } else if (tokens_[at].text == "(") {
                if (at == 0) return false;
                const auto called = references_.find(tokens_[at - 1].text);
                return called != references_.end() && called->second.count(number) != 0;
            }
            if (at == 0 || is_one_of(tokens_[at], {";", "{", "}"})) return false;
        }
    }

    const Region& region_;
    const Tokens& tokens_;
    std::vector<Declaration> declarations_;
    std::vector<ClassBody> classes_;
    HostVariables variables_;
    std::map<std::string, std::set<size_t>> references_;
    Edits& edits_;
};

}  // namespace

void refuse_host_variables(const Region& region, const HostVariables& included, Edits& edits) {
    if (!region.is_macro) UsesReader(region, included, edits).run();
}

}  // namespace translate
