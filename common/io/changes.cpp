// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
#include "common/io/changes.hpp"

#include <algorithm>

namespace io {

std::vector<ChangedLine> changes(const std::vector<std::string>& before,
                                 const std::vector<std::string>& after) {
    // common[i][j]: of the lines from i and j on, how many both can have in common.
    std::vector<std::vector<int>> common(before.size() + 1, std::vector<int>(after.size() + 1, 0));
    for (size_t i = before.size(); i-- > 0;) {
        for (size_t j = after.size(); j-- > 0;) {
            common[i][j] = before[i] == after[j] ? common[i + 1][j + 1] + 1
                                                 : std::max(common[i + 1][j], common[i][j + 1]);
        }
    }
    std::vector<ChangedLine> all;
    size_t i = 0, j = 0;
    while (i < before.size() || j < after.size()) {
        if (i < before.size() && j < after.size() && before[i] == after[j]) {
            all.push_back({ChangedLine::Kind::same, after[j]});
            ++i, ++j;
        } else if (i < before.size() &&
                   (j == after.size() || common[i + 1][j] >= common[i][j + 1])) {
            all.push_back({ChangedLine::Kind::removed, before[i++]});
        } else {
            all.push_back({ChangedLine::Kind::added, after[j++]});
        }
    }
    return all;
}

}  // namespace io
