// SPDX-License-Identifier: MIT
// Stage 08: from tokens to heads and back, with padding and without.
#include <cmath>

#include "08_encoder_fusions/variants.hpp"
#include "common/operations/heads/operation.hpp"
#include "further/padding_by_lengths.cuh"
#include "further/unfused.cuh"
#include "padding.cuh"
#include "qkv_transpose.cuh"

namespace encoder_fusions_variants {
namespace {

using encoder_fusions::Sequences;
using encoder_fusions::Tiling;
using operations::heads::Kind;
using operations::heads::operation_of;
using operations::heads::Shape;

Sequences sequences_of(const Call& call) {
    const Shape shape = call.shape;
    return {shape.batch, shape.seq, shape.is_packed() ? call.input<int32_t>("offsets") : nullptr};
}

// Counts the elements that a kernel accesses if each token, or each place of the padded batch, has a row.
class Accesses {
public:
    Accesses(const Shape& shape, DType dtype)
        : shape_(shape), element_(static_cast<double>(runner::size_of(dtype))) {}

    double tokens(double row) const { return row * static_cast<double>(shape_.rows()); }
    double places(double row) const { return row * static_cast<double>(shape_.batch * shape_.seq); }
    // Returns the elements that each thread of the tuned kernels loads once for all its rows of `row` elements: a bias
    // if has_bias, and `offsets` offsets. Packs divide `unit` elements.
    double threads(int64_t row, int64_t unit, bool has_bias, int offsets) const {
        const Tiling tiling(shape_.seq, row / pack_of(unit));
        const auto all = static_cast<double>(tiling.row_blocks * tiling.block.y * shape_.batch);
        const double packs = all * static_cast<double>(row / pack_of(unit));
        const int64_t with_rows = tiling.threads_with_rows(shape_.seq) * shape_.batch;
        return (has_bias ? static_cast<double>(with_rows * row) : 0) +
               packs * offsets * sizeof(int32_t) / element_;
    }
    // Returns the loads of blocks that add up lengths: b lengths for the b-th sequence, and one length in each thread,
    // whether the thread has rows or not.
    double lengths(int64_t row) const {
        const Tiling tiling(shape_.seq, row / pack_of(row));
        const auto per_sequence = static_cast<double>(tiling.row_blocks * tiling.pack_blocks);
        const auto threads = static_cast<double>(tiling.block.x * tiling.block.y);
        const auto batch = static_cast<double>(shape_.batch);
        return per_sequence * (threads * batch + batch * (batch - 1) / 2) * sizeof(int32_t) /
               element_;
    }
    // Returns the number of elements per pack in rows of `unit` elements.
    int64_t pack_of(int64_t unit) const {
        const auto whole = static_cast<int64_t>(16 / element_);
        return unit % whole == 0 ? whole : unit % 2 == 0 ? 2 : 1;
    }
    Traffic per_element(double loads, double stores) const {
        const auto all = static_cast<double>(shape_.rows() * shape_.hidden());
        return {loads / all, stores / all};
    }
    int offsets() const { return shape_.is_packed() ? 2 : 0; }
    double of(int64_t row) const { return static_cast<double>(row); }

private:
    Shape shape_;
    double element_;
};

runner::Variant with_tokens(runner::Variant variant) {
    variant.takes = {operations::heads::kTokens};
    return variant;
}

// Returns the lesson's kernels from tokens to heads, with kTokens per thread, for sequences of one length.
template <int kTokens>
runner::Variant tokens_to_heads(const std::string& name, const std::string& summary, bool packs) {
    runner::Variant variant = variant_of(
        operation_of(Kind::add_qkv_bias_transpose), name, summary,
        [packs](const Call& call, auto of) {
            using T = typename decltype(of)::type;
            const Shape s = call.shape;
            const T *const qkv = call.input<T>("qkv"), *const bias = call.input<T>("bias");
            T *const q = call.output<T>("q"), *const k = call.output<T>("k"),
                     *const v = call.output<T>("v");
            return in_packs<T>(packs, s.size, {qkv, bias, q, k, v}, [&](auto pack) {
                return encoder_fusions::tokens_to_heads<pack.value, kTokens>(
                    qkv, bias, q, k, v, s.batch, s.seq, s.heads, s.size, call.stream);
            });
        });
    variant.traffic = {3 + 3. / kTokens, 3};
    variant.traffic_at = [](const runner::Shape& shape, DType) {
        const auto tokens = static_cast<double>(Shape(shape).rows());
        return Traffic{3 + 3 * std::ceil(tokens / kTokens) / tokens, 3};
    };
    return variant;
}
runner::Variant heads_to_tokens(const std::string& name, const std::string& summary, bool packs) {
    runner::Variant variant = variant_of(
        operation_of(Kind::transpose_back), name, summary, [packs](const Call& call, auto of) {
            using T = typename decltype(of)::type;
            const Shape s = call.shape;
            const T* const x = call.input<T>("x");
            T* const y = call.output<T>("y");
            return in_packs<T>(packs, s.size, {x, y}, [&](auto pack) {
                return encoder_fusions::heads_to_tokens<pack.value>(x, y, s.batch, s.seq, s.heads,
                                                                    s.size, packs, call.stream);
            });
        });
    variant.traffic = {1, 1};
    return variant;
}

runner::Variant qkv_transpose() {
    runner::Variant variant = with_tokens(
        variant_of(operation_of(Kind::add_qkv_bias_transpose), "qkv_transpose",
                   "tuned: also packed sequences", [](const Call& call, auto of) {
                       using T = typename decltype(of)::type;
                       const Shape shape = call.shape;
                       return encoder_fusions::add_qkv_bias_transpose(
                           call.input<T>("qkv"), call.input<T>("bias"), call.output<T>("q"),
                           call.output<T>("k"), call.output<T>("v"), sequences_of(call),
                           shape.heads, shape.size, call.stream);
                   }));
    variant.traffic = {3.75, 3};
    variant.traffic_at = [](const runner::Shape& shape, DType dtype) {
        const Shape s = shape;
        const Accesses a(s, dtype);
        const int64_t row = 3 * s.hidden();
        return a.per_element(a.tokens(a.of(row)) + a.threads(row, s.size, true, a.offsets()),
                             a.places(a.of(row)));
    };
    return variant;
}

runner::Variant unfused_qkv_transpose() {
    runner::Variant variant = with_tokens(variant_of(
        operation_of(Kind::add_qkv_bias_transpose), "unfused_qkv_transpose",
        "bias, then Q, K, V: four kernels, or five", [](const Call& call, auto of) {
            using T = typename decltype(of)::type;
            const Shape shape = call.shape;
            return encoder_fusions::unfused_qkv_transpose(
                call.input<T>("qkv"), call.input<T>("bias"), call.output<T>("q"),
                call.output<T>("k"), call.output<T>("v"), sequences_of(call), shape.rows(),
                shape.heads, shape.size, static_cast<T*>(call.workspace), call.stream);
        }));
    variant.workspace_bytes = [](const runner::Shape& shape, DType dtype) {
        const Shape s = shape;
        const int64_t rows = s.rows() + (s.is_packed() ? s.batch * s.seq : 0);
        return static_cast<size_t>(rows * 3 * s.hidden()) * runner::size_of(dtype);
    };
    variant.traffic = {6.75, 6};
    variant.traffic_at = [](const runner::Shape& shape, DType dtype) {
        const Shape s = shape;
        const Accesses a(s, dtype);
        const double row = a.of(3 * s.hidden());
        const Tiling of_bias(s.rows(), 3 * s.hidden() / a.pack_of(3 * s.hidden()));
        const double bias = row * a.of(of_bias.threads_with_rows(s.rows()));
        const double padding =
            s.is_packed() ? a.tokens(row) + a.threads(3 * s.hidden(), 3 * s.hidden(), false, 2) : 0;
        return a.per_element(a.tokens(row) + bias + padding + a.places(row),
                             a.tokens(row) + a.places(row) + (s.is_packed() ? a.places(row) : 0));
    };
    return variant;
}

runner::Variant transpose_back() {
    runner::Variant variant =
        with_tokens(variant_of(operation_of(Kind::transpose_back), "transpose_back",
                               "tuned: also packed sequences", [](const Call& call, auto of) {
                                   using T = typename decltype(of)::type;
                                   const Shape shape = call.shape;
                                   return encoder_fusions::transpose_back(
                                       call.input<T>("x"), call.output<T>("y"), sequences_of(call),
                                       shape.heads, shape.size, call.stream);
                               }));
    variant.traffic = {1, 1};
    variant.traffic_at = [](const runner::Shape& shape, DType dtype) {
        const Shape s = shape;
        const Accesses a(s, dtype);
        const double row = a.of(s.hidden());
        return a.per_element(a.tokens(row) + a.threads(s.hidden(), s.size, false, a.offsets()),
                             a.tokens(row));
    };
    return variant;
}

runner::Variant unfused_transpose_back() {
    runner::Variant variant = with_tokens(
        variant_of(operation_of(Kind::transpose_back), "unfused_transpose_back",
                   "a thread a pack; padding by another kernel", [](const Call& call, auto of) {
                       using T = typename decltype(of)::type;
                       const Shape shape = call.shape;
                       return encoder_fusions::unfused_transpose_back(
                           call.input<T>("x"), call.output<T>("y"), sequences_of(call), shape.heads,
                           shape.size, static_cast<T*>(call.workspace), call.stream);
                   }));
    variant.workspace_bytes = [](const runner::Shape& shape, DType dtype) -> size_t {
        const Shape s = shape;
        if (!s.is_packed()) return 0;
        return static_cast<size_t>(s.batch * s.seq * s.hidden()) * runner::size_of(dtype);
    };
    variant.traffic = {1, 1};
    variant.traffic_at = [](const runner::Shape& shape, DType dtype) {
        const Shape s = shape;
        const Accesses a(s, dtype);
        const double row = a.of(s.hidden());
        if (!s.is_packed()) return Traffic{1, 1};
        return a.per_element(
            a.places(row) + a.tokens(row) + a.threads(s.hidden(), s.hidden(), false, 2),
            a.places(row) + a.tokens(row));
    };
    return variant;
}

// Returns the lesson's first version of padding: one thread counts, and the host knows the number of tokens.
runner::Variant rows_of_tokens(bool to_padded, const std::string& name,
                               const std::string& summary) {
    runner::Variant variant = with_tokens(
        variant_of(operation_of(to_padded ? Kind::rebuild_padding : Kind::remove_padding), name,
                   summary, [to_padded](const Call& call, auto of) {
                       using T = typename decltype(of)::type;
                       const Shape s = call.shape;
                       return encoder_fusions::move_rows_of_tokens(
                           call.input<T>("x"), call.output<T>("y"), call.input<int32_t>("lengths"),
                           static_cast<int32_t*>(call.workspace), s.batch, s.seq, s.rows(),
                           s.hidden(), to_padded, call.stream);
                   }));
    variant.workspace_bytes = [](const runner::Shape& shape, DType) {
        return static_cast<size_t>(Shape(shape).rows()) * sizeof(int32_t);
    };
    variant.traffic = {1, 1};
    variant.traffic_at = [](const runner::Shape& shape, DType dtype) {
        const Shape s = shape;
        const Accesses a(s, dtype);
        const double number = sizeof(int32_t) / static_cast<double>(runner::size_of(dtype));
        const double rows = a.tokens(a.of(s.hidden()));
        return a.per_element(
            rows + number * (a.of(s.batch) +
                             a.tokens(std::min<int64_t>((s.hidden() + 31) / 32 * 32, 256))),
            rows + number * a.tokens(1));
    };
    return variant;
}
// Returns the lesson's second version of padding: a scan, then a block for each row of the padded batch.
runner::Variant rows_of_batch(bool to_padded, const std::string& name, const std::string& summary) {
    runner::Variant variant = with_tokens(variant_of(
        operation_of(to_padded ? Kind::rebuild_padding : Kind::remove_padding), name, summary,
        [to_padded](const Call& call, auto of) {
            using T = typename decltype(of)::type;
            const Shape s = call.shape;
            const T* const x = call.input<T>("x");
            T* const y = call.output<T>("y");
            return in_packs<T>(true, s.hidden(), {x, y}, [&](auto pack) {
                return encoder_fusions::move_rows_of_batch<pack.value>(
                    x, y, call.input<int32_t>("lengths"), static_cast<int32_t*>(call.workspace),
                    s.batch, s.seq, s.hidden(), to_padded, call.stream);
            });
        }));
    variant.workspace_bytes = [](const runner::Shape& shape, DType) {
        return static_cast<size_t>(shape[0] + 1) * sizeof(int32_t);
    };
    variant.traffic = {1, 1};
    variant.traffic_at = [to_padded](const runner::Shape& shape, DType dtype) {
        const Shape s = shape;
        const Accesses a(s, dtype);
        const double number = sizeof(int32_t) / static_cast<double>(runner::size_of(dtype));
        const double row = a.of(s.hidden());
        const int64_t whole = 16 / static_cast<int64_t>(runner::size_of(dtype));
        const int64_t packs = s.hidden() % whole == 0 ? s.hidden() / whole : s.hidden();
        const double threads = a.of(std::min<int64_t>((packs + 31) / 32 * 32, 256));
        return a.per_element(
            a.tokens(row) + number * (a.of(s.batch) + a.places(2 * threads)),
            (to_padded ? a.places(row) : a.tokens(row)) + number * a.of(s.batch + 1));
    };
    return variant;
}

// Returns a variant of two kernels: one computes offsets from the lengths, then launch(x, y, sequences, cols, stream)
// moves the rows.
template <class Launch>
runner::Variant padding(Kind kind, const std::string& name, const std::string& summary,
                        Launch launch) {
    runner::Variant variant = with_tokens(
        variant_of(operation_of(kind), name, summary, [launch](const Call& call, auto of) {
            using T = typename decltype(of)::type;
            const Shape shape = call.shape;
            auto* const offsets = static_cast<int32_t*>(call.workspace);
            const cudaError_t status = encoder_fusions::sequence_offsets(
                call.input<int32_t>("lengths"), shape.batch, shape.seq,
                encoder_fusions::Offsets{offsets, nullptr, nullptr}, call.stream);
            if (status != cudaSuccess) return status;
            return launch(call.input<T>("x"), call.output<T>("y"),
                          Sequences{shape.batch, shape.seq, offsets}, shape.hidden(), call.stream);
        }));
    variant.workspace_bytes = [](const runner::Shape& shape, DType) {
        return static_cast<size_t>(shape[0] + 1) * sizeof(int32_t);
    };
    variant.traffic = {1, 1};
    variant.traffic_at = [kind](const runner::Shape& shape, DType dtype) {
        const Shape s = shape;
        const Accesses a(s, dtype);
        const double row = a.of(s.hidden());
        const double offset = sizeof(int32_t) / static_cast<double>(runner::size_of(dtype));
        return a.per_element(
            a.tokens(row) + a.threads(s.hidden(), s.hidden(), false, 2) + offset * a.of(s.batch),
            (kind == Kind::remove_padding ? a.tokens(row) : a.places(row)) +
                offset * a.of(s.batch + 1));
    };
    return variant;
}

// Returns a variant of one kernel, launch(x, y, lengths, shape, stream).
template <class Launch>
runner::Variant padding_by_lengths(Kind kind, const std::string& name, const std::string& summary,
                                   Launch launch) {
    runner::Variant variant = with_tokens(
        variant_of(operation_of(kind), name, summary, [launch](const Call& call, auto of) {
            using T = typename decltype(of)::type;
            return launch(call.input<T>("x"), call.output<T>("y"), call.input<int32_t>("lengths"),
                          Shape(call.shape), call.stream);
        }));
    variant.traffic = {1, 1};
    variant.traffic_at = [kind](const runner::Shape& shape, DType dtype) {
        const Shape s = shape;
        const Accesses a(s, dtype);
        const double row = a.of(s.hidden());
        return a.per_element(a.tokens(row) + a.lengths(s.hidden()),
                             kind == Kind::remove_padding ? a.tokens(row) : a.places(row));
    };
    return variant;
}

}  // namespace

std::vector<runner::Variant> head_variants() {
    return {
        unfused_qkv_transpose(),
        tokens_to_heads<1>("qkv_transpose_elements", "FasterTransformer's: a block a token's row",
                           false),
        tokens_to_heads<1>("qkv_transpose_packs", "the same, 16 bytes an access", true),
        tokens_to_heads<4>("qkv_transpose_four_tokens", "a thread loads a bias for four tokens",
                           true),
        beyond(qkv_transpose()),
        unfused_transpose_back(),
        heads_to_tokens("transpose_back_elements", "FasterTransformer's: a block a head's row",
                        false),
        heads_to_tokens("transpose_back_packs", "a block a token, 16 bytes an access", true),
        beyond(transpose_back()),
        rows_of_tokens(false, "remove_padding_elements", "FasterTransformer's: one thread counts"),
        rows_of_batch(false, "remove_padding_packs", "a scan, and 16 bytes an access"),
        rows_of_tokens(true, "rebuild_padding_elements", "and back, into zeros"),
        rows_of_batch(true, "rebuild_padding_packs", "and back, zeros written on the way"),
        beyond(padding(
            Kind::remove_padding, "remove_padding", "tuned: four rows a thread",
            [](const auto* x, auto* y, const Sequences& of, int64_t cols, cudaStream_t stream) {
                return encoder_fusions::remove_padding(x, y, of, cols, stream);
            })),
        beyond(padding(
            Kind::rebuild_padding, "rebuild_padding", "and back, with rows of zeros",
            [](const auto* x, auto* y, const Sequences& of, int64_t cols, cudaStream_t stream) {
                return encoder_fusions::rebuild_padding(x, y, of, cols, stream);
            })),
        beyond(padding_by_lengths(
            Kind::remove_padding, "remove_padding_by_lengths", "each block adds up lengths",
            [](const auto* x, auto* y, const int32_t* lengths, const Shape& s, cudaStream_t on) {
                return encoder_fusions::remove_padding_by_lengths(x, y, lengths, s.batch, s.seq,
                                                                  s.hidden(), on);
            })),
        beyond(padding_by_lengths(
            Kind::rebuild_padding, "rebuild_padding_by_lengths", "and back, in the same way",
            [](const auto* x, auto* y, const int32_t* lengths, const Shape& s, cudaStream_t on) {
                return encoder_fusions::rebuild_padding_by_lengths(x, y, lengths, s.batch, s.seq,
                                                                   s.hidden(), on);
            }))};
}

}  // namespace encoder_fusions_variants
