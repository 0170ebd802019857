// SPDX-License-Identifier: MIT
// What a cut of row_plan.cuh costs, for the descriptions of variants.
#pragma once
#include <algorithm>

#include "common/runner/stage.hpp"
#include "further/row_plan.cuh"

namespace smem_softmax {

// Returns the number of packs in a row.
inline int64_t packs_of_row(int64_t cols, runner::DType dtype) {
    return cols * static_cast<int64_t>(runner::size_of(dtype)) / 16;
}

// Returns the number of threads of a row that have at least one pack.
inline int64_t threads_of(const Cut& cut, int64_t packs) {
    return std::clamp<int64_t>(int64_t{cut.blocks} * cut.slice.threads, 1,
                               std::max<int64_t>(1, packs));
}

// Returns the accesses per element of a row of this many packs; blocks read the packs that they
// cannot keep twice.
inline runner::Traffic traffic_of(const Cut& cut, int64_t packs) {
    const Slice& slice = cut.slice;
    const int64_t kept = slice.on_chip();
    int64_t again = 0;
    for (int64_t block = 0; block < cut.blocks; ++block) {
        again += std::max<int64_t>(0, std::min(slice.packs, packs - block * slice.packs) - kept);
    }
    const double share = packs == 0 ? 0 : static_cast<double>(again) / static_cast<double>(packs);
    return {slice.tensors * (1 + share), 1};
}

}  // namespace smem_softmax
