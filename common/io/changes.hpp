// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// Two texts side by side: which lines are new in the second.
#pragma once
#include <string>
#include <vector>

namespace io {

struct ChangedLine {
    enum class Kind { same, removed, added };
    Kind kind;
    std::string text;
};

// All lines of both, in order, with as few changes as there can be; what is removed stands before what takes its place.
std::vector<ChangedLine> changes(const std::vector<std::string>& before,
                                 const std::vector<std::string>& after);

}  // namespace io
