// SPDX-License-Identifier: MIT
// Describes the variants of further/: register_tiled, double_buffering, mma_gemm, split_k, and those for Hopper.
#include "07_batched_gemm/variants.hpp"
#include "common/operations/gemm/inputs.hpp"
#include "further/double_buffering.cuh"
#include "further/eight_bits.cuh"
#include "further/few_rows.cuh"
#include "further/mma_gemm.cuh"
#include "further/packed_lines.cuh"
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

// Declares the traffic that a function returns for each shape and type.
template <class TrafficAt>
runner::Variant with_traffic(runner::Variant variant, TrafficAt traffic_at) {
    variant.traffic_at = traffic_at;
    variant.traffic = traffic_at(variant.operation->usual_shape(), variant.dtypes.front());
    return variant;
}

// Declares the traffic of the tiles that launch_stored() chooses for 16-bit types in swizzled tiles.
runner::Variant in_tiles_for_it(runner::Variant variant) {
    const auto traffic = [](const runner::Shape& shape, DType) {
        using batched_gemm::Short;
        const Shape s = shape;
        if (s.n <= 64 && !s.transpose_a && !s.transpose_b) return traffic_of_tiles(s, 128, 64);
        if (s.k > 64) return traffic_of_tiles(s, 128, 128);
        // A persistent block computes several tiles and loads B once.
        const int tiles =
            batched_gemm::tiles_to_walk(s.batch, s.m, s.n, Short::kRows, Short::kCols);
        return traffic_of_tiles(s, int64_t{tiles} * Short::kRows, Short::kCols);
    };
    return with_traffic(std::move(variant), traffic);
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

// Marks a variant whose kernel needs Hopper, beside what it needs already.
template <class Kernel>
runner::Variant of_hopper(runner::Variant variant, Kernel kernel) {
    variant.further = true;
    variant.obstacle = [beside = variant.obstacle, kernel](const runner::Shape& shape,
                                                           DType dtype) -> std::string {
        if (softmax_stages::this_chip().capability != 9) return "needs a Hopper GPU";
        if (batched_gemm::check_compiled(kernel) != cudaSuccess) return "needs a build for sm_90a";
        return beside ? beside(shape, dtype) : "";
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
    runner::Variant variant = of_hopper(
        in_packs(rung("one_tile", "TMA, then wgmma, without overlap", batched_gemm::kOneTile,
                      batched_gemm::kOneTile, {DType::float16},
                      [](const auto& g, cudaStream_t stream) -> cudaError_t {
                          if constexpr (std::is_same_v<decltype(g), const Problem<__half>&>)
                              return or_tensor_core(batched_gemm::one_tile(g, stream), g, stream);
                          return cudaErrorInvalidValue;
                      }),
                 8),
        batched_gemm::one_tile_kernel<__half>);
    variant.takes = {operations::gemm::kAlpha, operations::gemm::kBeta};
    return variant;
}

runner::Variant ring() {
    runner::Variant variant = of_hopper(
        in_packs(rung("ring", "one warp copies, two warpgroups multiply", batched_gemm::kRingRows,
                      batched_gemm::kRingCols, kHalves,
                      [](const auto& g, cudaStream_t stream) -> cudaError_t {
                          if constexpr (sizeof(*g.c.data) == 2)
                              return or_tensor_core(batched_gemm::ring(g, stream), g, stream);
                          return cudaErrorInvalidValue;  // not for float
                      }),
                 8),
        batched_gemm::ring_kernel<__half>);
    variant.takes = {operations::gemm::kAlpha, operations::gemm::kBeta};
    return variant;
}

// A problem of this shape without operands, for plans.
template <class T, class Result = T>
Problem<T, Result> problem_at(const Shape& s) {
    Problem<T, Result> g{};
    g.batch = s.batch, g.m = s.m, g.n = s.n, g.k = s.k;
    const auto stored = [](int64_t rows, int64_t cols, bool transposed) {
        return matrices<const T>(nullptr, transposed ? cols : rows, transposed ? rows : cols, 0,
                                 transposed);
    };
    g.a = stored(s.m, s.k, s.transpose_a);
    g.b = stored(s.k, s.n, s.transpose_b);
    return g;
}

// The two blocks of a cluster load their common tiles of B once.
template <class T, class Result = T>
Traffic traffic_of_hopper(const Shape& s) {
    const batched_gemm::HopperPlan plan = batched_gemm::hopper_plan(problem_at<T, Result>(s));
    return traffic_of_tiles(s, int64_t{plan.blocks} * plan.rows, plan.cols);
}

runner::Variant with_traffic_of_hopper(runner::Variant variant) {
    return with_traffic(std::move(variant), [](const runner::Shape& shape, DType) {
        return traffic_of_hopper<__half>(shape);
    });
}

runner::Variant hopper() {
    using Widest = batched_gemm::HopperTile<256>;
    return with_traffic_of_hopper(
        of_hopper(in_packs(rung("hopper", "ring; persistent blocks, pairs share B", Widest::kRows,
                                Widest::kCols, kHalves,
                                [](const auto& g, cudaStream_t stream) -> cudaError_t {
                                    if constexpr (sizeof(*g.c.data) == 2)
                                        return batched_gemm::hopper_gemm(g, stream);
                                    return cudaErrorInvalidValue;  // not for float
                                }),
                           8),
                  batched_gemm::hopper_kernel<__half, __half, Widest, batched_gemm::Plain>));
}

// Adds copies of the operands to the traffic of hopper with results of type Result.
template <class T, class Result>
Traffic traffic_of_packed(const Shape& s) {
    Traffic traffic = traffic_of_hopper<T, Result>(s);
    const batched_gemm::PackedOperands<T> copies(problem_at<T>(s));
    const double copied =
        (copies.a.bytes() == 0 ? 0 : static_cast<double>(s.k) / static_cast<double>(s.n)) +
        (copies.b.bytes() == 0 ? 0 : static_cast<double>(s.k) / static_cast<double>(s.m));
    traffic.loads += copied;
    traffic.stores += copied;
    return traffic;
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

// Returns a variant with sums in half, which may leave results open.
template <class Launch>
runner::Variant of_half_sums(const std::string& name, const std::string& summary, Launch launch) {
    runner::Variant variant =
        of_kind<__half>(name, summary, operations::gemm::Kind::half_sums, launch);
    variant.open_inputs = {operations::gemm::kWide};
    variant.why_open =
        "sums in half of numbers of such different sizes may consist of rounding alone";
    return variant;
}

runner::Variant hopper_half_sums() {
    using Widest = batched_gemm::HopperTile<256>;
    return with_traffic_of_hopper(of_hopper(
        of_half_sums("hopper_half_sums", "hopper with sums in half",
                     batched_gemm::hopper_half_sums<__half>),
        batched_gemm::hopper_kernel<__half, __half, Widest, batched_gemm::Plain, __half>));
}

runner::Variant hopper_pruned() {
    runner::Variant variant = hopper();
    variant.name = "hopper_pruned";
    variant.summary = "hopper, where half of B is 0";
    variant.operation = operations::gemm::operation(operations::gemm::Kind::pruned);
    return variant;
}

// Takes any lines and layouts of T or of the types in `dtypes`; a launch copies what TMA cannot load or wgmma cannot read.
template <class T>
runner::Variant packed(const std::string& name, const std::string& summary,
                       std::vector<DType> dtypes, operations::gemm::Kind kind) {
    using Widest = batched_gemm::HopperTile<sizeof(T) == 2 ? 256 : 128>;
    using Result = std::conditional_t<sizeof(T) == 1, float, T>;
    runner::Variant variant =
        of_hopper(rung(name, summary, Widest::kRows, Widest::kCols, std::move(dtypes),
                       [](const auto&, cudaStream_t) { return cudaSuccess; }),
                  batched_gemm::hopper_kernel<T, Result, Widest, batched_gemm::Plain>);
    variant.operation = operations::gemm::operation(kind);
    variant.launch = [](const Call& call) {
        return runner::visit_but_double(call.dtype, [&](auto of) -> cudaError_t {
            using Of = typename decltype(of)::type;
            if constexpr (sizeof(T) == 1) {
                return batched_gemm::packed_with(problem_of<T, Of>(call), call.workspace,
                                                 batched_gemm::Plain{}, call.stream);
            } else if constexpr (sizeof(Of) == sizeof(T)) {
                const Problem<Of> g = problem_of<Of>(call);
                const cudaError_t status = batched_gemm::packed_with(
                    g, call.workspace, batched_gemm::Plain{}, call.stream);
                if (status != cudaErrorNotSupported) return status;  // as with k = 0
                if constexpr (sizeof(T) == 2)
                    return batched_gemm::mma_gemm(g, call.stream);
                else
                    return batched_gemm::tf32_gemm(g, call.stream);
            }
            return cudaErrorInvalidValue;  // of another size
        });
    };
    // Operands may begin anywhere, so both may have to be copied.
    variant.workspace_bytes = [](const runner::Shape& shape, DType) {
        Problem<T> g = problem_at<T>(shape);
        g.a.data = g.b.data = reinterpret_cast<const T*>(sizeof(T));
        return batched_gemm::PackedOperands<T>(g).bytes();
    };
    return with_traffic(std::move(variant), [](const runner::Shape& shape, DType dtype) {
        return size_of(dtype) == 2
                   ? traffic_of_packed<T, std::conditional_t<sizeof(T) == 1, __half, T>>(shape)
                   : traffic_of_packed<T, Result>(shape);
    });
}

// Returns a variant with operands of type T; results have the type of the call. There is no kernel for k = 0.
template <class T>
runner::Variant eight_bits(const std::string& name, const std::string& summary,
                           operations::gemm::Kind kind) {
    runner::Variant variant = packed<T>(name, summary, kAll, kind);
    variant.obstacle = [beside = variant.obstacle](const runner::Shape& shape,
                                                   DType dtype) -> std::string {
        if (Shape(shape).k == 0) return "needs k of at least 1";
        return beside(shape, dtype);
    };
    return variant;
}

runner::Variant few_rows() {
    using Lowest = batched_gemm::FewRowsTile<16>;
    runner::Variant variant =
        of_hopper(in_packs(rung("few_rows", "B^T fills wgmma's rows; a cluster shares k",
                                Lowest::kRows, Lowest::kCols, kHalves,
                                [](const auto& g, cudaStream_t stream) -> cudaError_t {
                                    if constexpr (sizeof(*g.c.data) == 2)
                                        return batched_gemm::few_rows_gemm(g, stream);
                                    return cudaErrorInvalidValue;  // not for float
                                }),
                           8),
                  batched_gemm::few_rows_kernel<__half, Lowest, batched_gemm::Plain>);
    return with_traffic(std::move(variant), [](const runner::Shape& shape, DType) {
        const int rows = batched_gemm::few_rows_plan(problem_at<__half>(shape),
                                                     softmax_stages::this_chip().multiprocessors)
                             .rows;
        return traffic_of_tiles(shape, rows, Lowest::kCols);
    });
}

}  // namespace

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
            packed<__half>("packed_lines", "hopper on copies of A and B with aligned lines",
                           kHalves, Kind::float_sums),
            few_rows(),
            in_tiles_for_it(of_half_sums("mma_half_sums", "mma with sums in half",
                                         batched_gemm::half_sums_gemm<__half>)),
            of_kind<float>("mma_tf32", "mma of floats, 11 bits of each", Kind::tf32,
                           batched_gemm::tf32_gemm<float>),
            hopper_half_sums(),
            packed<float>("hopper_tf32", "hopper with floats, 11 bits of each", {DType::float32},
                          Kind::tf32),
            eight_bits<__nv_fp8_e4m3>("hopper_e4m3", "hopper with e4m3", Kind::e4m3),
            eight_bits<int8_t>("hopper_s8", "hopper with int8_t, sums in int", Kind::s8),
            hopper_pruned()};
}

}  // namespace batched_gemm_variants

#define INSTANCE template
#include "07_batched_gemm/mma_launchers.hpp"
