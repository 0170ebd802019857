// SPDX-License-Identifier: MIT
// Stage 05: four rows a block, and rows that a block does not keep.
#include "05_smem_softmax/lesson.hpp"

std::vector<runner::Variant> smem_softmax_lesson::four_rows_variants() {
    const runner::Variant packed = variant_of<smem_softmax::Packed, 4>(
        "four_rows_packed", "four rows a block, in their order: conflicts");
    const runner::Variant interleaved = variant_of<smem_softmax::Interleaved, 4>(
        "four_rows_interleaved", "four rows a block, packs split up: none");
    return {packed, interleaved};
}

runner::Variant smem_softmax_lesson::uncached_variant() {
    runner::Variant uncached =
        variant_of<smem_softmax::Uncached>("uncached", "any width: x is read three times");
    uncached.traffic = {3, 1};
    uncached.obstacle = {};
    uncached.partial_sums = threads_per_row<1024, 8>;
    return uncached;
}
