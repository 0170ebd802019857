// SPDX-License-Identifier: MIT
// Tests of softmax along any axis, included by the stage's test.cu.
#pragma once
#include <cstdint>
#include <vector>

#include "05_smem_softmax/variants.hpp"
#include "common/operations/softmax/properties.hpp"
#include "common/testing/random_cases.hpp"
#include "further/any_axis_softmax.cuh"
#include "further/softmax_backward.cuh"

namespace any_axis_tests {

using operations::softmax::Kind;
using operations::softmax::Shape;
using runner::DeviceBuffer;
using runner::Variant;

// Values of inner below a pack, not a multiple of a pack, of one tile and of many; slabs that share a block, that fill
// one, and that do not fit (the 40000).
inline const std::vector<Shape> kShapes = {
    {7, 1, 1},     {5, 2, 3},     {3, 33, 1},    {130, 8, 2},   {29, 7, 3},    {3, 1000, 3},
    {2, 501, 4},   {3, 100, 12},  {2, 97, 33},   {2, 60, 48},   {1, 128, 96},  {2, 13, 1000},
    {1, 3, 1031},  {1, 300, 256}, {1, 257, 37},  {1, 1031, 40}, {2, 40000, 2}, {1, 20011, 3},
    {1, 9001, 16}, {1, 2, 40000}, {1, 600011, 1}};

template <class T>
void matches_reference(const Variant& variant) {
    for (const operations::softmax::Input input : operations::softmax::all_inputs()) {
        size_t number = 0;
        for (const Shape shape : kShapes) {
            const bool large = operations::softmax::elements(shape) > 20000;
            if (!testing::meet<T>(input, number++) && !large) continue;
            // Large shapes: two inputs for float, one for the types that differ from float only in loads and stores.
            const bool is_looked_at =
                input == operations::softmax::Input::masked_slice ||
                (input == operations::softmax::Input::normal && std::is_same_v<T, float>);
            if (large && !is_looked_at) continue;
            INFO(name_of(input) << ", " << runner::text_of(shape));
            const std::vector<T> values = testing::operand_values<T>(variant, input, shape);
            testing::expect_good(variant, values, testing::result_of(variant, values, shape),
                                 shape);
            if (runner::workspace_of(variant, shape, runner::dtype_of<T>) == 0) continue;
            Variant without_scratch = variant;
            without_scratch.workspace_bytes = {};
            testing::expect_good(variant, values,
                                 testing::result_of(without_scratch, values, shape), shape);
        }
    }
}

// Columns of -inf alone, with a NaN, with +inf, and of +inf alone, among ordinary neighbours.
template <class T>
void contains_special_slices(const Variant& variant, Shape shape) {
    const T inf(std::numeric_limits<float>::infinity());
    const T masked(-std::numeric_limits<float>::infinity());
    const T nan(std::numeric_limits<float>::quiet_NaN());
    std::vector<T> values = testing::named_values<T>(operations::softmax::Input::normal, shape);
    const auto at = [&](int64_t slice, int64_t col) -> T& {
        return values[static_cast<size_t>(operations::softmax::index_of(shape, slice, col))];
    };
    for (int64_t col = 0; col < shape.cols; ++col) {
        at(1, col) = masked;
        at(4, col) = inf;
        if (col > 0) at(5, col) = masked;
    }
    at(2, shape.cols / 2) = nan;
    at(3, shape.cols - 1) = inf;
    INFO("special slices of " << runner::text_of(shape));
    testing::expect_good(variant, values, testing::result_of(variant, values, shape), shape);
}

// x and y at different phases of 16 bytes, and at the same; the launch touches nothing around y; y may be x.
template <class T>
void works_in_place_repeatedly_and_anywhere(const Variant& variant) {
    constexpr size_t kAfter = 8;
    const T guard(-77.f);
    for (const Shape shape : {Shape{9, 7, 3}, Shape{2, 500, 12}, Shape{1, 130, 64},
                              Shape{1, 40, 1001}, Shape{1, 30011, 2}, Shape{1, 9001, 16}}) {
        INFO(runner::text_of(shape));
        const std::vector<T> values =
            testing::operand_values<T>(variant, operations::softmax::Input::normal, shape);
        const std::vector<T> once = testing::result_of(variant, values, shape);
        CHECK(testing::same_bits(once, testing::result_of(variant, values, shape)));
        DeviceBuffer<T> both(values);
        testing::launch(variant, both.data(), both.data(), shape);
        CHECK(testing::same_bits(once, both.download()));
        for (const auto& [x_offset, y_offset] :
             {std::pair<size_t, size_t>{3, 1}, {1, 1}, {3, 3}, {0, 2}}) {
            std::vector<T> padded(x_offset + values.size(), guard);
            std::copy(values.begin(), values.end(), padded.begin() + x_offset);
            const DeviceBuffer<T> x(padded);
            DeviceBuffer<T> y(std::vector<T>(y_offset + once.size() + kAfter, guard));
            testing::launch(variant, x.data() + x_offset, y.data() + y_offset, shape);
            const std::vector<T> around = y.download();
            testing::expect_good(variant, values,
                                 std::vector<T>(around.begin() + y_offset, around.end() - kAfter),
                                 shape);
            CHECK(testing::same_bits({around.begin(), around.begin() + y_offset},
                                     std::vector<T>(y_offset, guard)));
            CHECK(testing::same_bits({around.end() - kAfter, around.end()},
                                     std::vector<T>(kAfter, guard)));
        }
    }
}

template <class T>
void refuses_bad_arguments(const Variant& variant) {
    const Shape shape{2, 3, 5};
    DeviceBuffer<T> x(testing::named_values<T>(operations::softmax::Input::normal, shape));
    DeviceBuffer<T> y(testing::size_of(shape));
    y.poison();
    const DeviceBuffer<unsigned char> x2 = testing::x2_of<T>(variant, shape);
    const auto status = [&](const T* from, T* to, int64_t outer, int64_t dim, int64_t inner) {
        return operations::softmax::launch(variant, {from, to, runner::dtype_of<T>, outer, dim,
                                                     nullptr, 0, nullptr, x2.data(), 0, 0, inner});
    };
    CHECK(status(nullptr, y.data(), 2, 3, 5) == cudaErrorInvalidValue);
    CHECK(status(x.data(), nullptr, 2, 3, 5) == cudaErrorInvalidValue);
    CHECK(status(x.data(), y.data(), -1, 3, 5) == cudaErrorInvalidValue);
    CHECK(status(x.data(), y.data(), 2, -1, 5) == cudaErrorInvalidValue);
    CHECK(status(x.data(), y.data(), 2, 3, -1) == cudaErrorInvalidValue);
    CHECK(status(nullptr, nullptr, 0, -3, 5) == cudaErrorInvalidValue);
    CHECK(status(x.data(), y.data(), 0, 3, 5) == cudaSuccess);
    CHECK(status(x.data(), y.data(), 2, 0, 5) == cudaSuccess);
    CHECK(status(nullptr, nullptr, 2, 3, 0) == cudaSuccess);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    for (const T untouched : y.download()) CHECK(std::isnan(runner::to_double(untouched)));
}

}  // namespace any_axis_tests

// One case per type, so that the types run side by side.
TEMPLATE_TEST_CASE("every variant along any axis has all properties", "", float, __half,
                   __nv_bfloat16, double) {
    using namespace any_axis_tests;
    for (const Variant& variant : smem_softmax::any_axis_variants()) {
        if (!testing::has_type<TestType>(variant)) continue;
        INFO(variant.name);
        matches_reference<TestType>(variant);
        if (!operations::softmax::is_backward(operations::softmax::kind_of(variant))) {
            for (const Shape shape : {Shape{3, 1, 2}, Shape{7, 5, 1}, Shape{2, 40, 3},
                                      Shape{1, 200, 33}, Shape{1, 64, 100}, Shape{3, 30000, 2}})
                contains_special_slices<TestType>(variant, shape);
        }
        works_in_place_repeatedly_and_anywhere<TestType>(variant);
        refuses_bad_arguments<TestType>(variant);
    }
}

TEST_CASE("any axis: misaligned pointers are refused") {
    const runner::DeviceBuffer<float> x(64);
    runner::DeviceBuffer<float> y(64);
    const auto* odd = reinterpret_cast<const float*>(reinterpret_cast<const char*>(x.data()) + 1);
    using smem_softmax::Algorithm;
    const auto status = [](auto operation) {
        return smem_softmax::any_axis::launch(operation, {2, 4, 8}, nullptr, 0, nullptr);
    };
    CHECK(status(smem_softmax::SoftmaxOf<Algorithm::softmax, float>{{odd}, y.data()}) ==
          cudaErrorInvalidValue);
    CHECK(status(smem_softmax::GradientOf<Algorithm::softmax, float>{{x.data(), odd}, y.data()}) ==
          cudaErrorInvalidValue);
}

TEST_CASE("any axis: a tile that fits is read once, in full sectors, by a full block") {
    using smem_softmax::any_axis::Tiling;
    const smem_softmax::any_axis::Device h200{227 * 1024, 132, 8, 16};
    const auto tiling = [&](int64_t outer, int64_t dim, int64_t inner) {
        return smem_softmax::any_axis::tiling_for<float>({outer, dim, inner}, 1, 0, h200);
    };
    const std::vector<int64_t> sizes = {1,  2,   3,   4,    7,    8,    12,   33,
                                        48, 100, 256, 1000, 1001, 4096, 32768};
    for (const int64_t dim : {1, 2, 8, 100, 128, 896, 1000, 10000, 100000}) {
        for (const int64_t inner : sizes) {
            for (const int64_t outer : {1, 4, 512}) {
                const Tiling one = tiling(outer, dim, inner);
                INFO(outer << " x " << dim << " x " << inner);
                CHECK(one.width * one.tiles >= inner);
                CHECK(one.threads * one.pack % one.width == 0);
                CHECK(one.threads * one.slabs <= 1024);
                CHECK(one.shared_bytes(1) <= 227 * 1024);
                CHECK((one.tiles == 1 || one.width * sizeof(float) >= 32));
                CHECK((one.held || dim * std::min<int64_t>(64, 4 * inner) > 64 * 1024));
            }
        }
    }
    CHECK(tiling(1, 128, 32768).packs > 0);
    CHECK(tiling(512, 896, 48).packs > 0);
    CHECK(tiling(512, 896, 47).packs == 0);
    for (const int64_t dim : {2048, 8192}) {  // few tiles, and tiles that are too long for a block
        CHECK(tiling(1, dim, 256).packs > 0);
        CHECK(tiling(1, dim, 256).blocks == 16);
    }
    CHECK(!tiling(4, 100000, 64).held);
}

TEST_CASE("any axis: no tiling takes more shared memory than a block has") {
    using namespace smem_softmax::any_axis;
    const auto hold = [](auto of) {
        using T = decltype(of);
        for (const int kilobytes : {48, 64, 99, 227}) {
            const Device device{kilobytes << 10, 40, kilobytes > 99 ? 8 : 1};
            for (const int64_t inner : {2, 3, 16, 33, 64, 203, 512, 1001, 5000}) {
                for (const int64_t dim : {100, 6162, 9000, 100000}) {
                    for (const int64_t outer : {1, 40, 331}) {
                        for (const int phase : {-1, 0, 1}) {
                            for (const int tensors : {1, 2}) {
                                for (const bool has_scratch : {false, true}) {
                                    const Tiling tiling = tiling_for<T>(
                                        {outer, dim, inner}, tensors, phase, device, has_scratch);
                                    INFO(outer << " x " << dim << " x " << inner << ", "
                                               << kilobytes << " KB, phase " << phase);
                                    REQUIRE(tiling.shared_bytes(tensors) <=
                                            static_cast<size_t>(device.shared));
                                }
                            }
                        }
                    }
                }
            }
        }
    };
    hold(0.f);
    hold(__half(0.f));
    hold(0.);
}

TEST_CASE("any axis: clusters and second reads, on a device with little shared memory") {
    using namespace any_axis_tests;
    const Variant softmax = smem_softmax::any_axis_variants()[1];
    REQUIRE(softmax.name == "softmax_any_axis");
    int held[2][2] = {};  // [tiles held or not][one block or several]
    int in_parts = 0;
    using Device = smem_softmax::any_axis::Device;
    int in_clusters = 0;  // in registers
    const auto holds = [&](auto zero, Shape shape, Device device, int phase, bool has_scratch) {
        using T = decltype(zero);
        const smem_softmax::any_axis::Sizes sizes{shape.rows, shape.cols, shape.inner};
        auto tiling = smem_softmax::any_axis::tiling_for<T>(sizes, 1, phase, device, has_scratch);
        const bool in_cluster = tiling.packs > 0 && tiling.blocks > 1;
        ++(in_cluster         ? in_clusters
           : tiling.parts > 0 ? in_parts
                              : held[tiling.held][tiling.blocks > 1]);
        INFO(runner::text_of(shape) << ", " << tiling.parts << " parts, " << tiling.blocks
                                    << " blocks, held: " << tiling.held);
        const DeviceBuffer<unsigned char> sums(tiling.sums_bytes(sizes, 2 * sizeof(double)));
        tiling.sums = const_cast<unsigned char*>(sums.data());
        const std::vector<T> values =
            testing::named_values<T>(operations::softmax::Input::masked, shape);
        const DeviceBuffer<T> x(values);
        DeviceBuffer<T> y(values.size());
        y.poison();
        const smem_softmax::SoftmaxOf<smem_softmax::Algorithm::softmax, T> operation{{x.data()},
                                                                                     y.data()};
        REQUIRE(smem_softmax::any_axis::launch_tiling(tiling, operation, sizes, nullptr) ==
                cudaSuccess);
        REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
        testing::expect_good(softmax, values, y.download(), shape);
    };
    for (const Shape shape : {Shape{2, 3000, 1},
                              {3, 1500, 3},
                              {2, 700, 7},
                              {2, 600, 12},
                              {1, 500, 33},
                              {1, 300, 64},
                              {1, 200, 100},
                              {1, 5000, 8},
                              {1, 3001, 5},
                              {1, 100, 300}}) {
        for (const int cluster : {1, 2, 8}) {
            for (const int phase : {0, -1}) {
                for (const bool has_scratch : {false, true}) {
                    if (has_scratch && cluster > 1) continue;
                    const Device device{8192, 12, cluster};
                    holds(0.f, shape, device, phase, has_scratch);
                    holds(0., shape, device, phase, has_scratch);
                    holds(__half(0.f), shape, device, phase, has_scratch);
                }
            }
        }
    }
    // Clusters with tiles in registers; of 258 rows, the last block of some has none.
    for (const Shape shape : {Shape{1, 2048, 32}, {2, 258, 64}, {1, 5000, 8}}) {
        const Device device{227 * 1024, 132, 8, 16};
        holds(0.f, shape, device, 0, false);
        holds(0., shape, device, 0, false);
        holds(__half(0.f), shape, device, 0, false);
    }
    CHECK(in_clusters >= 7);
    CHECK(in_parts > 0);
    CHECK(held[0][0] > 0);
    CHECK(held[0][1] > 0);
    CHECK(held[1][0] > 0);
    CHECK(held[1][1] > 0);
}

namespace any_axis_tests {

inline void passes_random_cases(int64_t first, int64_t last) {
    runner::Stage stage;
    stage.name = "05_smem_softmax";
    stage.variants = smem_softmax::any_axis_variants();
    testing::passes_random_cases(stage, 5, first, last,
                                 [](int64_t number) { return number % 16 == 0 ? 65536 : 4096; });
}

}  // namespace any_axis_tests

TEST_CASE("any axis: hundreds of random cases") {
    any_axis_tests::passes_random_cases(0, 400);
}

TEST_CASE("any axis: thousands of random cases", "[.more]") {
    any_axis_tests::passes_random_cases(400, 8000);
}
