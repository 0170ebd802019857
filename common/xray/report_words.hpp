// SPDX-License-Identifier: MIT
//
// How numbers and kinds of accesses are called, on the page and in JSON.
#pragma once

#include <string>
#include <vector>

#include "counts.hpp"
#include "source_map.hpp"

namespace xray {

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

}  // namespace xray
