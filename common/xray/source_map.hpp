// SPDX-License-Identifier: MIT
//
// Which line of whose code an access stands on.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

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
    bool in_cub(uintptr_t place) const { return line_of(place).in_cub; }

    // "file:line".
    std::string text_of(uintptr_t place) const;

    // What stands on the line, without the blanks around it; empty if the file cannot be read.
    std::string source_of(const Line& line) const;

private:
    std::map<uintptr_t, Line> lines_;
    mutable std::map<std::string, std::vector<std::string>> files_;  // read so far
};

}  // namespace xray
