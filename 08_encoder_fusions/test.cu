// SPDX-License-Identifier: MIT
#include <cmath>
#include <vector>

#include "common/operations/heads/operation.hpp"
#include "common/operations/tokens/properties.hpp"
#include "common/runner/device.hpp"
#include "common/runner/stage.hpp"
#include "common/testing/random_cases.hpp"
#include "encoder_fusions.cuh"
#include "further/half2_arithmetic.cuh"
#include "further/padding_by_lengths.cuh"
#include "further/unfused.cuh"
#include "test_attention.cuh"
#include "test_eight_bits.cuh"
#include "test_encoder.cuh"
#include "test_front.cuh"

// After the headers: launchers that the stage's files compile.
#include "08_encoder_fusions/attention_launchers.hpp"
#include "08_encoder_fusions/hopper_attention_launchers.hpp"
#include "08_encoder_fusions/product_launchers.hpp"
#include "08_encoder_fusions/softmax_launchers.hpp"
#include "08_encoder_fusions/token_launchers.hpp"

runner::Stage describe_08_encoder_fusions();

namespace {

using namespace encoder_fusions;
using runner::DeviceBuffer;
using runner::DType;

runner::Variant variant_named(const std::string& name) {
    for (const runner::Variant& variant : describe_08_encoder_fusions().variants) {
        if (variant.name == name) return variant;
    }
    throw std::out_of_range(name);
}

template <class T>
std::vector<T> rounded(const std::vector<float>& x) {
    std::vector<T> all;
    for (const float each : x) all.push_back(static_cast<T>(each));
    return all;
}

}  // namespace

TEMPLATE_TEST_CASE("kernels on tokens compute what they say", "", float, __half, __nv_bfloat16) {
    const DType dtype = runner::dtype_of<TestType>;
    for (const runner::Variant& variant : describe_08_encoder_fusions().variants) {
        if (variant.operation->family() == "tokens" && takes(variant, dtype))
            testing::holds_every_tokens_property(variant, dtype);
    }
}

TEMPLATE_TEST_CASE("kernels by heads, and transpositions, compute what they say", "", float, __half,
                   __nv_bfloat16) {
    const DType dtype = runner::dtype_of<TestType>;
    for (const runner::Variant& variant : describe_08_encoder_fusions().variants) {
        const std::string family = variant.operation->family();
        if ((family == "heads" || family == "transpose") && takes(variant, dtype))
            testing::matches_reference_at_all_shapes(variant, dtype);
    }
}

TEST_CASE("sequences longer than registers hold use shared memory") {
    const runner::Shape shape = operations::heads::Shape(1, 2056, 1, 64, 40);
    for (const char* name : {"masked_softmax", "unfused_masked_softmax"})
        testing::matches_reference(variant_named(name), "normal", shape, DType::float16);
}

// 2, 0, 1 and 3 tokens of 3; lengths that are out of range are clamped and counted.
TEST_CASE("both forms of offsets, and lengths that are out of range") {
    const auto offsets_of = [](const std::vector<int32_t>& lengths, int64_t seq) {
        const auto batch = static_cast<int64_t>(lengths.size());
        const DeviceBuffer<int32_t> on_device(lengths);
        DeviceBuffer<int32_t> removed(lengths.size() + 1), padded(2 * lengths.size() + 1), wrong(1);
        removed.poison();
        padded.poison();
        wrong.poison();
        REQUIRE(sequence_offsets(on_device.data(), batch, seq,
                                 Offsets{removed.data(), padded.data(), wrong.data()},
                                 nullptr) == cudaSuccess);
        REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
        return std::vector<std::vector<int32_t>>{removed.download(), padded.download(),
                                                 wrong.download()};
    };
    using All = std::vector<std::vector<int32_t>>;
    CHECK(offsets_of({2, 0, 1, 3}, 3) == All{{0, 2, 2, 3, 6}, {0, 2, 3, 3, 6, 7, 9, 12, 12}, {0}});
    CHECK(offsets_of({-1, 4, 2}, 3) == All{{0, 0, 3, 5}, {0, 0, 3, 6, 6, 8, 9}, {2}});
    CHECK(offsets_of({}, 3) == All{{0}, {0}, {0}});
    const std::vector<int32_t> many(1000, 2);  // more than a block has threads
    const All of_many = offsets_of(many, 5);
    CHECK(of_many[0].back() == 2000);
    CHECK(of_many[0][513] == 2 * 513);
    CHECK(of_many[1][2 * 513 + 1] == 5 * 513 + 2);
    DeviceBuffer<int32_t> one(std::vector<int32_t>{1});
    const Offsets nothing{nullptr, nullptr, nullptr};
    CHECK(sequence_offsets(one.data(), 1, 3, nothing, nullptr) == cudaSuccess);
    CHECK(sequence_offsets(nullptr, 1, 3, nothing, nullptr) == cudaErrorInvalidValue);
    CHECK(sequence_offsets(one.data(), -1, 3, nothing, nullptr) == cudaErrorInvalidValue);
    CHECK(sequence_offsets(one.data(), 1, -3, nothing, nullptr) == cudaErrorInvalidValue);
    CHECK(sequence_offsets(one.data(), int64_t{1} << 20, int64_t{1} << 20, nothing, nullptr) ==
          cudaErrorInvalidValue);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
}

// A batch without tokens: removing its padding writes nothing, restoring it writes zeros.
TEST_CASE("a batch may have no tokens") {
    const DeviceBuffer<int32_t> offsets(std::vector<int32_t>(4, 0));
    const Sequences none{3, 5, offsets.data()};
    const DeviceBuffer<float> x(std::vector<float>(3 * 5 * 8, 1.f));
    DeviceBuffer<float> y(3 * 5 * 8);
    y.poison();
    CHECK(rebuild_padding(x.data(), y.data(), none, 8, nullptr) == cudaSuccess);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    CHECK(y.download() == std::vector<float>(3 * 5 * 8, 0.f));
    y.upload(std::vector<float>(3 * 5 * 8, -7.f));
    CHECK(remove_padding(x.data(), y.data(), none, 8, nullptr) == cudaSuccess);
    CHECK(remove_padding_by_lengths(x.data(), y.data(), offsets.data(), 3, 5, 8, nullptr) ==
          cudaSuccess);
    CHECK(transpose_back(x.data(), y.data(), none, 2, 4, nullptr) == cudaSuccess);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    CHECK(y.download() == std::vector<float>(3 * 5 * 8, -7.f));
}

TEST_CASE("any random case of 08: sizes, types, options, addresses") {
    testing::passes_random_cases(describe_08_encoder_fusions(), 8, 0, 300,
                                 [](int64_t) { return int64_t{1} << 12; });
}

TEST_CASE("many more random cases of 08", "[more][.]") {
    testing::passes_random_cases(describe_08_encoder_fusions(), 9, 0, 20000,
                                 [](int64_t) { return int64_t{1} << 14; });
}

// 10240 times 256 and one 255: in float E[x^2] - E[x]^2 is negative, and FasterTransformer's root of it was NaN.
TEST_CASE("a variance of almost 0 is not negative") {
    constexpr int kCols = 10240;
    std::vector<float> x(kCols, 256.f);
    x[77] = 255.f;
    float sum = 0, squares = 0;
    for (const float each : x) {
        sum += each;
        squares += each * each;
    }
    const float mean = sum / kCols;
    CHECK(squares / kCols - mean * mean < 0);
    const std::vector<float> zeros(kCols, 0.f), ones(kCols, 1.f);
    const DeviceBuffer<float> on_x(x), none(zeros), one(ones);
    DeviceBuffer<float> on_y(kCols);
    on_y.poison();
    REQUIRE(add_bias_residual_layernorm(on_x.data(), none.data(), none.data(),
                                        Norm<float>{one.data(), none.data(), 0.f}, on_y.data(), 1,
                                        kCols, nullptr) == cudaSuccess);
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    const std::vector<float> y = on_y.download();
    // One of n is off by 1: its deviation is -(n - 1) / n, the variance (n - 1) / n^2.
    CHECK(std::fabs(y[77] + std::sqrt(kCols - 1.f)) < 0.2f);
    CHECK(std::fabs(y[0] - 1 / std::sqrt(kCols - 1.f)) < 2e-3f);
}

TEMPLATE_TEST_CASE("launchers on tokens refuse what is invalid, and launch nothing for empty sizes",
                   "", float, __half) {
    using T = TestType;
    DeviceBuffer<T> x(rounded<T>(std::vector<float>(64, 1.f)));
    DeviceBuffer<T> y(rounded<T>(std::vector<float>(64, -7.f)));
    const Norm<T> norm{x.data(), x.data(), 1e-6f};
    const auto activation = [&](const T* from, const T* bias, T* to, int64_t rows, int64_t cols) {
        const cudaError_t fused =
            add_bias_activation(from, bias, to, rows, cols, batched_gemm::Gelu{}, nullptr);
        CHECK(unfused_bias_activation(from, bias, to, rows, cols, batched_gemm::Gelu{}, nullptr) ==
              fused);
        return fused;
    };
    const auto layernorm = [&](const T* from, const T* bias, const T* residual, const Norm<T>& of,
                               T* sum, T* to, int64_t rows, int64_t cols) {
        return add_bias_residual_prenorm(from, bias, residual, of, sum, to, rows, cols, nullptr);
    };
    T* const null = nullptr;
    CHECK(activation(null, x.data(), y.data(), 2, 8) == cudaErrorInvalidValue);
    CHECK(activation(x.data(), null, y.data(), 2, 8) == cudaErrorInvalidValue);
    CHECK(activation(x.data(), x.data(), null, 2, 8) == cudaErrorInvalidValue);
    CHECK(activation(x.data(), x.data(), y.data(), -1, 8) == cudaErrorInvalidValue);
    CHECK(activation(x.data(), x.data(), y.data(), 2, -1) == cudaErrorInvalidValue);
    CHECK(activation(x.data(), x.data(), y.data(), INT64_MAX, 8) == cudaErrorInvalidValue);
    CHECK(activation(null, null, null, 0, 8) == cudaSuccess);
    CHECK(activation(null, null, null, 8, 0) == cudaSuccess);
    for (const int null_one : {0, 1, 2, 3, 4, 5}) {
        const auto of = [&](int which) { return which == null_one ? null : x.data(); };
        CHECK(layernorm(of(0), of(1), of(2), Norm<T>{of(3), of(4), 1e-6f}, nullptr,
                        null_one == 5 ? null : y.data(), 2, 8) == cudaErrorInvalidValue);
    }
    CHECK(layernorm(x.data(), x.data(), x.data(), norm, null, y.data(), 1, 16385) ==
          cudaErrorInvalidValue);
    CHECK(layernorm(x.data(), x.data(), x.data(), norm, null, y.data(), -1, 8) ==
          cudaErrorInvalidValue);
    CHECK(layernorm(x.data(), x.data(), x.data(), norm, null, y.data(), INT64_MAX, 8) ==
          cudaErrorInvalidValue);
    CHECK(layernorm(null, null, null, Norm<T>{}, null, null, 0, 8) == cudaSuccess);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    for (const T each : y.download()) CHECK(static_cast<float>(each) == -7.f);
}

TEST_CASE("launchers by heads, and transpositions, refuse what is invalid") {
    const DeviceBuffer<int32_t> three(std::vector<int32_t>(1, 3));
    DeviceBuffer<__half> memory(rounded<__half>(std::vector<float>(64, -7.f)));
    __half* const a = memory.data();
    __half* const null = nullptr;
    const auto all = [&](const __half* x, __half* y, int64_t batch, int64_t seq, int64_t heads,
                         int64_t size) {
        const Sequences sequences{batch, seq, nullptr};
        const cudaError_t status = transpose_back(x, y, sequences, heads, size, nullptr);
        CHECK(add_qkv_bias_transpose(x, x, y, y, y, sequences, heads, size, nullptr) == status);
        CHECK(remove_padding(x, y, sequences, heads * size, nullptr) == status);
        CHECK(rebuild_padding(x, y, sequences, heads * size, nullptr) == status);
        const int64_t hidden = heads * size;
        CHECK(remove_padding_by_lengths(x, y, three.data(), batch, seq, hidden, nullptr) == status);
        CHECK(rebuild_padding_by_lengths(x, y, three.data(), batch, seq, hidden, nullptr) ==
              status);
        return status;
    };
    CHECK(all(null, a, 1, 1, 2, 4) == cudaErrorInvalidValue);
    CHECK(all(a, null, 1, 1, 2, 4) == cudaErrorInvalidValue);
    CHECK(all(a, a, -1, 1, 2, 4) == cudaErrorInvalidValue);
    CHECK(all(a, a, 1, -1, 2, 4) == cudaErrorInvalidValue);
    CHECK(all(a, a, 1, 1, -2, 4) == cudaErrorInvalidValue);
    CHECK(all(a, a, 1, 1, 1 << 20, 1 << 20) == cudaErrorInvalidValue);
    CHECK(all(a, a, INT32_MAX, INT32_MAX, 2, 4) == cudaErrorInvalidValue);
    CHECK(all(null, null, 0, 1, 2, 4) == cudaSuccess);
    CHECK(all(null, null, 1, 0, 2, 4) == cudaSuccess);
    CHECK(all(null, null, 1, 1, 0, 4) == cudaSuccess);
    CHECK(masked_softmax(null, a, 1.f, false, Sequences{1, 2, nullptr}, 1, nullptr) ==
          cudaErrorInvalidValue);
    CHECK(masked_softmax(null, null, 1.f, false, Sequences{0, 2, nullptr}, 1, nullptr) ==
          cudaSuccess);
    for (const float scale : {0.f, -1.f, NAN})
        CHECK(masked_softmax(a, a, scale, false, Sequences{1, 2, nullptr}, 1, nullptr) ==
              cudaErrorInvalidValue);

    const auto transposed = [&](const __half* x, __half* y, int64_t batch, int64_t rows,
                                int64_t cols) {
        const cudaError_t status = transpose(x, y, batch, rows, cols, nullptr);
        CHECK(naive_transpose(x, y, batch, rows, cols, nullptr) == status);
        return status;
    };
    CHECK(transposed(null, a, 1, 2, 2) == cudaErrorInvalidValue);
    CHECK(transposed(a, null, 1, 2, 2) == cudaErrorInvalidValue);
    CHECK(transposed(a, a, -1, 2, 2) == cudaErrorInvalidValue);
    CHECK(transposed(a, a, 1, -2, 2) == cudaErrorInvalidValue);
    CHECK(transposed(a, a, 1, 2, -2) == cudaErrorInvalidValue);
    CHECK(transposed(a, a, 65536, 2, 2) == cudaErrorInvalidValue);
    CHECK(transposed(null, null, 0, 2, 2) == cudaSuccess);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    for (const __half each : memory.download()) CHECK(static_cast<float>(each) == -7.f);
}

TEST_CASE(
    "the lesson's launchers refuse what they do not take, and launch nothing for empty sizes") {
    DeviceBuffer<__half> memory(rounded<__half>(std::vector<float>(64, -7.f)));
    DeviceBuffer<int32_t> numbers(std::vector<int32_t>(8, 0));
    __half* const a = memory.data();
    __half* const null = nullptr;
    int32_t* const lengths = numbers.data();
    constexpr cudaError_t kInvalid = cudaErrorInvalidValue;

    const auto norm = [&](const LayernormArguments<__half>& of) {
        const cudaError_t status =
            launch_layernorm<1>(layernorm_block_per_row_kernel<__half>, dim3(32), of, nullptr);
        CHECK(launch_layernorm<1>(layernorm_warp_per_row_kernel<Pack<__half, 1>, TwoPasses, false>,
                                  dim3(32, 4), of, nullptr) == status);
        return status;
    };
    for (const int null_one : {0, 1, 2, 3, 4, 5}) {
        const auto of = [&](int which) { return which == null_one ? null : a; };
        CHECK(norm({of(0), of(1), of(2), of(3), of(4), of(5), 2, 8, 1e-6f}) == kInvalid);
    }
    CHECK(norm({a, a, a, a, a, a, -1, 8, 1e-6f}) == kInvalid);
    CHECK(norm({a, a, a, a, a, a, 2, 1025, 1e-6f}) == kInvalid);
    CHECK(norm({null, null, null, null, null, null, 0, 8, 1e-6f}) == cudaSuccess);
    const LayernormArguments<__half> narrow{a, a, a, a, a, a, 2, 9, 1e-6f};
    CHECK(launch_layernorm<8>(layernorm_warp_per_row_kernel<Pack<__half, 8>, TwoPasses, false>,
                              dim3(32, 4), narrow, nullptr) == kInvalid);

    const auto activation = [&](const __half* x, __half* y, int64_t rows, int64_t cols) {
        return bias_activation_by_columns<8>(x, x, y, rows, cols, Relu{}, nullptr);
    };
    CHECK(activation(null, a, 2, 8) == kInvalid);
    CHECK(activation(a, null, 2, 8) == kInvalid);
    CHECK(activation(a, a, 2, 9) == kInvalid);
    CHECK(activation(a + 1, a, 2, 8) == kInvalid);
    CHECK(activation(a, a, INT64_MAX, 8) == kInvalid);
    CHECK(activation(null, null, 0, 8) == cudaSuccess);

    const auto heads = [&](const __half* x, __half* y, int64_t batch, int64_t seq, int64_t size) {
        const cudaError_t status = heads_to_tokens<1>(x, y, batch, seq, 2, size, true, nullptr);
        CHECK(tokens_to_heads<1, 4>(x, x, y, y, y, batch, seq, 2, size, nullptr) == status);
        CHECK(move_rows_of_batch<1>(x, y, lengths, lengths, batch, seq, 2 * size, true, nullptr) ==
              status);
        CHECK(move_rows_of_tokens(x, y, lengths, lengths, batch, seq, 0, 2 * size, false,
                                  nullptr) == status);
        return status;
    };
    CHECK(heads(null, a, 1, 1, 4) == kInvalid);
    CHECK(heads(a, null, 1, 1, 4) == kInvalid);
    CHECK(heads(a, a, -1, 1, 4) == kInvalid);
    CHECK(heads(a, a, INT32_MAX, INT32_MAX, 4) == kInvalid);
    CHECK(heads(null, null, 0, 1, 4) == cudaSuccess);

    const auto softmax = [&](__half* x, float scale, int seq) {
        const ScoresArguments<__half> of{x, x, scale, false, nullptr, 1, 1, seq};
        CHECK(softmax_of_scores<1>(of, a, nullptr) == softmax_of_scores<1>(of, null, nullptr));
        return softmax_of_scores<1>(of, null, nullptr);
    };
    CHECK(softmax(null, 1.f, 2) == kInvalid);
    CHECK(softmax(a, 1.f, 1025) == kInvalid);
    for (const float scale : {0.f, -1.f, NAN}) CHECK(softmax(a, scale, 2) == kInvalid);
    CHECK(softmax(null, 1.f, 0) == cudaSuccess);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    for (const __half each : memory.download()) CHECK(static_cast<float>(each) == -7.f);
}

namespace {

// The root mean square of a half variant's errors, in units of the last place of 1, against the tuned kernel in float
// on the same inputs.
double error_in_half(const char* name, const char* in_float, const runner::Shape& shape) {
    const runner::Variant variant = variant_named(name), reference = variant_named(in_float);
    const runner::Tensors inputs =
        filled_inputs(*variant.operation, shape, DType::float16, operations::tokens::kNormal, 5);
    runner::Tensors same(inputs_of(reference.operation->operands(shape, DType::float32)));
    for (const runner::Operand& each : same.operands())
        same.upload(each.name, inputs.values(each.name));
    const std::vector<double> y =
        testing::outcome_of(variant, inputs, shape, DType::float16).outputs.values("y");
    const std::vector<double> right =
        testing::outcome_of(reference, same, shape, DType::float32).outputs.values("y");
    double squares = 0;
    for (size_t i = 0; i < y.size(); ++i) squares += (y[i] - right[i]) * (y[i] - right[i]);
    return std::sqrt(squares / static_cast<double>(y.size())) * 0x1p10;
}

}  // namespace

// What further/half2_arithmetic.md says.
TEST_CASE("arithmetic in half2 errs more than kernels that round once") {
    const runner::Shape sums{64, 1024};
    const runner::Shape by_tanh =
        operations::tokens::Shape(64, 1024, operations::tokens::Activation::gelu_by_tanh);
    const auto is_about = [](double error) { return Approx(error).margin(0.01); };
    CHECK(error_in_half("bias_activation", "bias_activation", by_tanh) == is_about(0.21));
    CHECK(error_in_half("half2_bias_gelu", "bias_activation", by_tanh) == is_about(0.35));
    CHECK(error_in_half("layernorm", "layernorm", sums) == is_about(0.22));
    CHECK(error_in_half("half2_layernorm", "layernorm", sums) == is_about(0.38));
    CHECK(error_in_half("unfused_layernorm", "layernorm", sums) == is_about(0.38));
}
