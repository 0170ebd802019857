// SPDX-License-Identifier: MIT
// How the course checks and measures stage 05, its lesson, against stage 04. further.cu adds what goes beyond it.
#include "05_smem_softmax/lesson.hpp"

runner::Stage lesson_05_smem_softmax() {
    using namespace smem_softmax_lesson;
    // Of one row, nvcc knows where it lies.
    runner::Variant packed =
        variant_of<smem_softmax::Packed>("packed", "a row a block: nvcc fuses what conflicts");
    packed.shared_accesses_fuse = true;
    const runner::Variant softmax =
        variant_of<smem_softmax::Whole>("softmax", "16 bytes at a time, in and out");

    runner::Stage stage;
    stage.name = "05_smem_softmax";
    stage.title = "a row lives in shared memory";
    stage.variants = four_rows_variants();
    stage.variants.insert(stage.variants.end(), {packed, softmax, uncached_variant()});
    stage.baseline = baseline_variant();
    return stage;
}
