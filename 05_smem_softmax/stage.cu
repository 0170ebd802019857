// SPDX-License-Identifier: MIT
// How the course checks and measures stage 05, its lesson, against stage 04. further.cu adds what goes beyond it.
#include "05_smem_softmax/lesson.hpp"

runner::Stage lesson_05_smem_softmax() {
    using namespace smem_softmax_lesson;
    const runner::Variant softmax =
        variant_of<smem_softmax::Whole>("softmax", "16 bytes at a time, in and out");

    runner::Variant uncached =
        variant_of<smem_softmax::Uncached>("uncached", "any width: x is read three times");
    uncached.traffic = {3, 1};
    uncached.obstacle = {};
    uncached.partial_sums = threads_per_row<1024, 8>;

    runner::Stage stage;
    stage.name = "05_smem_softmax";
    stage.title = "a row lives in shared memory";
    stage.variants = by_element_variants();
    stage.variants.insert(stage.variants.end(), {softmax, uncached});
    stage.baseline = baseline_variant();
    return stage;
}
