// SPDX-License-Identifier: MIT
// Describes how the course checks and measures the lesson of stage 08: each fused kernel against the chain it replaces.
// further.cu adds the variants of further/.
#include "08_encoder_fusions/variants.hpp"

runner::Stage lesson_08_encoder_fusions() {
    using namespace encoder_fusions_variants;
    runner::Stage stage;
    stage.name = "08_encoder_fusions";
    stage.title = "an encoder layer, its kernels fused";
    stage.measured = {DType::float16, DType::float32};
    for (const runner::Variant& variant : variants_of_fusions())
        if (!variant.further) stage.variants.push_back(variant);
    return stage;
}
