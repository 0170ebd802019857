// SPDX-License-Identifier: MIT
#pragma once
#include <map>
#include <set>
#include <string>

#include "common/cpu_device/translate/lexer.hpp"
#include "common/cpu_device/translate/tokens.hpp"

namespace translate {

// Who runs a function.
enum class Side { host, device, both };

// Macros that may stand for __device__ and its like: their names, and the words that each stands for. (A macro with
// a semicolon is code, and not among them.)
struct Macros {
    std::map<std::string, std::set<std::string>> words;
    std::set<std::string> with_parameters;

    void add(const Macros& others);
};
Macros macros_of(const std::vector<Region>& regions);

// Puts __host__, __device__ and __global__ behind each macro without parameters that stands for them.
void spell_out(const Macros& macros, std::vector<Region>& regions);

// The side of a function by what stands before its name, or of a lambda by what stands behind its brackets. A constexpr
// function is for both sides, as with nvcc's --expt-relaxed-constexpr, and so is one whose macro is not known.
Side side_of(const Tokens& tokens, Range head, const Macros& macros);

// Whether such a range names a side at all.
bool names_side(const Tokens& tokens, Range head, const Macros& macros);

}  // namespace translate
