// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>

#include "../04_warp_softmax/further/masked_loads.cuh"
#include "common/operations/softmax/properties.hpp"
#include "common/runner/probe.hpp"
#include "common/testing/random_cases.hpp"
#include "common/testing/skip.hpp"
#include "further/functor_rows.cuh"
#include "further/row_launch.cuh"
#include "smem_softmax.cuh"
#include "test_any_axis.cuh"
#include "test_cross_entropy.cuh"
#include "test_front.cuh"
#include "test_plan.cuh"

// After the headers: what the stage's files compile.
#include "04_warp_softmax/launchers.hpp"
#include "05_smem_softmax/any_axis_launchers.hpp"
#include "05_smem_softmax/on_chip_launchers.hpp"

runner::Stage describe_05_smem_softmax();

using runner::DeviceBuffer;

namespace {

// The variants but cross-entropies, which have tests of their own.
std::vector<runner::Variant> softmaxes() {
    std::vector<runner::Variant> softmaxes;
    for (const runner::Variant& variant : describe_05_smem_softmax().variants) {
        if (variant.operation->family() == "softmax") softmaxes.push_back(variant);
    }
    return softmaxes;
}

// Bank conflicts of one launch, as written; nothing on a device that does not count.
template <class T>
std::optional<int64_t> conflicts(const std::string& name, operations::softmax::Shape shape) {
    const DeviceBuffer<T> x(testing::named_values<T>(operations::softmax::Input::normal, shape));
    DeviceBuffer<T> y(testing::size_of(shape));
    for (const runner::Variant& variant : describe_05_smem_softmax().variants) {
        if (variant.name != name) continue;
        runner::probe().start();
        testing::launch(variant, x.data(), y.data(), shape);
        const std::optional<runner::Counts> counts = runner::probe().stop();
        return counts ? std::optional(counts->shared_bank_conflicts) : std::nullopt;
    }
    throw std::runtime_error("no variant " + name);
}

}  // namespace

// One case per type, so that the types run side by side.
TEMPLATE_TEST_CASE("every variant of 05 is what it says", "", float, __half, __nv_bfloat16,
                   double) {
    for (const runner::Variant& variant : softmaxes()) {
        if (!runner::takes(variant, "inner") &&
            testing::has_type<TestType>(
                variant))  // variants along another axis have tests of their own
            testing::holds_every_property_in<TestType>(variant);
    }
}

TEST_CASE("packs of two floats stored in the row's order take two wavefronts per request") {
    const operations::softmax::Shape shape{8, 1024};
    if (!conflicts<float>("softmax", shape))
        return testing::skip_on_gpu("on a GPU Nsight Compute counts them");
    // One put and two gets per element, in requests of 32.
    const int64_t requests = 3 * operations::softmax::elements(shape) / 32;
    CHECK(conflicts<float>("four_rows_packed", shape) == requests);
    CHECK(conflicts<float>("packed", shape) == requests);
    CHECK(conflicts<float>("four_rows_interleaved", shape) == 0);
    CHECK(conflicts<float>("softmax", shape) == 0);
    CHECK(conflicts<float>("uncached", shape) == 0);
    CHECK(conflicts<__half>("packed", shape) == 0);  // two halves share one word of a bank
}

TEST_CASE("05 takes rows that fit into shared memory and refuses longer ones") {
    const auto refuses_one_more = [](auto zero) {
        using T = decltype(zero);
        const int64_t most = smem_softmax::room_for_rows() / static_cast<int64_t>(sizeof(T));
        const runner::Variant softmax = describe_05_smem_softmax().variants[3];
        REQUIRE(softmax.name == "softmax");
        for (const int64_t cols : {most - 1, most}) {
            const std::vector<T> values =
                testing::named_values<T>(operations::softmax::Input::normal, {1, cols});
            testing::expect_good(softmax, values, testing::result_of(softmax, values, {1, cols}),
                                 {1, cols});
        }
        const DeviceBuffer<T> x(static_cast<size_t>(most + 1));
        DeviceBuffer<T> y(static_cast<size_t>(most + 1));
        y.poison();
        CHECK(smem_softmax::softmax(x.data(), y.data(), 1, most + 1, nullptr) ==
              cudaErrorInvalidValue);
        CHECK(smem_softmax::log_softmax(x.data(), y.data(), 1, most + 1, nullptr) ==
              cudaErrorInvalidValue);
        CHECK(smem_softmax::softmax<smem_softmax::Packed, 4>(x.data(), y.data(), 4, most / 4 + 1,
                                                             nullptr) == cudaErrorInvalidValue);
        CHECK(cudaDeviceSynchronize() == cudaSuccess);
        CHECK(cudaGetLastError() == cudaSuccess);
        for (const T untouched : y.download()) CHECK(std::isnan(runner::to_double(untouched)));
    };
    refuses_one_more(0.f);
    refuses_one_more(__half(0.f));
}

TEST_CASE("05 refuses too many columns and misaligned pointers") {
    DeviceBuffer<float> y(64);
    CHECK(smem_softmax::softmax<smem_softmax::Uncached>(y.data(), y.data(), 1, int64_t{1} << 31,
                                                        nullptr) == cudaErrorInvalidValue);
    const auto* odd = reinterpret_cast<const float*>(reinterpret_cast<const char*>(y.data()) + 1);
    CHECK(smem_softmax::softmax(odd, y.data(), 2, 8, nullptr) == cudaErrorInvalidValue);
    CHECK(smem_softmax::log_softmax<smem_softmax::Uncached>(y.data(), y.data(), 1, int64_t{1} << 31,
                                                            nullptr) == cudaErrorInvalidValue);
    CHECK(smem_softmax::log_softmax(odd, y.data(), 2, 8, nullptr) == cudaErrorInvalidValue);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
}

// functor_rows as a plain softmax, which no variant is: rows of any stride, kept or not.
template <class Layout>
runner::Variant softmax_by_functors() {
    using operations::softmax::Call;
    runner::Variant variant;
    variant.operation = operations::softmax::operation_of(operations::softmax::Kind::softmax);
    variant.name = Layout::kKeeps ? "kept" : "uncached";
    variant.traffic = {Layout::kKeeps ? 1. : 3., 1};
    variant.dtypes = runner::all_dtypes();
    variant.takes_strides = true;
    variant.launch = [](const Call& call) {
        return runner::visit(call.dtype, [&](auto of) {
            using T = typename decltype(of)::type;
            const bool apart = call.has_strides();
            return smem_softmax::launch<smem_softmax::Algorithm::softmax, Layout>(
                smem_softmax::DirectLoad<T>{call.input<T>(), apart ? call.x_stride : call.cols},
                smem_softmax::DirectStore<T>{call.output<T>(), apart ? call.y_stride : call.cols},
                call.rows, call.cols, call.stream);
        });
    };
    variant.partial_sums = [](operations::softmax::Shape shape, runner::DType) {
        return std::clamp<int64_t>(shape.cols / 8, 1, 128);
    };
    return variant;
}
TEMPLATE_TEST_CASE("functor_rows computes a softmax", "", float, __half, __nv_bfloat16, double) {
    testing::holds_every_property_in<TestType>(softmax_by_functors<smem_softmax::Whole>());
    testing::holds_every_property_in<TestType>(softmax_by_functors<smem_softmax::Uncached>());
}
TEST_CASE("functor_rows passes a hundred random cases as a softmax, of any stride") {
    runner::Stage stage;
    stage.name = "05_functor_rows";
    stage.variants = {softmax_by_functors<smem_softmax::Whole>(),
                      softmax_by_functors<smem_softmax::Uncached>()};
    testing::passes_random_cases(stage, 5, 0, 100, [](int64_t) { return 8192; });
}

// Shared memory keeps the mask with x; a row that the mask empties becomes zeros (log: -inf).
template <class Layout>
void masks_long_rows() {
    constexpr int64_t kRows = 3;
    constexpr int64_t kCols = 5000;
    const DeviceBuffer<float> x(
        testing::named_values<float>(operations::softmax::Input::normal, {kRows, kCols}));
    std::vector<unsigned char> kept(kRows * kCols, 0);
    for (int64_t col = 0; col < kCols; col += 3) kept[static_cast<size_t>(col)] = 1;
    kept[2 * kCols + 4321] = 1;
    const DeviceBuffer<unsigned char> mask(kept);
    DeviceBuffer<float> y(kRows * kCols);
    DeviceBuffer<float> log_y(kRows * kCols);
    const warp_softmax::ScaleMaskLoad<float> load{
        x.data(), reinterpret_cast<const bool*>(mask.data()), 0.5f, kCols};
    using smem_softmax::Algorithm;
    using smem_softmax::DirectStore;
    REQUIRE(smem_softmax::launch<Algorithm::softmax, Layout>(
                load, DirectStore<float>{y.data(), kCols}, kRows, kCols, nullptr) == cudaSuccess);
    REQUIRE(smem_softmax::launch<Algorithm::log_softmax, Layout>(
                load, DirectStore<float>{log_y.data(), kCols}, kRows, kCols, nullptr) ==
            cudaSuccess);
    const std::vector<float> values = x.download();
    const std::vector<float> shares = y.download();
    const std::vector<float> logs = log_y.download();
    double sum = 0;
    for (size_t i = 0; i < kCols; ++i) sum += kept[i] ? std::exp(0.5 * values[i]) : 0;
    for (size_t i = 0; i < shares.size(); ++i) {
        const double wanted = i < kCols ? std::exp(0.5 * values[i]) / sum : 1;
        const double share = kept[i] ? wanted : 0;
        CHECK(std::fabs(shares[i] - share) <= 1e-5 * share);
        if (kept[i]) CHECK(std::fabs(logs[i] - std::log(share)) <= 1e-5);
        if (!kept[i]) CHECK(logs[i] == -INFINITY);
    }
}
TEST_CASE("functor_rows takes the masks of 04, kept or not") {
    masks_long_rows<smem_softmax::Whole>();
    masks_long_rows<smem_softmax::Uncached>();
}

// Random widths, addresses and strides that a variant accepts, in every type.
void passes_random_cases(int64_t first, int64_t last) {
    testing::passes_random_cases(describe_05_smem_softmax(), 5, first, last,
                                 [](int64_t) { return 16384; });
}
TEST_CASE("05 passes hundreds of random cases") {
    passes_random_cases(0, 300);
}
TEST_CASE("05 passes thousands of random cases", "[.more]") {
    passes_random_cases(300, 5000);
}

TEST_CASE("05 takes more elements and more rows than 32 bits count", "[.huge]") {
    for (const runner::Variant& variant : softmaxes()) {
        DYNAMIC_SECTION(variant.name) {
            testing::holds_where_it_fits(variant, {(int64_t{1} << 31) / 4096 + 7, 4096});
            testing::holds_where_it_fits<__half>(variant, {(int64_t{1} << 31) / 1000 + 7, 1000});
            testing::holds_where_it_fits(variant, {(int64_t{1} << 31) + 5, 1});
        }
    }
}
