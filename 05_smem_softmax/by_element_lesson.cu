// SPDX-License-Identifier: MIT
// The variants of stage 05 that store a row in shared memory element by element.
#include "05_smem_softmax/lesson.hpp"

std::vector<runner::Variant> smem_softmax_lesson::by_element_variants() {
    const runner::Variant four_packed = variant_of<smem_softmax::Packed, 4>(
        "four_rows_packed", "four rows per block, in row order: conflicts");
    const runner::Variant four_interleaved = variant_of<smem_softmax::Interleaved, 4>(
        "four_rows_interleaved", "four rows per block, packs split: none");
    // With one row per block, nvcc knows where the row starts.
    runner::Variant packed =
        variant_of<smem_softmax::Packed>("packed", "a row per block: nvcc removes the conflicts");
    packed.shared_accesses_fuse = true;
    return {four_packed, four_interleaved, packed};
}
