// SPDX-License-Identifier: MIT
// Describes how the course checks and measures the rungs of stage 07. further.cu adds the variants beyond the lesson.
#include "07_batched_gemm/variants.hpp"
#include "batched_gemm.cuh"

runner::Stage lesson_07_batched_gemm() {
    using namespace batched_gemm;
    using namespace batched_gemm_variants;
    runner::Stage stage;
    stage.name = "07_batched_gemm";
    stage.title = "batched matrix products, up to tensor cores";
    stage.measured = {DType::float16, DType::float32};
    stage.variants = {
        slow(rung("naive", "one thread per element of C; nothing is reused", 1, 1, kAll,
                  [](const auto& g, cudaStream_t stream) { return naive(g, stream); })),
        slow(rung("tiled", "tiles of 32 x 32 in shared memory", kTile, kTile, kAll,
                  [](const auto& g, cudaStream_t stream) { return tiled(g, stream); })),
        slow(rung("register_column", "64 x 64 tiles; each thread keeps 8 x 1 sums", kColumnSide,
                  kColumnSide, kAll,
                  [](const auto& g, cudaStream_t stream) { return register_column(g, stream); })),
        rung("register_tile", "128 x 128 tiles; each thread keeps 8 x 8 sums", kSide, kSide, kAll,
             [](const auto& g, cudaStream_t stream) { return register_tile(g, stream); }),
        rung("vector_loads", "four elements per load; A's tile transposed", kVectorSide,
             kVectorSide, kAll,
             [](const auto& g, cudaStream_t stream) { return vector_loads(g, stream); }),
        rung("tensor_core", "the same tiles, multiplied by tensor cores", kCoreSide, kCoreSide,
             kHalves, [](const auto& g, cudaStream_t stream) -> cudaError_t {
                 if constexpr (sizeof(*g.c.data) == 2) return tensor_core(g, stream);
                 return cudaErrorInvalidValue;  // not for float
             })};
    return stage;
}

#define INSTANCE template
#include "07_batched_gemm/rung_launchers.hpp"
