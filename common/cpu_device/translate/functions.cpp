// SPDX-License-Identifier: MIT
#include "common/cpu_device/translate/functions.hpp"

#include <algorithm>
#include <map>

#include "common/cpu_device/translate/outline.hpp"
#include "common/cpu_device/translate/own_names.hpp"
#include "common/cpu_device/translate/places.hpp"
#include "common/cpu_device/translate/tokens.hpp"

namespace translate {
namespace {

// Functions that are defined here for the host alone.
std::set<std::string> host_functions(const Tokens& tokens,
                                     const std::vector<Declaration>& declarations) {
    std::set<std::string> host;
    for (const Declaration& function : declarations) {
        if (!function.is_defined() || function.in_class) continue;
        const Range before{function.head.begin, function.name};
        const bool perhaps_more =
            has_word(tokens, function.head,
                     {"__device__", "__global__", "constexpr", "consteval"}) ||
            std::any_of(tokens.begin() + static_cast<ptrdiff_t>(before.begin),
                        tokens.begin() + static_cast<ptrdiff_t>(before.end),
                        [](const Token& token) { return is_like_a_macro(token.text); }) ||
            tokens[function.name - 1].text == "::" || before.begin == before.end;
        if (!perhaps_more) host.insert(tokens[function.name].text);
    }
    for (const Declaration& function : declarations) {
        if (is_for_device(tokens, function)) host.erase(tokens[function.name].text);
    }
    return host;
}

// Functions that are defined here for the device alone.
std::set<std::string> device_functions(const Tokens& tokens,
                                       const std::vector<Declaration>& declarations) {
    std::set<std::string> device;
    const auto is_for_it_alone = [&](const Declaration& function) {
        return has_word(tokens, function.head, {"__device__"}) &&
               !has_word(tokens, function.head, {"__host__", "constexpr", "consteval"}) &&
               std::none_of(tokens.begin() + static_cast<ptrdiff_t>(function.head.begin),
                            tokens.begin() + static_cast<ptrdiff_t>(function.name),
                            [](const Token& token) { return is_like_a_macro(token.text); });
    };
    for (const Declaration& function : declarations) {
        if (function.is_defined() && !function.in_class && is_for_it_alone(function)) {
            device.insert(tokens[function.name].text);
        }
    }
    for (const Declaration& function : declarations) {
        if (function.is_function && !is_for_it_alone(function)) {
            device.erase(tokens[function.name].text);
        }
    }
    return device;
}

// Whether there is something like [=] or [&x]: what stands in it may be for the device.
bool has_lambda(const Tokens& tokens, Range range) {
    for (size_t i = range.begin; i + 1 < range.end; ++i) {
        const bool opens =
            tokens[i].text == "[" && i > 0 &&
            is_one_of(tokens[i - 1], {"(", ",", "=", "return", "{", ";", "&&", "||"});
        if (opens) return true;
    }
    return false;
}

}  // namespace

void Functions::add(const Functions& others) {
    host.insert(others.host.begin(), others.host.end());
    device.insert(others.device.begin(), others.device.end());
    for_device.insert(others.for_device.begin(), others.for_device.end());
    for_host.insert(others.for_host.begin(), others.for_host.end());
    declared.insert(others.declared.begin(), others.declared.end());
    variables.add(others.variables);
    macros.add(others.macros);
    for (const std::string& name : for_device) host.erase(name);
    for (const std::string& name : for_host) device.erase(name);
}

namespace {

Functions functions_in(const Tokens& tokens, const std::vector<Declaration>& declarations) {
    Functions found;
    found.host = host_functions(tokens, declarations);
    found.device = device_functions(tokens, declarations);
    for (const Declaration& function : declarations) {
        if (!function.is_function || function.in_class) continue;
        const std::string& name = tokens[function.name].text;
        found.declared.insert(name);
        if (found.host.count(name) == 0) found.for_device.insert(name);
        if (found.device.count(name) == 0) found.for_host.insert(name);
    }
    return found;
}

Functions together(const Tokens& tokens, const std::vector<Declaration>& declarations,
                   const Functions& included) {
    Functions all = functions_in(tokens, declarations);
    all.add(included);
    return all;
}

// What to do in place of calling that function of the C library's; null where there is no such function.
const char* in_place_of_c(const Token& token) {
    if (is_one_of(token, {"rand", "srand", "random", "drand48", "rand_r"}))
        return ": make numbers of the thread's index, or copy some there";
    if (is_one_of(token, {"sprintf", "snprintf", "fprintf", "vprintf", "puts", "putchar", "fputs"}))
        return ": printf prints there";
    if (is_one_of(token, {"exit", "_exit", "abort"}))
        return ": return ends a thread, __trap() the launch";
    if (is_one_of(token, {"time", "gettimeofday", "clock_gettime"}))
        return ": clock64() counts there";
    if (is_one_of(token, {"scanf",   "sscanf", "getchar", "fopen",   "fclose", "fread",
                          "fwrite",  "fflush", "getenv",  "system",  "strlen", "strcmp",
                          "strncmp", "strcpy", "strncpy", "strcat",  "atoi",   "atof",
                          "strtol",  "qsort",  "usleep",  "memmove", "memcmp"}))
        return "";
    return nullptr;
}

// What of the standard library is for the host alone, and what to do; null where it is nothing of that.
const char* in_place_of_std(const Token& token) {
    if (is_one_of(token, {"cout", "cerr", "clog", "endl", "ofstream", "ifstream", "stringstream",
                          "ostringstream", "to_string"}))
        return "printf prints there";
    if (is_one_of(token, {"vector", "string", "map", "unordered_map", "set", "list", "deque",
                          "unique_ptr", "shared_ptr", "make_unique", "make_shared"}))
        return "printf prints there, and arrays have a constant size";
    if (is_one_of(token, {"sort", "swap", "fill", "copy", "accumulate", "reverse", "iota",
                          "transform", "for_each", "min_element", "max_element"}))
        return "write out what it does";
    if (is_one_of(token, {"function"}))
        return "a template's parameter takes a lambda with __device__";
    if (is_one_of(token,
                  {"mt19937", "mt19937_64", "random_device", "default_random_engine",
                   "uniform_real_distribution", "uniform_int_distribution", "normal_distribution"}))
        return "make numbers of the thread's index, or copy some there";
    if (is_one_of(token, {"thread", "mutex", "lock_guard", "chrono", "runtime_error"}))
        return "a kernel has none of it";
    return nullptr;
}

// name<<<1, 32>>>(), where name is a function and no kernel, also not one of an included file.
void refuse_launches_of_functions(const Tokens& tokens,
                                  const std::vector<Declaration>& declarations,
                                  const Functions& included, Edits& edits) {
    std::map<std::string, bool> functions;  // whether they are the device's
    for (const Declaration& function : declarations) {
        const std::string& name = tokens[function.name].text;
        if (!function.is_defined() || function.in_class || included.for_device.count(name) != 0) {
            continue;
        }
        functions[name] = is_for_device(tokens, function);
    }
    for (const Declaration& function : declarations) {
        const bool perhaps_kernel =
            function.is_function &&
            (is_kernel(tokens, function) ||
             std::any_of(tokens.begin() + static_cast<ptrdiff_t>(function.head.begin),
                         tokens.begin() + static_cast<ptrdiff_t>(function.name),
                         [](const Token& token) { return is_like_a_macro(token.text); }));
        if (perhaps_kernel) functions.erase(tokens[function.name].text);
    }
    for (const Declaration& function : declarations) {
        if (!function.is_defined()) continue;
        for (size_t i = function.body.begin + 1; i < function.body.end; ++i) {
            if (tokens[i].text != "<<<") continue;
            size_t name = i - 1;
            if (tokens[name].text == ">") name = matching_angle(tokens, name).value_or(1) - 1;
            const auto launched = functions.find(tokens[name].text);
            if (launched == functions.end() || has_its_own(tokens, function, launched->first) ||
                (name > 0 && is_one_of(tokens[name - 1], {".", "->", "::"}))) {
                continue;
            }
            const bool of_device = launched->second;
            edits.fail(tokens[name],
                       "'" + launched->first + "' is launched, and is a function of the " +
                           (of_device ? "device" : "host") + ": a kernel has __global__ " +
                           (of_device ? "in place of __device__" : "before its void"));
        }
    }
}

}  // namespace

Functions functions_of(const std::string& source) {
    Functions all;
    std::vector<Region> regions = regions_of(source);
    all.macros = macros_of(regions);
    spell_out(all.macros, regions);
    for (const Region& region : regions) {
        if (region.is_macro) continue;
        all.add(functions_in(region.tokens, declarations_of(region)));
        all.variables.add(host_variables_of(region));
    }
    return all;
}

void refuse_host_functions(const Region& region, const Functions& included, Edits& edits) {
    const Tokens& tokens = region.tokens;
    const std::vector<Declaration> declarations = declarations_of(region);
    const Functions functions = together(tokens, declarations, included);
    refuse_launches_of_functions(tokens, declarations, included, edits);
    for (const Declaration& function : declarations) {
        if (!function.is_defined() || !is_for_device(tokens, function)) continue;
        // What is for both sides may have a way for the host: nvcc, too, only warns.
        if (has_word(tokens, function.head, {"__host__"})) continue;
        const std::string runs = "'" + tokens[function.name].text + "' runs on the device and ";
        for (size_t i = function.name + 1; i + 1 < function.body.end; ++i) {
            const std::string& name = tokens[i].text;
            const bool of_std = is_of_std(tokens, i);
            if (const char* const instead = of_std ? in_place_of_std(tokens[i]) : nullptr) {
                edits.fail(tokens[i], runs + "uses 'std::" + name +
                                          "', which is for the host alone: " + instead);
            }
            if (i < function.body.begin || tokens[i + 1].text != "(" ||
                is_one_of(tokens[i - 1], {".", "->"}) || (tokens[i - 1].text == "::" && !of_std)) {
                continue;
            }
            const char* const instead = in_place_of_c(tokens[i]);
            if (instead != nullptr && functions.declared.count(name) == 0 &&
                !has_its_own(tokens, function, name)) {
                edits.fail(tokens[i], runs + "calls '" + name +
                                          "', a function of the C library for the host alone" +
                                          instead);
            }
            // The device has its own max and min, whatever has that name in some namespace.
            if (of_std || is_one_of(tokens[i], {"max", "min"}) || functions.host.count(name) == 0 ||
                has_its_own(tokens, function, name)) {
                continue;
            }
            edits.fail(tokens[i], runs + "calls '" + name +
                                      "', a function of the host: write __device__ before " +
                                      "the definition of '" + name + "'");
        }
    }
}

void refuse_device_functions(const Region& region, const Functions& included, Edits& edits) {
    const Tokens& tokens = region.tokens;
    const std::vector<Declaration> declarations = declarations_of(region);
    const std::set<std::string> host = host_functions(tokens, declarations);
    const std::set<std::string> device = together(tokens, declarations, included).device;
    for (const Declaration& function : declarations) {
        // What a macro or a template's argument makes of it may be anything.
        if (!function.is_defined() || function.in_class ||
            host.count(tokens[function.name].text) == 0 ||
            has_word(tokens, function.head, {"template"}) || has_lambda(tokens, function.body)) {
            continue;
        }
        for (size_t i = function.body.begin; i + 1 < function.body.end; ++i) {
            const std::string& name = tokens[i].text;
            if (is_one_of(tokens[i - 1], {".", "->", "::"}) ||
                has_its_own(tokens, function, name)) {
                continue;
            }
            const std::string runs = "'" + tokens[function.name].text + "' runs on the host and ";
            if (is_one_of(tokens[i], {"threadIdx", "blockIdx"}) && tokens[i + 1].text == ".") {
                edits.fail(tokens[i], runs + "asks for '" + name +
                                          "', which threads of a kernel have: write __device__ "
                                          "before the definition of '" +
                                          tokens[function.name].text + "', or launch a kernel");
            } else if (tokens[i + 1].text == "(" && device.count(name) != 0) {
                edits.fail(tokens[i], runs + "calls '" + name +
                                          "', a function of the device: write __host__ __device__ "
                                          "before the definition of '" +
                                          name + "'");
            }
        }
    }
}

}  // namespace translate
