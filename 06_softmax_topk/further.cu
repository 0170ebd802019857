// SPDX-License-Identifier: MIT
// Adds the variants beyond the lesson of stage 06.
#include "06_softmax_topk/variants.hpp"

runner::Stage lesson_06_softmax_topk();

runner::Stage describe_06_softmax_topk() {
    runner::Stage stage = lesson_06_softmax_topk();
    for (const auto& more : {softmax_topk::fast_variants(), softmax_topk::sampling_variants()})
        stage.variants.insert(stage.variants.end(), more.begin(), more.end());
    return stage;
}
