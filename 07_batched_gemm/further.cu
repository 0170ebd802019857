// SPDX-License-Identifier: MIT
// Describes the whole of stage 07: the lesson and the variants beyond it.
#include "07_batched_gemm/variants.hpp"

runner::Stage lesson_07_batched_gemm();

runner::Stage describe_07_batched_gemm() {
    runner::Stage stage = lesson_07_batched_gemm();
    for (const runner::Variant& variant : batched_gemm_variants::mma_variants())
        stage.variants.push_back(variant);
    return stage;
}
