// SPDX-License-Identifier: MIT
// Describes stage 05's lesson for checks and measurements, compared with stage 04. further.cu adds the other
// variants.
#include "05_smem_softmax/lesson.hpp"

runner::Stage lesson_05_smem_softmax() {
    using namespace smem_softmax_lesson;
    const runner::Variant softmax =
        variant_of<smem_softmax::Whole>("softmax", "16 bytes per access to shared memory");

    runner::Variant uncached =
        variant_of<smem_softmax::Uncached>("uncached", "any width: reads x three times");
    uncached.traffic = {3, 1};
    uncached.obstacle = {};
    uncached.partial_sums = threads_per_row<1024, 8>;

    runner::Stage stage;
    stage.name = "05_smem_softmax";
    stage.title = "a row stays in shared memory";
    stage.variants = by_element_variants();
    stage.variants.insert(stage.variants.end(), {softmax, uncached});
    stage.baseline = baseline_variant();
    return stage;
}
