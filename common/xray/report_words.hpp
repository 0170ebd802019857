// SPDX-License-Identifier: MIT
//
// How numbers and kinds of accesses are called, on the page and in JSON.
#pragma once

#include <string>
#include <vector>

#include "counted.hpp"
#include "counts.hpp"
#include "source_map.hpp"

namespace xray {

constexpr size_t kPageWidth = 80;
constexpr size_t kScreenHeight = 40;  // lines that are printed without being asked for

// A line of names and code: cut to the columns that there are.
std::string line_of_page(const std::string& text);

// What of the kernel's asynchronous instructions is counted nowhere, in words; empty where it has none.
std::string not_modelled(const KernelCounts& kernel);

// The end of a line's name, "file:line", where it is too long: its number stands there.
std::string end_of(const std::string& text, size_t most);

// Such a name as a line of its own.
std::string place_of_page(size_t indent, const std::string& place);

// A line of numbers: continued on another where they are too large for one.
std::string numbers(const std::string& text);

// Lines of a text.
size_t height_of(const std::string& text);

// Whether a GPU counts something else of these accesses, because nvcc unrolls the loop around them.
bool differs_unrolled(const Counts& counts);

__attribute__((format(printf, 1, 2))) std::string format(const char* format, ...);

// 0 where b is.
double ratio(int64_t a, int64_t b);
double moved_per_byte_asked(const Counts& counts);  // of global memory

// 16384 as "16,384".
std::string grouped(int64_t value);

struct Word {
    AccessKind kind;
    const char* plural;  // in tables
    const char* key;     // in JSON
};
const std::vector<Word>& all_words();
const Word& word_for(AccessKind kind);

// A kernel's accesses of one kind: its own, those that CUB makes for itself, and the loads of tensor cores'
// operands.
struct Split {
    Counts own, cub, matrices;
};
Split split(const KernelCounts& kernel, const SourceMap& sources, AccessKind kind);

// Bank conflicts of the compiled kernel, in all loads and stores of shared memory.
int64_t conflicts_of(const KernelCounts& kernel, const Counted& counted);

// Lanes in order: "0, 1, 8-15".
std::string text_of_lanes(unsigned lanes);

}  // namespace xray
