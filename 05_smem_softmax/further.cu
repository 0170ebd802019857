// SPDX-License-Identifier: MIT
// Adds the variants beyond the lesson of stage 05.
#include "05_smem_softmax/variants.hpp"

runner::Stage lesson_05_smem_softmax();

runner::Stage describe_05_smem_softmax() {
    runner::Stage stage = lesson_05_smem_softmax();
    for (const auto& more :
         {smem_softmax::functor_variants(), smem_softmax::on_chip_variants(),
          smem_softmax::any_axis_variants(), smem_softmax::cross_entropy_variants()}) {
        for (runner::Variant variant : more) {
            variant.further = true;
            stage.variants.push_back(variant);
        }
    }
    return stage;
}
