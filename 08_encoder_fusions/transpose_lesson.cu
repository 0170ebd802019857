// SPDX-License-Identifier: MIT
// Stage 08: the transposition of 16-bit matrices, step by step.
#include "08_encoder_fusions/variants.hpp"
#include "common/operations/transpose/operation.hpp"
#include "further/transpose_packs.cuh"

namespace encoder_fusions_variants {
namespace {

// Returns a variant that calls launch(x, y, batch, rows, cols, stream) for elements of 16 bits.
template <class Launch>
runner::Variant step(const std::string& name, const std::string& summary, Launch launch) {
    runner::Variant variant =
        variant_of(operations::transpose::operation(), name, summary,
                   [launch](const Call& call, auto of) -> cudaError_t {
                       using T = typename decltype(of)::type;
                       if constexpr (sizeof(T) == 2)
                           return launch(call.input<T>("x"), call.output<T>("y"), call.shape[0],
                                         call.shape[1], call.shape[2], call.stream);
                       return cudaErrorInvalidValue;  // float is none of its types
                   });
    variant.dtypes = kHalves;
    variant.traffic = {1, 1};
    variant.obstacle = [](const runner::Shape& shape, DType) -> std::string {
        using encoder_fusions::kMostOfGrid;
        if (shape[0] > kMostOfGrid) return "more than 65535 matrices";
        const int64_t lowest_tile = encoder_fusions::kTileThreads;  // naive_transpose's
        return shape[1] > kMostOfGrid * lowest_tile ? "more than 524280 rows" : "";
    };
    return variant;
}

template <class Layout>
runner::Variant tiled(const std::string& name, const std::string& summary) {
    return step(
        name, summary,
        [](const auto* x, auto* y, int64_t batch, int64_t rows, int64_t cols, cudaStream_t stream) {
            return encoder_fusions::transpose<Layout>(x, y, batch, rows, cols, stream);
        });
}

}  // namespace

std::vector<runner::Variant> transpose_variants() {
    return {
        step("naive_transpose", "a thread an element: scattered stores",
             [](const auto* x, auto* y, int64_t batch, int64_t rows, int64_t cols,
                cudaStream_t stream) {
                 return encoder_fusions::naive_transpose(x, y, batch, rows, cols, stream);
             }),
        tiled<encoder_fusions::Unpadded>("tiled_transpose",
                                         "tiles of pairs: all lanes read one bank"),
        tiled<encoder_fusions::Padded>("padded_transpose", "a word more after every second row"),
        tiled<encoder_fusions::Swizzled>("transpose", "an XOR instead of more words")};
}

std::vector<runner::Variant> pack_variants() {
    runner::Variant by_packs = step(
        "transpose_packs", "16 bytes at a time, not kept in caches",
        [](const auto* x, auto* y, int64_t batch, int64_t rows, int64_t cols, cudaStream_t stream) {
            return encoder_fusions::transpose_packs(x, y, batch, rows, cols, stream);
        });
    by_packs.further = true;
    return {by_packs};
}

}  // namespace encoder_fusions_variants
