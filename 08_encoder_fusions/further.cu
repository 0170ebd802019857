// SPDX-License-Identifier: MIT
// Describes the whole of stage 08: the lesson and the variants of further/.
#include "08_encoder_fusions/variants.hpp"

runner::Stage lesson_08_encoder_fusions();

runner::Stage describe_08_encoder_fusions() {
    using namespace encoder_fusions_variants;
    runner::Stage stage = lesson_08_encoder_fusions();
    for (const runner::Variant& variant : variants_of_fusions())
        if (variant.further) stage.variants.push_back(variant);
    for (const auto& variants : {pack_variants(), half2_variants(), attention_variants(),
                                 eight_bit_variants(), encoder_variants()})
        stage.variants.insert(stage.variants.end(), variants.begin(), variants.end());
    return stage;
}
