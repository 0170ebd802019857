// SPDX-License-Identifier: MIT
// Stage 08: attention's softmax, with its mask in memory and without.
#include "08_encoder_fusions/variants.hpp"
#include "common/operations/heads/operation.hpp"
#include "further/unfused.cuh"
#include "masked_softmax.cuh"

namespace encoder_fusions_variants {
namespace {

using encoder_fusions::Sequences;
using operations::heads::Kind;
using operations::heads::operation_of;
using operations::heads::Shape;

// Returns a variant that calls launch(x, y, scale, causal, sequences, heads, workspace, stream).
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

// Returns a variant of the lesson, which calls launch(arguments, workspace, stream).
template <class Launch>
runner::Variant softmax_of_lesson(const std::string& name, const std::string& summary,
                                  Launch launch) {
    runner::Variant variant = softmax(
        name, summary,
        [launch](const auto* x, auto* y, float scale, bool causal, const Sequences& sequences,
                 int64_t heads, void* mask, cudaStream_t on) {
            using T = std::decay_t<decltype(*y)>;
            if (sequences.batch * heads > INT32_MAX) return cudaErrorInvalidValue;
            return launch(
                encoder_fusions::ScoresArguments<T>{
                    x, y, scale, causal, sequences.offsets, static_cast<int>(sequences.batch),
                    static_cast<int>(heads), static_cast<int>(sequences.seq)},
                static_cast<T*>(mask), on);
        });
    variant.obstacle = [](const runner::Shape& shape, DType) {
        return Shape(shape).seq > 1024 ? "more than 1024 columns" : "";
    };
    return variant;
}

// With packed sequences the loads depend on the lengths: the operation's tolerance allows for them.
Traffic seen_once(const runner::Shape& of, DType) {
    const Shape shape = of;
    const auto seq = static_cast<double>(shape.seq);
    const double seen = shape.causal ? (seq + 1) / (2 * seq) : 1;
    return Traffic{shape.is_packed() ? 0 : seen, 1};
}
runner::Variant softmax_by_warps(const std::string& name, const std::string& summary, bool packs) {
    runner::Variant variant =
        softmax_of_lesson(name, summary, [packs](const auto& of, auto*, cudaStream_t stream) {
            using T = std::decay_t<decltype(*of.y)>;
            T* const none = nullptr;
            return in_packs<T>(packs, of.seq, {of.x, of.y}, [&](auto pack) {
                return encoder_fusions::softmax_of_scores<pack.value>(of, none, stream);
            });
        });
    variant.traffic = {1, 1};
    variant.traffic_at = seen_once;
    return variant;
}

// All heads read one mask of [batch, seq, seq] numbers.
runner::Variant softmax_by_blocks() {
    runner::Variant variant =
        softmax_of_lesson("masked_softmax_block_per_row", "FasterTransformer's, with a mask",
                          [](const auto& of, auto* mask, cudaStream_t stream) {
                              return encoder_fusions::softmax_of_scores<1>(of, mask, stream);
                          });
    variant.workspace_bytes = [](const runner::Shape& of, DType dtype) {
        const Shape shape = of;
        return static_cast<size_t>(shape.batch * shape.seq * shape.seq) * runner::size_of(dtype);
    };
    variant.traffic = {2, 1.25};
    variant.traffic_at = [](const runner::Shape& of, DType dtype) {
        const Shape shape = of;
        const auto heads = static_cast<double>(shape.heads), seq = static_cast<double>(shape.seq);
        const double offsets = 256 * 8 / static_cast<double>(runner::size_of(dtype));
        return Traffic{
            1 + seen_once(of, dtype).loads + (shape.is_packed() ? offsets / seq / heads : 0),
            1 + 1 / heads};
    };
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
        const double offsets = 32 * 8 * mask / static_cast<double>(Shape(shape).seq);  // of a row
        return Traffic{1 + mask + (Shape(shape).is_packed() ? offsets : 0), 1 + mask};
    };
    runner::Variant tuned = softmax(
        "masked_softmax", "tuned: sequences of any length",
        [](const auto* x, auto* y, float scale, bool causal, const Sequences& sequences,
           int64_t heads, void*, cudaStream_t stream) {
            return encoder_fusions::masked_softmax(x, y, scale, causal, sequences, heads, stream);
        });
    tuned.traffic = {1, 1};
    tuned.traffic_at = seen_once;
    return {unfused, softmax_by_blocks(),
            softmax_by_warps("masked_softmax_warp_per_row",
                             "no mask: a length says what a row sees", false),
            softmax_by_warps("masked_softmax_packs", "the same, 16 bytes an access", true),
            beyond(tuned)};
}

}  // namespace encoder_fusions_variants

#define INSTANCE template
#include "08_encoder_fusions/softmax_launchers.hpp"
