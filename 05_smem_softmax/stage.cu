// SPDX-License-Identifier: MIT
// For now: only the variants along any axis.
#include "any_axis_variants.cuh"

runner::Stage describe_05_smem_softmax() {
    runner::Stage stage;
    stage.name = "05_smem_softmax";
    stage.title = "any axis";
    stage.header = "05_smem_softmax/further/any_axis_softmax.cuh";
    stage.variants = smem_softmax::any_axis_variants();
    return stage;
}
