// SPDX-License-Identifier: MIT
//
// How nvcc was seen to unroll the kernels' loops: NN_name/expected/unrolled_loops.json, which
// unrolled_loops.py writes from machine code.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "count_unrolled.hpp"
#include "source_map.hpp"

namespace xray {

class RecordedLoops {
public:
    // Adds what a file says; nothing where there is no such file. Throws std::runtime_error where it is of another kind.
    void add(const std::string& path);

    // Of the loop around an access; nothing where it is not unrolled, or nobody knows.
    std::optional<Unrolling> find(const SourceMap& sources, const Site& site) const;

private:
    using Key =
        std::tuple<std::string, AccessKind, std::string>;  // the kernel's instance, the lines
    std::map<Key, Unrolling> loops_;
};

// Those of all stages, read once.
const RecordedLoops& recorded_loops();

}  // namespace xray
