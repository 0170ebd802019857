// SPDX-License-Identifier: MIT
//
// Which line of whose code an access stands on.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "common/cpu_device/symbolize.hpp"
#include "counts.hpp"

namespace xray {

// A line of the user's sources. Of what a collective of CUB does, the line that calls it.
struct Line {
    std::string file;  // from the repository's root where it lies in there
    unsigned number = 0;
    bool in_cub = false;  // an access that CUB makes for itself

    friend bool operator<(const Line& a, const Line& b) {
        return std::tie(a.file, a.number, a.in_cub) < std::tie(b.file, b.number, b.in_cub);
    }
};

class SourceMap {
public:
    // Looks up every place in `kernels`, hazards included, at one go.
    explicit SourceMap(const std::vector<KernelCounts>& kernels);

    // The file is empty for a place without debug information.
    const Line& line_of(uintptr_t place) const;

    // The lines that call the function of that line, whose callers come next, up to the kernel. (A
    // kernel on the CPU device is one function: what it calls is inlined.)
    const std::vector<Line>& callers_of(uintptr_t place) const;

    bool in_cub(uintptr_t place) const { return line_of(place).in_cub; }

    // Whether a warp loads a tensor core's operands there, by one instruction, in a function that is called
    // `ldmatrix` or in wmma's load_matrix_sync; or stores results by stmatrix.
    bool moves_matrices(uintptr_t place) const { return at(place).moves_matrices; }

    // The kernel, with its template's arguments: "online_softmax::block_per_row_kernel<256>".
    const std::string& kernel_of(uintptr_t place) const;

    // Of the lines of its file that read the same, which one it is, from 1 on; 0 if the file cannot be read.
    unsigned which_of(const Line& line) const;

    // "file:line", printable.
    std::string text_of(uintptr_t place) const;

    // What stands on the line, printable, without the blanks around it; empty if the file cannot be
    // read.
    std::string source_of(const Line& line) const;

private:
    struct Stack {
        Line line;
        std::vector<Line> callers;
        std::string kernel;
        bool moves_matrices = false;
    };
    static Stack stack_of(const std::vector<cpu_device::SourceLine>& chain);
    const Stack& at(uintptr_t place) const;
    const std::vector<std::string>& lines_in(const std::string& file) const;

    std::map<uintptr_t, Stack> stacks_;
    mutable std::map<std::string, std::vector<std::string>> files_;  // read so far
};

}  // namespace xray
