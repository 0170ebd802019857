// SPDX-License-Identifier: MIT
//
// The launchers that a header defines, by its text: functions outside classes that return a cudaError_t and take a
// cudaStream_t last.
#pragma once
#include <string>
#include <vector>

namespace my {

struct LauncherText {
    std::string name;  // with its namespaces: "online_softmax::block_per_row"
    // The lines that begin with `takes:` in the last comment above it, in the same namespace or around it, without that
    // word and joined by commas.
    std::string takes;
};

// In their order; overloads each.
std::vector<LauncherText> launchers_in(const std::string& text);

// Whether the word stands anywhere outside comments and strings.
bool has_word(const std::string& text, const std::string& word);

// The one that is meant: `asked`, whose namespaces and template arguments may be left out, or, where that is empty,
// launch() or the only one there is. UsageError, with those that there are, where that is not clear; `wanted` says
// what one looks like.
LauncherText chosen_launcher(const std::string& text, const std::string& asked,
                             const std::string& wanted);

}  // namespace my
