// SPDX-License-Identifier: MIT
// Describes the variants of further/: register_tiled, double_buffering, mma_gemm, split_k, and Hopper's.
#include "07_batched_gemm/variants.hpp"
#include "common/operations/gemm/inputs.hpp"
#include "further/double_buffering.cuh"
#include "further/hopper_gemm.cuh"
#include "further/mma_gemm.cuh"
#include "further/ring.cuh"
#include "further/split_k.cuh"

// After the headers: the launchers that another file compiles.
#include "07_batched_gemm/rung_launchers.hpp"

namespace batched_gemm_variants {
namespace {

// Marks a variant as one beyond the lesson whose lines must consist of packs.
runner::Variant in_packs(runner::Variant variant, int64_t pack) {
    variant.further = true;
    variant.obstacle = [pack](const runner::Shape& shape, DType) -> std::string {
        const Shape s = shape;
        const bool in_packs = (s.transpose_a ? s.m : s.k) % pack == 0 &&
                              (s.transpose_b ? s.k : s.n) % pack == 0 && s.n % pack == 0;
        return in_packs
                   ? ""
                   : "needs lines of " + std::to_string(pack) + ", " + std::to_string(2 * pack) +
                         ", " + std::to_string(3 * pack) + ", ... elements";
    };
    return variant;
}

// Declares the traffic of the tiles that launch_stored() chooses for 16-bit types in swizzled tiles.
runner::Variant in_tiles_for_it(runner::Variant variant) {
    const auto traffic = [](const Shape& s) {
        using batched_gemm::Short;
        if (s.n <= 64 && !s.transpose_a && !s.transpose_b) return traffic_of_tiles(s, 128, 64);
        if (s.k > 64) return traffic_of_tiles(s, 128, 128);
        // A persistent block computes several tiles and loads B once.
        const int tiles =
            batched_gemm::tiles_to_walk(s.batch, s.m, s.n, Short::kRows, Short::kCols);
        return traffic_of_tiles(s, int64_t{tiles} * Short::kRows, Short::kCols);
    };
    variant.traffic_at = [=](const runner::Shape& shape, DType) { return traffic(shape); };
    variant.traffic = traffic(variant.operation->usual_shape());
    return variant;
}

template <bool kSwizzled>
runner::Variant mma(const std::string& name, const std::string& summary) {
    return in_packs(rung(name, summary, batched_gemm::kBlockTile, batched_gemm::kBlockTile, kHalves,
                         [](const auto& g, cudaStream_t stream) -> cudaError_t {
                             if constexpr (sizeof(*g.c.data) == 2)
                                 return batched_gemm::mma_gemm<kSwizzled>(g, stream);
                             return cudaErrorInvalidValue;  // not for float
                         }),
                    8);
}

runner::Variant split_k() {
    return in_packs(rung("split_k", "mma; the blocks of a cluster share k",
                         batched_gemm::Few::kRows, batched_gemm::Few::kCols, kHalves,
                         [](const auto& g, cudaStream_t stream) -> cudaError_t {
                             if constexpr (sizeof(*g.c.data) == 2)
                                 return batched_gemm::split_k_gemm(
                                     g, batched_gemm::split_k_parts(g), stream);
                             return cudaErrorInvalidValue;  // not for float
                         }),
                    8);
}

// Marks a variant whose kernel needs Hopper.
template <class Kernel>
runner::Variant of_hopper(runner::Variant variant, Kernel kernel) {
    variant = in_packs(std::move(variant), 8);
    variant.obstacle = [in_packs = variant.obstacle, kernel](const runner::Shape& shape,
                                                             DType dtype) -> std::string {
        if (softmax_stages::this_chip().capability != 9) return "needs a Hopper GPU";
        if (batched_gemm::check_compiled(kernel) != cudaSuccess) return "needs a build for sm_90a";
        return in_packs(shape, dtype);
    };
    return variant;
}

// Calls tensor_core for problems that the first two steps on Hopper do not accept, such as misaligned pointers.
template <class T>
cudaError_t or_tensor_core(cudaError_t status, const Problem<T>& g, cudaStream_t stream) {
    return status == cudaErrorNotSupported ? batched_gemm::tensor_core(g, stream) : status;
}

// These two take matrices that are not transposed.
runner::Variant one_tile() {
    runner::Variant variant =
        of_hopper(rung("one_tile", "TMA, then wgmma, without overlap", batched_gemm::kOneTile,
                       batched_gemm::kOneTile, {DType::float16},
                       [](const auto& g, cudaStream_t stream) -> cudaError_t {
                           if constexpr (std::is_same_v<decltype(g), const Problem<__half>&>)
                               return or_tensor_core(batched_gemm::one_tile(g, stream), g, stream);
                           return cudaErrorInvalidValue;
                       }),
                  batched_gemm::one_tile_kernel<__half>);
    variant.takes = {operations::gemm::kAlpha, operations::gemm::kBeta};
    return variant;
}

runner::Variant ring() {
    runner::Variant variant =
        of_hopper(rung("ring", "one warp copies, two warpgroups multiply", batched_gemm::kRingRows,
                       batched_gemm::kRingCols, kHalves,
                       [](const auto& g, cudaStream_t stream) -> cudaError_t {
                           if constexpr (sizeof(*g.c.data) == 2)
                               return or_tensor_core(batched_gemm::ring(g, stream), g, stream);
                           return cudaErrorInvalidValue;  // not for float
                       }),
                  batched_gemm::ring_kernel<__half>);
    variant.takes = {operations::gemm::kAlpha, operations::gemm::kBeta};
    return variant;
}

runner::Variant hopper() {
    using Tile = batched_gemm::HopperTile;
    runner::Variant variant = of_hopper(
        rung("hopper", "ring; persistent blocks, pairs share B", Tile::kRows, Tile::kCols, kHalves,
             [](const auto& g, cudaStream_t stream) -> cudaError_t {
                 if constexpr (sizeof(*g.c.data) == 2) return batched_gemm::hopper_gemm(g, stream);
                 return cudaErrorInvalidValue;  // not for float
             }),
        batched_gemm::hopper_kernel<__half, false, true, batched_gemm::Plain>);
    // The two blocks of a cluster load their common tiles of B once.
    variant.traffic_at = [](const runner::Shape& shape, DType) {
        const Shape s = shape;
        return traffic_of_tiles(s, s.m <= Tile::kRows ? Tile::kRows : 2 * Tile::kRows, Tile::kCols);
    };
    variant.traffic = variant.traffic_at(variant.operation->usual_shape(), DType::float16);
    return variant;
}

// Returns a variant for one type, checked with the error bound of its kind.
template <class T, class Launch>
runner::Variant of_kind(const std::string& name, const std::string& summary,
                        operations::gemm::Kind kind, Launch launch) {
    runner::Variant variant =
        in_packs(rung(name, summary, batched_gemm::kBlockTile, batched_gemm::kBlockTile,
                      {runner::dtype_of<T>},
                      [launch](const auto& g, cudaStream_t stream) -> cudaError_t {
                          if constexpr (std::is_same_v<decltype(g), const Problem<T>&>)
                              return launch(g, stream);
                          return cudaErrorInvalidValue;
                      }),
                 batched_gemm::kPerPack<T>);
    variant.operation = operations::gemm::operation(kind);
    return variant;
}

}  // namespace

runner::Variant half_sums() {
    runner::Variant variant =
        of_kind<__half>("mma_half_sums", "mma with sums in half", operations::gemm::Kind::half_sums,
                        batched_gemm::half_sums_gemm<__half>);
    variant.open_inputs = {operations::gemm::kWide};
    variant.why_open =
        "sums in half of numbers of such different sizes may consist of rounding alone";
    return variant;
}

std::vector<runner::Variant> mma_variants() {
    using operations::gemm::Kind;
    runner::Variant register_tiled = rung(
        "register_tiled", "vector_loads, tuned", batched_gemm::kBlockTile, batched_gemm::kBlockTile,
        kAll,
        [](const auto& g, cudaStream_t stream) { return batched_gemm::register_tiled(g, stream); });
    register_tiled.further = true;
    return {register_tiled,
            of_kind<float>("double_buffered", "register_tiled; the next tile loads meanwhile",
                           Kind::float_sums, batched_gemm::double_buffered),
            in_tiles_for_it(mma<true>("mma", "ldmatrix, mma.sync, cp.async; swizzled tiles")),
            mma<false>("mma_unswizzled", "the same without the swizzle"),
            split_k(),
            one_tile(),
            ring(),
            hopper(),
            in_tiles_for_it(half_sums()),
            of_kind<float>("mma_tf32", "mma of floats, 11 bits of each", Kind::tf32,
                           batched_gemm::tf32_gemm<float>)};
}

}  // namespace batched_gemm_variants

#define INSTANCE template
#include "07_batched_gemm/mma_launchers.hpp"
