// SPDX-License-Identifier: MIT
#include "fastertransformer_heads.cuh"

#include "common/operations/heads/operation.hpp"
#include "common/peers/peers.hpp"

namespace {

namespace kernels = ::fastertransformer_heads;
using operations::heads::Kind;
using operations::heads::operation_of;
using operations::heads::Shape;
using runner::Call;
using runner::DType;

kernels::Sizes sizes_of(const Shape& s) {
    return {static_cast<int>(s.batch), static_cast<int>(s.seq), static_cast<int>(s.heads),
            static_cast<int>(s.size)};
}

// What holds for all of them.
std::string no_sizes(const Shape& s, int64_t parts) {
    if (s.batch * s.seq * s.hidden() == 0) return "wants sizes of at least 1";
    return s.batch * s.seq * s.hidden() * parts > INT32_MAX ? "counts elements in 32 bits" : "";
}

std::string obstacle_to_heads(const Shape& s, DType dtype) {
    const bool pairs = dtype == DType::float16;
    if (pairs && s.size % 2 != 0) return "wants heads of an even size";
    if (s.hidden() > (pairs ? 2048 : 1024)) return "has a thread for each pair or float of a row";
    return no_sizes(s, 3);
}

std::string obstacle_to_tokens(const Shape& s, DType dtype) {
    const bool pairs = dtype == DType::float16;
    if (pairs && s.size % 2 != 0) return "wants heads of an even size";
    if (s.size > (pairs ? 512 : 1024)) return "has a thread for each pair or float of its rows";
    if (pairs && s.batch * s.seq * s.heads % 4 != 0) return "takes four rows of heads at a time";
    return no_sizes(s, 1);
}

// launch(call, of): as of a stage's variants; decltype(of)::type is float or __half.
template <class Launch>
runner::Variant variant_of(Kind kind, const std::string& name, const std::string& summary,
                           Launch launch) {
    runner::Variant variant;
    variant.operation = operation_of(kind);
    variant.name = name;
    variant.summary = "FasterTransformer: " + summary;
    variant.traffic = {1, 1};
    variant.dtypes = {DType::float32, DType::float16};
    variant.launch = [launch](const Call& call) {
        return call.dtype == DType::float16 ? launch(call, runner::Type<__half>{})
                                            : launch(call, runner::Type<float>{});
    };
    return variant;
}

runner::Variant to_heads() {
    runner::Variant variant = variant_of(
        Kind::add_qkv_bias_transpose, "to_heads", "a block a token", [](const Call& call, auto of) {
            using T = typename decltype(of)::type;
            return kernels::to_heads(call.input<T>("qkv"), call.input<T>("bias"),
                                     call.output<T>("q"), call.output<T>("k"), call.output<T>("v"),
                                     sizes_of(call.shape), call.stream);
        });
    variant.obstacle = [](const runner::Shape& s, DType dtype) {
        return obstacle_to_heads(s, dtype);
    };
    return variant;
}

runner::Variant to_tokens() {
    runner::Variant variant =
        variant_of(Kind::transpose_back, "to_tokens", "a block a head's row, or four",
                   [](const Call& call, auto of) {
                       using T = typename decltype(of)::type;
                       return kernels::to_tokens(call.input<T>("x"), call.output<T>("y"),
                                                 sizes_of(call.shape), call.stream);
                   });
    variant.obstacle = [](const runner::Shape& s, DType dtype) {
        return obstacle_to_tokens(s, dtype);
    };
    return variant;
}

runner::Variant padding(Kind kind, const std::string& name) {
    runner::Variant variant = variant_of(
        kind, name, "a thread counts, then a block a row",
        [into = kind == Kind::rebuild_padding](const Call& call, auto of) {
            using T = typename decltype(of)::type;
            const Shape s = call.shape;
            return kernels::move_rows(
                call.input<T>("x"), call.output<T>("y"), call.input<int32_t>("lengths"),
                static_cast<int32_t*>(call.workspace), sizes_of(s), s.rows(), into, call.stream);
        });
    variant.takes = {operations::heads::kTokens};
    variant.workspace_bytes = [](const runner::Shape& s, DType) {
        return static_cast<size_t>(Shape(s).rows()) * sizeof(int32_t);
    };
    variant.obstacle = [](const runner::Shape& s, DType) { return no_sizes(s, 1); };
    return variant;
}

}  // namespace

peers::Peer peers::fastertransformer_heads() {
    Peer peer;
    peer.stage.name = "fastertransformer_heads";
    peer.stage.title = "FasterTransformer's way to heads and back";
    peer.stage.variants = {to_heads(), to_tokens()};
    return peer;
}

peers::Peer peers::fastertransformer_padding() {
    Peer peer;
    peer.stage.name = "fastertransformer_padding";
    peer.stage.title = "FasterTransformer's padding, out and in";
    peer.stage.variants = {padding(Kind::remove_padding, "remove"),
                           padding(Kind::rebuild_padding, "rebuild")};
    return peer;
}
