// SPDX-License-Identifier: MIT
#include "batched_gemm.cuh"

#include <cmath>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "common/operations/gemm/properties.hpp"
#include "common/runner/build_info.hpp"
#include "common/runner/stage.hpp"
#include "common/testing/random_cases.hpp"
#include "test_front.cuh"
#include "test_linear_loss.cuh"
#include "test_mma.cuh"
#include "test_tuner.cuh"

// After the headers: the launchers that the stage's files compile.
#include "07_batched_gemm/mma_launchers.hpp"
#include "07_batched_gemm/rung_launchers.hpp"

runner::Stage describe_07_batched_gemm();

namespace {

using batched_gemm::Matrices;
using batched_gemm::Problem;
using runner::DeviceBuffer;
using runner::DType;

// One kernel in one type, with a name for messages.
template <class T>
struct Launcher {
    const char* name;
    cudaError_t (*launch)(const Problem<T>&, cudaStream_t);
};
template <class T>
cudaError_t without_workspace(const Problem<T>& g, cudaStream_t stream) {
    return softmax_stages::multiply(g, nullptr, 0, stream);
}
// Copies to a workspace what TMA cannot load, on Hopper.
template <class T>
cudaError_t packed(const Problem<T>& g, cudaStream_t stream) {
    const bool is_possible = batched_gemm::status_of(g, 64, 64) == cudaSuccess;
    DeviceBuffer<unsigned char> workspace(is_possible ? batched_gemm::PackedOperands<T>(g).bytes()
                                                      : 0);
    const cudaError_t status =
        batched_gemm::packed_with(g, workspace.data(), batched_gemm::Plain{}, stream);
    return status == cudaErrorNotSupported ? batched_gemm::tensor_core(g, stream) : status;
}
template <class T>
std::vector<Launcher<T>> all_launchers() {
    std::vector<Launcher<T>> all = {{"naive", batched_gemm::naive<T>},
                                    {"tiled", batched_gemm::tiled<T>},
                                    {"register_column", batched_gemm::register_column<T>},
                                    {"register_tile", batched_gemm::register_tile<T>},
                                    {"vector_loads", batched_gemm::vector_loads<T>},
                                    {"register_tiled", batched_gemm::register_tiled<T>},
                                    {"multiply", without_workspace<T>}};
    if constexpr (std::is_same_v<T, float>)
        all.push_back({"double_buffered", batched_gemm::double_buffered});
    if constexpr (sizeof(T) == 2) {
        all.push_back({"tensor_core", batched_gemm::tensor_core<T>});
        all.push_back({"packed_lines", packed<T>});
    }
    return all;
}

// Small whole numbers: their products and sums are exact in every type.
template <class T>
std::vector<T> numbers(int64_t count, int seed) {
    std::vector<T> all;
    for (int64_t i = 0; i < count; ++i)
        all.push_back(static_cast<T>(static_cast<float>((i * i + 3 * i + seed) % 5 - 2)));
    return all;
}

template <class T>
Problem<T> problem(int64_t batch, int64_t m, int64_t n, int64_t k, const T* a, const T* b, T* c) {
    Problem<T> g{};
    g.batch = batch;
    g.m = m;
    g.n = n;
    g.k = k;
    g.alpha = 1;
    g.a.data = a;
    g.a.ld = k;
    g.a.stride = m * k;
    g.b.data = b;
    g.b.ld = n;
    g.b.stride = k * n;
    g.c.data = c;
    g.c.ld = n;
    g.c.stride = m * n;
    return g;
}

template <class T>
float number(T x) {
    return static_cast<float>(x);
}

}  // namespace

TEMPLATE_TEST_CASE("every variant of 07 is what it says", "", float, __half, __nv_bfloat16) {
    const DType dtype = runner::dtype_of<TestType>;
    for (const runner::Variant& variant : describe_07_batched_gemm().variants) {
        if (takes(variant, dtype)) testing::holds_every_gemm_property(variant, dtype);
    }
}

TEST_CASE("random cases: sizes, types, options, addresses, strides") {
    testing::passes_random_cases(describe_07_batched_gemm(), 7, 0, 150,
                                 [](int64_t) { return int64_t{1} << 11; });
}

TEST_CASE("many more random cases", "[more][.]") {
    testing::passes_random_cases(describe_07_batched_gemm(), 8, 0, 5000,
                                 [](int64_t) { return int64_t{1} << 13; });
}

TEST_CASE("all variants give the same bits where sums are exact") {
    for (const testing::Shape& shape :
         {testing::Shape(2, 128, 64, 200), testing::Shape(1, 131, 77, 65).with_scales(-2, 0.5)}) {
        for (const DType dtype : {DType::float16, DType::bfloat16}) {
            const auto stage = describe_07_batched_gemm();
            const auto first = testing::product_of(stage.variants.front(),
                                                   operations::gemm::kIntegers, shape, dtype);
            CHECK(first.report.good());
            int compared = 0;
            const auto* const pruned = operations::gemm::operation(operations::gemm::Kind::pruned);
            for (const runner::Variant& variant : stage.variants) {
                if (!takes(variant, dtype) || variant.operation == pruned) continue;  // another B
                ++compared;
                INFO(variant.name << ", " << name_of(dtype));
                CHECK(first.has_bits_of(
                    testing::product_of(variant, operations::gemm::kIntegers, shape, dtype)));
            }
            CHECK(compared > 1);
        }
    }
}

namespace {

const runner::Variant& variant_named(const runner::Stage& stage, const std::string& name) {
    for (const runner::Variant& each : stage.variants) {
        if (each.name == name) return each;
    }
    throw std::runtime_error("07 has no " + name);
}

// Returns the root of the mean squared relative error of 64 x 64 sums of k products between 0 and 1, in last places of
// 1 in half (2^-10).
double error_of_positive_sums(const std::string& name, DType dtype, int64_t k) {
    const auto stage = describe_07_batched_gemm();
    const runner::Variant& variant = variant_named(stage, name);
    const testing::Shape shape(1, 64, 64, k);
    const runner::Tensors inputs = filled_inputs(*variant.operation, shape, dtype, "positive", 1);
    const std::vector<double> right = operations::gemm::product(
        inputs.values("a"), inputs.values("b"), shape.m, shape.n, shape.k);
    const testing::Product ours = testing::product_of(variant, inputs, shape, dtype);
    CHECK(ours.report.good());
    double squares = 0;
    for (size_t i = 0; i < right.size(); ++i) {
        const double error = (ours.c[i] - right[i]) / right[i];
        squares += error * error;
    }
    return std::sqrt(squares / static_cast<double>(right.size())) * 0x1p10;
}

}  // namespace

// The figures of further/half_sums_and_tf32.md, for an instruction that rounds once, as on Hopper. Others may round
// more often.
TEST_CASE("the error of sums in half grows with k, that of floats cut to 11 bits does not") {
    const auto is_about = [](double error, double figure) {
        if (runner::on_gpu()) return error < 3 * figure;
        return std::fabs(error - figure) < 0.006;
    };
    struct Figures {
        int64_t k;
        double in_float, in_half;
    };
    for (const auto& [k, in_float, in_half] :
         {Figures{64, 0.21, 0.29}, Figures{256, 0.21, 0.48}, Figures{1024, 0.21, 0.92},
          Figures{4096, 0.23, 1.77}}) {
        INFO(k);
        CHECK(is_about(error_of_positive_sums("mma", DType::float16, k), in_float));
        CHECK(is_about(error_of_positive_sums("mma_half_sums", DType::float16, k), in_half));
        CHECK(is_about(error_of_positive_sums("mma_tf32", DType::float32, k), 0.67));
        CHECK(error_of_positive_sums("register_tiled", DType::float32, k) < 0.001);
    }
}

TEST_CASE("mma_half_sums and mma_tf32 fail the bounds of sums in float") {
    const auto stage = describe_07_batched_gemm();
    for (const char* name : {"mma_half_sums", "mma_tf32"}) {
        runner::Variant variant = variant_named(stage, name);
        const DType dtype = variant.dtypes.front();
        const testing::Shape shape(1, 64, 64, 1024);
        INFO(name);
        CHECK(testing::product_of(variant, "normal", shape, dtype).report.good());
        variant.operation = operations::gemm::operation();
        CHECK_FALSE(testing::product_of(variant, "positive", shape, dtype).report.good());
    }
}

// [sequence, heads, size per head], as in attention: the rows of one head lie heads * size apart, the heads one size
// apart. One B serves all heads.
TEMPLATE_TEST_CASE("the matrices of a batch may be interleaved, or be one for all", "", float,
                   __half) {
    using T = TestType;
    const int64_t heads = 3, m = 40, k = 24, n = 48;
    const std::vector<T> a = numbers<T>(m * heads * k, 1), b = numbers<T>(k * n, 2);
    const DeviceBuffer<T> on_a(a), on_b(b);
    for (const Launcher<T>& each : all_launchers<T>()) {
        DeviceBuffer<T> on_c(std::vector<T>(static_cast<size_t>(m * heads * n), T(-99.f)));
        Problem<T> g = problem(heads, m, n, k, on_a.data(), on_b.data(), on_c.data());
        g.a.ld = heads * k;
        g.a.stride = k;
        g.b.stride = 0;
        g.c.ld = heads * n;
        g.c.stride = n;
        REQUIRE(each.launch(g, nullptr) == cudaSuccess);
        REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
        const std::vector<T> c = on_c.download();
        int wrong = 0;
        for (int64_t i = 0; i < m * heads * n; ++i) {
            const int64_t row = i / (heads * n), head = i / n % heads, col = i % n;
            float want = 0;
            for (int64_t p = 0; p < k; ++p)
                want += number(a[static_cast<size_t>((row * heads + head) * k + p)]) *
                        number(b[static_cast<size_t>(p * n + col)]);
            wrong += number(c[static_cast<size_t>(i)]) != want;
        }
        INFO(each.name);
        CHECK(wrong == 0);
    }
}

TEMPLATE_TEST_CASE("the matrices of a batch may lie at an array of pointers", "", float, __half,
                   __nv_bfloat16) {
    using T = TestType;
    const int64_t batch = 4, m = 33, n = 40, k = 19;
    const std::vector<T> a = numbers<T>(batch * m * k, 1), b = numbers<T>(batch * k * n, 2);
    const DeviceBuffer<T> on_a(a), on_b(b);
    for (const Launcher<T>& each : all_launchers<T>()) {
        INFO(each.name);
        DeviceBuffer<T> straight(std::vector<T>(static_cast<size_t>(batch * m * n), T(-99.f)));
        DeviceBuffer<T> by_pointers(std::vector<T>(static_cast<size_t>(batch * m * n), T(-99.f)));
        Problem<T> g = problem(batch, m, n, k, on_a.data(), on_b.data(), straight.data());
        REQUIRE(each.launch(g, nullptr) == cudaSuccess);
        // The pointers list the matrices in reverse order.
        std::vector<const T*> of_a, of_b;
        std::vector<T*> of_c;
        for (int64_t i = batch; i-- > 0;) {
            of_a.push_back(on_a.data() + i * m * k);
            of_b.push_back(on_b.data() + i * k * n);
            of_c.push_back(by_pointers.data() + i * m * n);
        }
        const DeviceBuffer<const T*> each_a(of_a), each_b(of_b);
        const DeviceBuffer<T*> each_c(of_c);
        g.a.each = each_a.data();
        g.b.each = each_b.data();
        g.c.each = each_c.data();
        g.a.data = g.b.data = nullptr;
        g.c.data = nullptr;
        REQUIRE(each.launch(g, nullptr) == cudaSuccess);
        REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
        const std::vector<T> one = straight.download(), other = by_pointers.download();
        int wrong = 0;
        for (size_t i = 0; i < one.size(); ++i) wrong += number(one[i]) != number(other[i]);
        CHECK(wrong == 0);
        CHECK(number(one.front()) != -99.f);
    }
}

TEMPLATE_TEST_CASE("invalid problems are refused, and empty ones launch nothing", "", float,
                   __half) {
    using T = TestType;
    DeviceBuffer<T> a(numbers<T>(64, 1)), b(numbers<T>(64, 2)), c(std::vector<T>(64, T(-7.f)));
    const Problem<T> right = problem(1, 4, 8, 8, a.data(), b.data(), c.data());
    const auto status_of = [&](auto change) {
        Problem<T> g = right;
        change(g);
        const cudaError_t first = batched_gemm::naive(g, nullptr);
        for (const Launcher<T>& each : all_launchers<T>()) {
            INFO(each.name);
            CHECK(each.launch(g, nullptr) == first);
        }
        return first;
    };
    CHECK(status_of([](auto& g) { g.batch = -1; }) == cudaErrorInvalidValue);
    CHECK(status_of([](auto& g) { g.m = -1; }) == cudaErrorInvalidValue);
    CHECK(status_of([](auto& g) { g.n = -1; }) == cudaErrorInvalidValue);
    CHECK(status_of([](auto& g) { g.k = -1; }) == cudaErrorInvalidValue);
    CHECK(status_of([](auto& g) { g.a.data = nullptr; }) == cudaErrorInvalidValue);
    CHECK(status_of([](auto& g) { g.b.data = nullptr; }) == cudaErrorInvalidValue);
    CHECK(status_of([](auto& g) { g.c.data = nullptr; }) == cudaErrorInvalidValue);
    // Misaligned pointers.
    const auto shift = [](auto*& data) {
        data =
            reinterpret_cast<std::decay_t<decltype(data)>>(reinterpret_cast<uintptr_t>(data) + 1);
    };
    CHECK(status_of([&](auto& g) { shift(g.a.data); }) == cudaErrorInvalidValue);
    CHECK(status_of([&](auto& g) { shift(g.b.data); }) == cudaErrorInvalidValue);
    CHECK(status_of([&](auto& g) { shift(g.c.data); }) == cudaErrorInvalidValue);
    CHECK(status_of([](auto& g) { g.c.transposed = true; }) == cudaErrorInvalidValue);
    CHECK(status_of([](auto& g) { g.a.ld = 7; }) == cudaErrorInvalidValue);  // lines would overlap
    CHECK(status_of([](auto& g) { g.b.ld = 7; }) == cudaErrorInvalidValue);
    CHECK(status_of([](auto& g) { g.c.ld = 7; }) == cudaErrorInvalidValue);
    CHECK(status_of([](auto& g) { g.a.stride = -1; }) == cudaErrorInvalidValue);
    CHECK(status_of([](auto& g) { g.batch = 2, g.b.stride = 0, g.c.stride = 0; }) ==
          cudaErrorInvalidValue);  // the two results would overlap
    CHECK(status_of([](auto& g) { g.batch = int64_t{1} << 40; }) == cudaErrorInvalidValue);
    CHECK(status_of([](auto& g) { g.batch = INT64_MAX; }) == cudaErrorInvalidValue);
    const auto without_memory = [](auto& g) { g.a.data = g.b.data = g.c.data = nullptr; };
    CHECK(status_of([&](auto& g) { g.batch = 0, without_memory(g); }) == cudaSuccess);
    CHECK(status_of([&](auto& g) { g.m = 0, without_memory(g); }) == cudaSuccess);
    CHECK(status_of([&](auto& g) { g.n = 0, without_memory(g); }) == cudaSuccess);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    for (const T each : c.download()) CHECK(number(each) == -7.f);

    // With k = 0 neither A nor B is needed.
    CHECK(status_of([](auto& g) { g.k = 0, g.a.data = g.b.data = nullptr; }) == cudaSuccess);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    const std::vector<T> zeros = c.download();
    CHECK(number(zeros[0]) == 0.f);
    CHECK(number(zeros[31]) == 0.f);
    CHECK(number(zeros[32]) == -7.f);
}

TEST_CASE(
    "the front call's plan: parts of k for few tiles, Hopper's kernel for many, else a rung") {
    using softmax_stages::GemmOptions;
    using softmax_stages::GemmWay;
    const auto way = [](auto of, int64_t m, int64_t n, int64_t k = 64, int64_t capability = 9) {
        const softmax_stages::Chip chip{132, 0, capability >= 9 ? 16 : 0, 0, capability};
        return softmax_stages::gemm_plan<decltype(of)>(1, m, n, k, {}, chip).way;
    };
    CHECK(way(__half{}, 4096, 4096, 4096) == GemmWay::hopper);
    CHECK(way(__half{}, 4096, 4096, 4096, 8) == GemmWay::mma);
    CHECK(way(__half{}, 4096, 4096, 64) == GemmWay::mma);       // too few steps
    CHECK(way(__half{}, 8192, 8192, 64) == GemmWay::hopper);    // C is larger than the L2
    CHECK(way(__half{}, 512, 768, 3072) == GemmWay::few_rows);  // too few tiles
    CHECK(way(__half{}, 512, 768, 768) == GemmWay::hopper);
    CHECK(way(__half{}, 8, 4096, 4096) == GemmWay::few_rows);
    CHECK(way(__half{}, 8, 4096, 4096, 8) == GemmWay::mma);
    CHECK(way(__half{}, 8, 4096, 4096, 10) == GemmWay::split_k);
    CHECK(way(__half{}, 64, 64, 4096, 7) == GemmWay::tiled);
    // Lines that do not consist of packs.
    CHECK(way(__half{}, 64, 65) == GemmWay::tensor_core);
    CHECK(way(__nv_bfloat16{}, 4096, 65) == GemmWay::tensor_core);
    CHECK(way(float{}, 64, 64) == GemmWay::register_tiled);
    CHECK(way(__half{}, 63, 4097) == GemmWay::tiled);
    CHECK(way(__half{}, 4096, 17) == GemmWay::tiled);
    CHECK(way(float{}, 4096, 15) == GemmWay::naive);
    CHECK(way(float{}, 1, 1) == GemmWay::naive);
}

TEST_CASE("lines consist of packs if they begin and end at multiples of 16 bytes") {
    alignas(16) static __half memory[64];
    const auto packs = [](auto change) {
        Problem<__half> g = problem<__half>(2, 16, 24, 32, memory, memory, memory);
        change(g);
        return batched_gemm::consists_of_packs(g);
    };
    CHECK(packs([](auto&) {}));
    CHECK(packs([](auto& g) { g.m = 17; }));  // the number of lines does not matter
    CHECK_FALSE(packs([](auto& g) { g.m = 17, g.a.transposed = true; }));
    CHECK_FALSE(packs([](auto& g) { g.k = 28; }));
    CHECK_FALSE(packs([](auto& g) { g.n = 20; }));
    CHECK_FALSE(packs([](auto& g) { g.a.data = memory + 4; }));
    CHECK_FALSE(packs([](auto& g) { g.b.ld = 28; }));
    CHECK_FALSE(packs([](auto& g) { g.c.stride = 380; }));
    CHECK_FALSE(packs([](auto& g) {
        static __half* each[2] = {memory, memory};
        g.c.each = each;
    }));
}

TEST_CASE("07 takes more elements than 32 bits can count", "[.huge]") {
    for (const runner::Variant& variant : describe_07_batched_gemm().variants) {
        const DType dtype = variant.dtypes.front();
        testing::multiplies_where_it_fits(variant, {1, 65537, 65544, 8}, dtype);
        testing::multiplies_where_it_fits(variant, {(int64_t{1} << 20) + 3, 64, 64, 8}, dtype);
    }
}
