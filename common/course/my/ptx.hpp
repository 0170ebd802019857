// SPDX-License-Identifier: MIT
//
// The loads and stores that nvcc makes of a program, as its PTX has them with -lineinfo, beside those that
// are written.
#pragma once

#include <cstdint>
#include <istream>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "common/xray/counted.hpp"

namespace my {

// Where accesses of one kind stand: a kernel without its template arguments, a line.
struct PtxPlace {
    std::string kernel;
    std::string file;
    unsigned line = 0;
    xray::AccessKind kind{};

    friend bool operator<(const PtxPlace& a, const PtxPlace& b) {
        return std::tie(a.file, a.line, a.kind, a.kernel) <
               std::tie(b.file, b.line, b.kind, b.kernel);
    }
};

// How many instructions there are, by the bytes that a thread moves with each. Of those for matrices nobody says
// how many: a line that has one is not compared.
constexpr unsigned kUnknownBytes = 0;
using Widths = std::map<unsigned, int64_t>;
using Instructions = std::map<PtxPlace, Widths>;

// Of files as nvcc names them; line 0 is of accesses that nvcc made of several lines'. What stands in the toolkit's
// headers is its caller's.
Instructions instructions_in(std::istream& ptx);

// Of what was counted: every place of a kernel that some warp came to. Apart from the others those of the
// program's variables, of which nothing here says whether they are __device__ or __constant__: PTX has
// global memory for the first alone.
struct Written {
    Instructions all_else, of_variables;
};
Written instructions_in(const xray::Counted& counted);

struct PtxDifference {
    PtxPlace place;
    std::vector<PtxPlace> merged_with;  // of the kernel's: nvcc made some of theirs one, of no line
    Widths written, compiled;
};

// Where the two differ, in kernels and lines that were run. A file of `written` is taken for one of
// `compiled` whose path ends so.
std::vector<PtxDifference> differences(const Written& written, const Instructions& compiled);

// "my/x.cu:12, 14 global loads: 2 of 4 bytes written, 1 of 8 bytes compiled".
std::string text_of(const PtxDifference& difference);

}  // namespace my
