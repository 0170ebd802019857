// SPDX-License-Identifier: MIT
// Stage 05: rows that shared memory keeps element by element.
#include "05_smem_softmax/lesson.hpp"

std::vector<runner::Variant> smem_softmax_lesson::by_element_variants() {
    const runner::Variant four_packed = variant_of<smem_softmax::Packed, 4>(
        "four_rows_packed", "four rows a block, in their order: conflicts");
    const runner::Variant four_interleaved = variant_of<smem_softmax::Interleaved, 4>(
        "four_rows_interleaved", "four rows a block, packs split up: none");
    // Of one row, nvcc knows where it lies.
    runner::Variant packed =
        variant_of<smem_softmax::Packed>("packed", "a row a block: nvcc fuses what conflicts");
    packed.shared_accesses_fuse = true;
    return {four_packed, four_interleaved, packed};
}
