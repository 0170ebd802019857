// SPDX-License-Identifier: MIT
// Stage 08: attention's softmax, with its mask in memory and without.
#include "08_encoder_fusions/variants.hpp"
#include "common/operations/heads/operation.hpp"
#include "masked_softmax.cuh"
#include "unfused.cuh"

namespace encoder_fusions_variants {
namespace {

using encoder_fusions::Sequences;
using operations::heads::Kind;
using operations::heads::operation_of;
using operations::heads::Shape;

// launch(x, y, scale, causal, sequences, heads, workspace, stream).
template <class Launch>
runner::Variant softmax(const std::string& name, const std::string& summary, Launch launch) {
    runner::Variant variant = variant_of(
        operation_of(Kind::masked_softmax), name, summary, [launch](const Call& call, auto of) {
            using T = typename decltype(of)::type;
            const Shape shape = call.shape;
            const Sequences sequences{shape.batch, shape.seq,
                                      shape.is_packed() ? call.input<int32_t>("offsets") : nullptr};
            return launch(call.input<T>("x"), call.output<T>("y"), scale_of(shape), shape.causal,
                          sequences, shape.heads, call.workspace, call.stream);
        });
    variant.takes = {operations::heads::kTokens, operations::heads::kCausal};
    return variant;
}

}  // namespace

std::vector<runner::Variant> softmax_variants() {
    runner::Variant unfused =
        softmax("unfused_masked_softmax", "a mask in memory, then a softmax",
                [](const auto* x, auto* y, float scale, bool causal, const Sequences& sequences,
                   int64_t heads, void* mask, cudaStream_t stream) {
                    return encoder_fusions::unfused_masked_softmax(
                        x, y, scale, causal, sequences, heads, static_cast<bool*>(mask), stream);
                });
    unfused.workspace_bytes = [](const runner::Shape& shape, DType) {
        return static_cast<size_t>(operation_of(Kind::masked_softmax)->elements(shape));
    };
    unfused.traffic = {1.5, 1.5};
    unfused.traffic_at = [](const runner::Shape& shape, DType dtype) {
        const double mask = 1 / static_cast<double>(runner::size_of(dtype));
        return Traffic{1 + mask + (Shape(shape).is_packed() ? 8 * mask : 0), 1 + mask};
    };
    runner::Variant fused = softmax(
        "masked_softmax", "no mask: lengths say what a row sees",
        [](const auto* x, auto* y, float scale, bool causal, const Sequences& sequences,
           int64_t heads, void*, cudaStream_t stream) {
            return encoder_fusions::masked_softmax(x, y, scale, causal, sequences, heads, stream);
        });
    fused.traffic = {1, 1};
    // What packed sequences' rows see depends on lengths: see the operation's tolerance.
    fused.traffic_at = [](const runner::Shape& of, DType) {
        const Shape shape = of;
        const auto seq = static_cast<double>(shape.seq);
        const double seen = shape.causal ? (seq + 1) / (2 * seq) : 1;
        return Traffic{shape.is_packed() ? 0 : seen, 1};
    };
    return {unfused, fused};
}

}  // namespace encoder_fusions_variants

#define INSTANCE template
#include "08_encoder_fusions/softmax_launchers.hpp"
