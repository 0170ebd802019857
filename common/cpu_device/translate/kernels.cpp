// SPDX-License-Identifier: MIT
#include "common/cpu_device/translate/kernels.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "common/cpu_device/translate/outline.hpp"
#include "common/cpu_device/translate/own_names.hpp"
#include "common/cpu_device/translate/tokens.hpp"

namespace translate {
namespace {

// What stands in the parentheses behind such a word of a kernel's; empty where there is none.
std::string arguments_of(const Tokens& tokens, const Declaration& kernel, const char* word) {
    for (size_t i = kernel.head.begin; i + 1 < kernel.head.end; ++i) {
        if (tokens[i].text != word || tokens[i + 1].text != "(") continue;
        return text_of(tokens, {i + 2, matching_close(tokens, i + 1).value_or(i + 2)});
    }
    return {};
}

// The arguments of `word` in the kernel's head, each in parentheses.
std::vector<std::string> each_argument_of(const Tokens& tokens, const Declaration& kernel,
                                          const char* word) {
    std::vector<std::string> arguments;
    for (size_t i = kernel.head.begin; i + 1 < kernel.head.end; ++i) {
        if (tokens[i].text != word || tokens[i + 1].text != "(") continue;
        const size_t close = matching_close(tokens, i + 1).value_or(kernel.head.end);
        size_t begin = i + 2;
        int angles = 0;  // of template arguments, which may have commas of their own
        for (size_t end = begin; end <= close; ++end) {
            if (end == close || (tokens[end].text == "," && angles == 0)) {
                arguments.push_back("(" + text_of(tokens, {begin, end}) + ")");
                begin = end + 1;
                continue;
            }
            const bool touches = tokens[end - 1].end == tokens[end].begin;
            if (tokens[end].text == "<" && touches) ++angles;
            if (tokens[end].text == ">" && angles > 0) --angles;
            if (is_open(tokens[end])) end = matching_close(tokens, end).value_or(close);
        }
        break;
    }
    return arguments;
}

// The first two arguments of the kernel's __launch_bounds__, where it has as many; in place of the first, more threads
// than any block has.
std::string launch_bounds(const Tokens& tokens, const Declaration& kernel) {
    const auto arguments = each_argument_of(tokens, kernel, "__launch_bounds__");
    if (arguments.empty()) return "(~0ull)";
    return arguments.size() < 2 ? arguments[0] : arguments[0] + ", " + arguments[1];
}

// A tensor copy reads its map from where the launch puts it. Of a parameter that is no __grid_constant__ every thread has a
// copy of its own, and there is no sign of that but a wrong result or a fault.
void check_tensor_maps(const Tokens& tokens, const Declaration& kernel, Range parameters,
                       const Edits& edits) {
    for (size_t begin = parameters.begin; begin < parameters.end;) {
        size_t end = begin;
        bool is_map = false, may_be_constant = false;
        for (; end < parameters.end && tokens[end].text != ","; ++end) {
            is_map = is_map || tokens[end].text == "CUtensorMap";
            may_be_constant =
                may_be_constant || is_one_of(tokens[end], {"__grid_constant__", "*", "&", "<"}) ||
                (tokens[end].kind == TokenKind::identifier && is_like_a_macro(tokens[end].text));
            if (is_open(tokens[end])) end = matching_close(tokens, end).value_or(parameters.end);
        }
        const Token& name = tokens[end - 1];
        for (size_t i = kernel.body.begin; is_map && !may_be_constant && i + 1 < kernel.body.end;
             ++i) {
            if (tokens[i].text != "&" || tokens[i + 1].text != name.text) continue;
            edits.fail(name, "the kernel '" + tokens[kernel.name].text +
                                 "' takes the address of the tensor map '" + name.text +
                                 "', of which every thread has a copy: write const "
                                 "__grid_constant__ CUtensorMap " +
                                 name.text);
            break;
        }
        begin = end + 1;
    }
}

// What nvcc refuses of a kernel's head, in place of which g++ would do something.
void check_head(const Tokens& tokens, const Declaration& kernel, const Edits& edits) {
    const std::string name = "the kernel '" + tokens[kernel.name].text + "'";
    for (size_t i = kernel.head.begin; i < kernel.name; ++i) {
        if (tokens[i].text == "void") break;
        if (tokens[i].text == "auto" && has_word(tokens, kernel.head, {"->"})) break;
        if (tokens[i].text == "<" && tokens[i - 1].text == "template") break;
        if (is_open(tokens[i])) i = matching_close(tokens, i).value_or(kernel.name);
        if (is_one_of(tokens[i], {"auto", "bool", "char", "short", "int", "unsigned", "long",
                                  "float", "double", "size_t"})) {
            edits.fail(tokens[i], name +
                                      " returns something, and nobody is there to take it: "
                                      "write void, and let it write to memory");
        }
    }
    const size_t close = matching_close(tokens, kernel.name + 1).value_or(kernel.name);
    int angles = 0;
    for (size_t i = kernel.name + 2; i < close; ++i) {
        if (tokens[i].text == "<") ++angles;
        if (tokens[i].text == ">") --angles;
        const bool of_array = tokens[i].text == "(" && tokens[i + 1].text == "&";
        if ((tokens[i].text == "&" && angles == 0) || of_array) {
            edits.fail(tokens[i], name +
                                      " takes a reference, and what that refers to is on the "
                                      "host: take the value, or a pointer to memory of the device");
        }
        if (tokens[i].text == "..." && tokens[i - 1].text == "," && i + 1 == close) {
            edits.fail(tokens[i], name +
                                      " takes any arguments by '...', which nvcc refuses: write a "
                                      "template with Arguments... arguments");
        }
        if (is_open(tokens[i])) i = matching_close(tokens, i).value_or(close);
    }
    check_tensor_maps(tokens, kernel, {kernel.name + 2, close}, edits);
}

// What is known of a name in an array's size: nothing, that it is a value of the running kernel's, or a constant of
// the function's, of which the compiler has to say whether it is one to it.
enum class Size { unknown, of_running, perhaps };

Size size_by(const Tokens& tokens, const Declaration& function, const Token& name) {
    if (is_one_of(name, {"warpSize", "blockDim", "gridDim", "threadIdx", "blockIdx"}))
        return Size::of_running;
    const auto declared = own_declaration(tokens, function, name.text);
    if (!declared || *declared < function.name) return Size::unknown;
    if (*declared < function.body.begin) return Size::of_running;  // a parameter
    size_t begin = *declared;
    while (begin > function.body.begin && !is_one_of(tokens[begin - 1], {";", "{", "}", "("}))
        --begin;
    const Range type{begin, *declared};
    if (has_word(tokens, type, {"constexpr", "auto", "<", "using", "typedef", "struct", "enum"}))
        return Size::unknown;
    return has_word(tokens, type, {"const"}) ? Size::perhaps : Size::of_running;
}

// int a[n], where n is known only when the kernel runs: g++ has such arrays, nvcc has them for the host alone.
void refuse_variable_arrays(const Tokens& tokens, const Declaration& function, Edits& edits) {
    bool asks_compiler = false;
    for (size_t i = function.body.begin; i + 3 < function.body.end; ++i) {
        const bool declares = tokens[i].kind == TokenKind::identifier &&
                              tokens[i + 1].kind == TokenKind::identifier &&
                              tokens[i + 2].text == "[" &&
                              !is_one_of(tokens[i], {"return", "else", "delete", "case", "new"});
        const auto close = declares ? matching_close(tokens, i + 2) : std::nullopt;
        if (!close || has_word(tokens, {i + 3, *close}, {"sizeof", "decltype"})) continue;
        // Behind a macro that is a whole statement comes no declaration: such an array has no initializer.
        if (tokens[*close + 1].text == "=") continue;
        for (size_t at = i + 3; at < *close; ++at) {
            if (tokens[at].kind != TokenKind::identifier ||
                is_one_of(tokens[at - 1], {".", "->", "::"}) || tokens[at + 1].text == "::") {
                continue;
            }
            const Size size = size_by(tokens, function, tokens[at]);
            asks_compiler = asks_compiler || size == Size::perhaps;
            if (size != Size::of_running) continue;
            edits.fail(tokens[i + 1], "the array '" + tokens[i + 1].text + "' has " +
                                          text_of(tokens, {i + 3, *close}) +
                                          " elements, which is known only when the kernel runs: "
                                          "nvcc requires a constant, such as a template parameter" +
                                          (tokens[at].text == "warpSize" ? ", or 32" : ""));
        }
    }
    if (!asks_compiler) return;
    edits.insert(
        tokens[function.body.begin].begin,
        "_Pragma(\"GCC diagnostic push\") _Pragma(\"GCC diagnostic error \\\"-Wvla\\\"\") ");
    edits.insert(tokens[function.body.end].begin, "_Pragma(\"GCC diagnostic pop\") ");
}

// warpSize is no constant to nvcc, though each GPU has 32.
void rewrite_warp_size(const Tokens& tokens, const Declaration& function, Edits& edits) {
    for (size_t i = function.body.begin; i < function.body.end; ++i) {
        if (tokens[i].text != "warpSize" || is_one_of(tokens[i - 1], {".", "->", "::"})) continue;
        if (has_its_own(tokens, function, "warpSize")) return;
        edits.replace(tokens[i].begin, tokens[i].end, "::cpu_device::warp_size()");
    }
}

bool is_variable_of_device(const Tokens& tokens, const Declaration& declaration) {
    return !declaration.is_function && !declaration.in_class &&
           has_word(tokens, declaration.head, {"__device__", "__constant__", "__managed__"}) &&
           !has_word(tokens, declaration.head,
                     {"extern", "template", "typedef", "using", "__shared__", "struct", "class",
                      "union", "enum", "operator", "friend"});
}

// Which of the file's device functions each of them calls.
using Calls = std::map<std::string, std::set<std::string>>;

Calls calls_of(const Tokens& tokens, const std::vector<Declaration>& declarations) {
    // Of overloads one may well call another.
    std::map<std::string, int> definitions;
    for (const Declaration& function : declarations) {
        if (function.is_defined()) definitions[tokens[function.name].text]++;
    }
    Calls calls;
    for (const Declaration& function : declarations) {
        if (!function.is_defined() || !is_for_device(tokens, function)) continue;
        if (definitions[tokens[function.name].text] > 1) continue;
        std::set<std::string>& called = calls[tokens[function.name].text];
        for (size_t i = function.body.begin; i + 1 < function.body.end; ++i) {
            if (tokens[i].kind == TokenKind::identifier && is_one_of(tokens[i + 1], {"(", "<"}) &&
                !is_one_of(tokens[i - 1], {".", "->", "::"})) {
                called.insert(tokens[i].text);
            }
        }
    }
    return calls;
}

bool reaches(const Calls& calls, const std::string& from, const std::string& to) {
    std::set<std::string> seen;
    std::vector<std::string> left = {from};
    while (!left.empty()) {
        const auto function = calls.find(left.back());
        left.pop_back();
        if (function == calls.end()) continue;
        for (const std::string& called : function->second) {
            if (called == to) return true;
            if (seen.insert(called).second) left.push_back(called);
        }
    }
    return false;
}

}  // namespace

void begin_kernels(const Region& region, Edits& edits) {
    const Tokens& tokens = region.tokens;
    for (const Declaration& kernel : declarations_of(region)) {
        if (is_kernel(tokens, kernel) && kernel.in_class &&
            !has_word(tokens, kernel.head, {"friend"})) {
            edits.fail(tokens[kernel.name], "the kernel '" + tokens[kernel.name].text +
                                                "' is a member of a class, which nvcc refuses: "
                                                "define it outside");
        }
        if (kernel.is_defined() && is_for_device(tokens, kernel)) {
            refuse_variable_arrays(tokens, kernel, edits);
            rewrite_warp_size(tokens, kernel, edits);
        }
        if (!is_kernel(tokens, kernel)) continue;
        check_head(tokens, kernel, edits);
        if (!kernel.is_defined()) continue;
        const std::string& name = tokens[kernel.name].text;
        std::string begins =
            "CPU_DEVICE_BEGIN_KERNEL(\"" + name + "\", " + launch_bounds(tokens, kernel) + ") ";
        const std::string clusters = arguments_of(tokens, kernel, "__cluster_dims__");
        if (!clusters.empty()) {
            begins += "::cpu_device::require_clusters(" + clusters + "); ";
            if (has_word(tokens, kernel.head, {"template"})) {
                // They may depend on its parameters: each instance makes its own known, by a type in its body.
                std::string all;
                for (const auto& each : each_argument_of(tokens, kernel, "__cluster_dims__"))
                    all += ", " + each;
                begins +=
                    "struct cpu_device_clusters {}; (void)::cpu_device::clusters_of_instance<"
                    "cpu_device_clusters" +
                    all + ">.kernel; ";
            } else {
                edits.insert(tokens[kernel.body.end].end,
                             " [[maybe_unused]] static const ::cpu_device::KnownClusters "
                             "cpu_device_clusters_of_" +
                                 name + "(\"" + name + "\", " + clusters + ");");
            }
        }
        edits.insert(tokens[kernel.body.begin].begin, begins);
    }
}

void make_variables_known(const Region& region, Edits& edits) {
    const Tokens& tokens = region.tokens;
    for (const Declaration& declaration : declarations_of(region)) {
        if (!is_variable_of_device(tokens, declaration)) continue;
        std::string known;
        const bool managed = has_word(tokens, declaration.head, {"__managed__"});
        for (const Declarator& declarator : declarators_of(tokens, declaration.head)) {
            const std::string& name = tokens[declarator.name].text;
            known +=
                " [[maybe_unused]] static const ::cpu_device::KnownVariable cpu_device_knows_" +
                name + "(&" + name + ", sizeof " + name + ", \"" + name + "\"" +
                (managed ? ", true" : "") + ");";
        }
        edits.insert(tokens[declaration.head.end].end, known);
        const auto qualifier =
            std::find_if(tokens.begin() + static_cast<ptrdiff_t>(declaration.head.begin),
                         tokens.end(), [](const Token& token) {
                             return is_one_of(token, {"__device__", "__constant__", "__managed__"});
                         });
        edits.insert(
            qualifier->end,
            " CPU_DEVICE_CONSTINIT __attribute__((aligned(::cpu_device::kVariableAlignment)))");
    }
}

namespace {

// The name of the class that is defined here, no template; empty where none is. (Nor one that ends in an array
// without a size, of which g++ does not say what lies between its members.)
std::string defined_class(const Tokens& tokens, const Declaration& declaration) {
    if (declaration.is_function || declaration.in_class) return {};
    size_t i = declaration.head.begin;
    const bool is_typedef = tokens[i].text == "typedef";
    i += is_typedef ? 1 : 0;
    if (i >= declaration.head.end || !is_one_of(tokens[i], {"struct", "class", "union"})) return {};
    std::string name;
    for (++i; i < declaration.head.end && !is_one_of(tokens[i], {"{", ":"}); ++i) {
        const bool is_word = tokens[i].kind == TokenKind::identifier;
        if (is_open(tokens[i])) {
            i = matching_close(tokens, i).value_or(declaration.head.end);
        } else if (name.empty() && is_word && tokens[i + 1].text != "(") {
            name = tokens[i].text;
        } else if (!name.empty() && tokens[i].text != "final") {
            return {};  // a variable, a specialization
        }
    }
    while (i < declaration.head.end && tokens[i].text != "{") ++i;  // its bases
    if (i >= declaration.head.end) return {};
    const size_t behind = matching_close(tokens, i).value_or(i) + 1;
    for (; i < behind; ++i) {
        if (tokens[i].text == "[" && tokens[i + 1].text == "]") return {};
    }
    if (!is_typedef) return name;
    return tokens[behind].kind == TokenKind::identifier ? tokens[behind].text : name;
}

}  // namespace

void make_classes_known(const Region& region, Edits& edits) {
    const Tokens& tokens = region.tokens;
    for (const Declaration& declaration : declarations_of(region)) {
        const std::string name = defined_class(tokens, declaration);
        if (name.empty() || declaration.head.end >= tokens.size()) continue;
        edits.insert(tokens[declaration.head.end].end, " CPU_DEVICE_KNOW_CLASS(" + name + ")");
    }
}

namespace {

// A function that may be defined in another file. (`= default` and `= 0` say that it is not.)
bool is_declared_alone(const Tokens& tokens, const Declaration& function) {
    return function.is_function && !function.is_defined() &&
           !is_one_of(tokens[function.head.end - 1], {"default", "delete", "0"}) &&
           !has_word(tokens, function.head, {"template", "friend"});
}

}  // namespace

void call_what_cannot_be_inlined(const Region& region, Edits& edits) {
    const Tokens& tokens = region.tokens;
    const std::vector<Declaration> declarations = declarations_of(region);
    const Calls calls = calls_of(tokens, declarations);
    for (const Declaration& function : declarations) {
        if (!is_for_device(tokens, function) || is_kernel(tokens, function)) continue;
        const std::string& name = tokens[function.name].text;
        const bool recursive = reaches(calls, name, name);
        if (!recursive && !is_declared_alone(tokens, function)) continue;
        for (size_t i = function.head.begin; i < function.name; ++i) {
            const bool keeps_inline = tokens[i].text == "__forceinline__" && !recursive;
            // A macro that stands for it may stand for more.
            const bool is_macro = tokens[i].end - tokens[i].begin != tokens[i].text.size();
            if (is_one_of(tokens[i], {"__device__", "__forceinline__"}) && !keeps_inline &&
                !is_macro) {
                edits.replace(tokens[i].begin, tokens[i].end, "");
            }
        }
    }
}

void check_reads_by_exchange(const Region& region, Edits& edits) {
    const Tokens& tokens = region.tokens;
    for (const Declaration& function : declarations_of(region)) {
        if (!function.is_defined() || !is_for_device(tokens, function)) continue;
        for (size_t i = function.body.begin; i + 3 < function.body.end; ++i) {
            if (tokens[i].text != "atomicCAS" || tokens[i + 1].text != "(") continue;
            size_t comma = i + 2;
            while (comma < function.body.end && tokens[comma].text != ",") {
                if (is_open(tokens[comma])) comma = matching_close(tokens, comma).value_or(comma);
                ++comma;
            }
            // atomicCAS(x, ...) exchanges *x, atomicCAS(&x[i], ...) x[i].
            const bool of_place = tokens[i + 2].text == "&";
            const std::string place =
                (of_place ? "" : "*") + text_of(tokens, {of_place ? i + 3 : i + 2, comma});
            const size_t length = comma - i - 2 + (of_place ? 0 : 1) - (of_place ? 1 : 0);
            for (size_t at = function.body.begin; at + length < i; ++at) {
                if (tokens[at].text != "=" || text_of(tokens, {at + 1, at + 1 + length}) != place ||
                    !is_one_of(tokens[at + 1 + length], {",", ";"})) {
                    continue;
                }
                edits.insert(tokens[at + 1].begin, "::cpu_device::volatile_read(");
                edits.insert(tokens[at + length].end, ")");
                break;
            }
        }
    }
}

void number_barriers(const Region& region, Edits& edits) {
    const Tokens& tokens = region.tokens;
    unsigned number = 0;
    const Token* last = nullptr;
    for (size_t i = 0; i + 1 < tokens.size(); ++i) {
        if (tokens[i].text != "__syncthreads" || tokens[i + 1].text != "(") continue;
        const bool same_line =
            last != nullptr && edits.line_ends(last->begin, tokens[i].begin).empty();
        number = same_line ? number + 1 : 0;
        last = &tokens[i];
        if (number == 0) continue;
        edits.replace(tokens[i].begin, tokens[i + 1].end,
                      "::cpu_device::block_barrier_of_line(" + std::to_string(number));
    }
}

namespace {

// Whether the tokens say [const] void*.
bool is_void_pointer(const Tokens& tokens, Range range) {
    return range.end - range.begin >= 2 && tokens[range.end - 1].text == "*" &&
           has_word(tokens, range, {"void"});
}

// Whether what begins there is cast to void*: (void*)x or static_cast<void*>(x).
bool is_cast_to_void(const Tokens& tokens, size_t at) {
    if (at < 4) return false;
    if (tokens[at - 1].text == ")") {
        const auto open = matching_open(tokens, at - 1);
        return open && is_void_pointer(tokens, {*open + 1, at - 1});
    }
    if (tokens[at - 1].text != "(" || tokens[at - 2].text != ">") return false;
    const auto open = matching_angle(tokens, at - 2);
    return open && *open > 0 && is_one_of(tokens[*open - 1], {"reinterpret_cast", "static_cast"}) &&
           is_void_pointer(tokens, {*open + 1, at - 2});
}

// Whether what begins there initializes a variable whose type is auto, which may be cast later: auto* x = &kernel<int>;
bool initializes_auto(const Tokens& tokens, size_t at) {
    if (at < 4 || tokens[at - 1].text != "=") return false;
    size_t i = at - 3;
    while (i > 0 && is_one_of(tokens[i], {"*", "const"})) --i;
    return i > 0 && tokens[i].text == "auto" &&
           is_one_of(tokens[i - 1], {"{", "}", ";", ")", "const"});
}

// Behind a name and its template arguments, if it has any.
size_t end_of_name(const Tokens& tokens, size_t name) {
    if (name + 1 >= tokens.size() || tokens[name + 1].text != "<") return name + 1;
    int angles = 0;
    for (size_t i = name + 1; i < tokens.size() && tokens[i].text != ";"; ++i) {
        if (is_open(tokens[i])) i = matching_close(tokens, i).value_or(i);
        if (tokens[i].text == "<") ++angles;
        if (tokens[i].text == ">" && --angles == 0) return i + 1;
    }
    return name + 1;
}

}  // namespace

void make_cast_kernels_known(const Region& region, Edits& edits) {
    const Tokens& tokens = region.tokens;
    std::set<std::string> kernels;
    for (const Declaration& declaration : declarations_of(region)) {
        if (is_kernel(tokens, declaration)) kernels.insert(tokens[declaration.name].text);
    }
    for (size_t i = 1; i < tokens.size(); ++i) {
        if (kernels.count(tokens[i].text) == 0) continue;
        size_t begin = i;
        while (begin >= 2 && tokens[begin - 1].text == "::" &&
               tokens[begin - 2].kind == TokenKind::identifier) {
            begin -= 2;
        }
        if (tokens[begin - 1].text == "::") --begin;
        if (tokens[begin - 1].text == "&") --begin;
        if (!is_cast_to_void(tokens, begin) && !initializes_auto(tokens, begin)) continue;
        edits.insert(tokens[begin].begin, "::cpu_device::known_kernel(");
        edits.insert(tokens[end_of_name(tokens, i) - 1].end, ")");
    }
}

void uncast_kernels(const Region& region, Edits& edits) {
    const Tokens& tokens = region.tokens;
    for (size_t i = 0; i + 2 < tokens.size(); ++i) {
        if (!is_one_of(tokens[i], {"cudaLaunchKernel", "cudaLaunchCooperativeKernel"}) ||
            tokens[i + 1].text != "(") {
            continue;
        }
        const size_t first = i + 2;
        const auto close = matching_close(tokens, first);
        if (tokens[first].text == "(" && close &&
            is_one_of(tokens[*close - 1], {"*"})) {  // (void*)kernel, (const void*)&kernel
            edits.replace(tokens[first].begin, tokens[*close].end, "");
        } else if (is_one_of(tokens[first], {"reinterpret_cast", "static_cast"})) {
            size_t open = first;
            while (open < tokens.size() && tokens[open].text != "(") ++open;
            if (open < tokens.size()) edits.replace(tokens[first].begin, tokens[open].begin, "");
        }
    }
}

}  // namespace translate
