// SPDX-License-Identifier: MIT
// What an encoder in 8 bits must hold: its own reference, which rounds as it does; a budget of what the roundings cost beside the
// encoder that they approximate; arguments that it refuses.
#pragma once
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "08_encoder_fusions/test_weights.hpp"
#include "08_encoder_fusions/variants.hpp"
#include "common/operations/encoder/check.hpp"
#include "common/operations/encoder/operation.hpp"
#include "common/testing/outcome.hpp"
#include "common/testing/random_cases.hpp"
#include "common/testing/skip.hpp"
#include "further/encoder_eight_bits.cuh"

extern template cudaError_t encoder_layers::forward_eight_bits(const Config&, Results,
                                                               const EightBitLayer<__half, int8_t>*,
                                                               const __half*, const int32_t*,
                                                               __half*, void*, size_t,
                                                               cudaStream_t);

namespace eight_bit_tests {

using operations::encoder::Kind;
using operations::encoder::Shape;
using runner::DeviceBuffer;
using runner::DType;

inline bool is_hopper() {
    return softmax_stages::this_chip().capability == 9;
}

// The first shape with all inputs, the others with one of them by turns.
TEST_CASE("an encoder in 8 bits computes what it says") {
    if (!is_hopper()) return testing::skip("8-bit products need wgmma");
    for (const runner::Variant& variant : encoder_fusions_variants::eight_bit_variants()) {
        INFO(variant.name);
        const std::vector<runner::NamedInput> inputs = variant.operation->inputs();
        size_t number = 0;  // of the shape; those of int8_t are in pairs, of both modes
        for (const runner::Shape& shape : variant.operation->validated_at({})) {
            const DType dtype = variant.dtypes[number % variant.dtypes.size()];
            INFO(name_of(dtype));
            for (size_t i = 0; i < inputs.size(); ++i) {
                if (number == 0 || (number + number / 2) % inputs.size() == i)
                    testing::matches_reference(variant, inputs[i].name, shape, dtype);
            }
            ++number;
        }
    }
}

TEST_CASE("any random case of an encoder in 8 bits: sizes, types, options, addresses") {
    if (!is_hopper()) return testing::skip("8-bit products need wgmma");
    runner::Stage stage;
    stage.name = "encoder";
    stage.variants = encoder_fusions_variants::eight_bit_variants();
    testing::passes_random_cases(stage, 8, 0, 16, [](int64_t) { return int64_t{1} << 11; });
}

// How far hidden states are from those of the encoder before its weights were rounded, whose reference is in fp64.
struct Distance {
    double cosine, relative_norm;
};
Distance distance(const std::vector<double>& ours, const std::vector<double>& wanted) {
    double product = 0, of_ours = 0, of_wanted = 0, of_difference = 0;
    for (size_t i = 0; i < ours.size(); ++i) {
        product += ours[i] * wanted[i];
        of_ours += ours[i] * ours[i];
        of_wanted += wanted[i] * wanted[i];
        of_difference += (ours[i] - wanted[i]) * (ours[i] - wanted[i]);
    }
    return {product / std::sqrt(of_ours * of_wanted), std::sqrt(of_difference / of_wanted)};
}

// The error budget, for random weights. A rounding to e4m3 is off by 2^-4 at most, one to int8_t by half a step, and each layer adds
// to the error.
TEST_CASE("8 bits stay within their error budget, after one layer and after twelve") {
    if (!is_hopper()) return testing::skip("8-bit products need wgmma");
    struct Budget {
        Kind kind;
        bool has_8_bit_results;
        int64_t layers;
        double cosine, relative_norm;
    };
    for (const Budget& budget :
         {Budget{Kind::e4m3, false, 1, 0.999, 0.05}, Budget{Kind::e4m3, false, 12, 0.99, 0.13},
          Budget{Kind::s8, false, 1, 0.9998, 0.02}, Budget{Kind::s8, false, 12, 0.999, 0.045},
          Budget{Kind::s8, true, 1, 0.9996, 0.03}, Budget{Kind::s8, true, 12, 0.999, 0.05}}) {
        Shape shape(1, 16, 2, 32);
        shape.layers = budget.layers;
        const runner::Operation* const plain = operations::encoder::operation();
        runner::Tensors unrounded =
            runner::filled_inputs(*plain, shape, DType::float16, "normal", 1);
        const std::vector<double> wanted = operations::encoder::reference_states(
            unrounded.view(), shape, Kind::plain, DType::float16);
        shape.has_8_bit_results = budget.has_8_bit_results;
        for (const runner::Variant& variant : encoder_fusions_variants::eight_bit_variants()) {
            if (variant.operation != operations::encoder::operation(budget.kind)) continue;
            const runner::Tensors inputs =
                runner::filled_inputs(*variant.operation, shape, DType::float16, "normal", 1);
            const Distance from = distance(
                testing::outcome_of(variant, inputs, shape, DType::float16).outputs.values("y"),
                wanted);
            INFO(variant.name << " result_bits " << (budget.has_8_bit_results ? 8 : 16) << ", "
                              << budget.layers << " layers: cosine " << from.cosine
                              << ", relative norm " << from.relative_norm);
            CHECK(from.cosine >= budget.cosine);
            CHECK(from.relative_norm <= budget.relative_norm);
            // An error far below the budget would mean that nothing was rounded.
            CHECK(from.relative_norm > budget.relative_norm / 5);
        }
    }
}

__global__ void gelu_kernel(const float* x, float2* y, int pairs) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < pairs) y[i] = encoder_layers::gelu_of_two(x[2 * i], x[2 * i + 1]);
}

TEST_CASE("GELU in half is off by 2^-9 of its argument at most, and keeps NaN") {
    std::vector<float> x;
    for (int bits = 0; bits < 0x10000; ++bits) {
        __half number;
        const auto word = static_cast<uint16_t>(bits);
        std::memcpy(static_cast<void*>(&number), &word, sizeof number);
        x.push_back(__half2float(number));
    }
    x.push_back(-1e30f);  // beyond half
    x.push_back(1e30f);
    const int pairs = static_cast<int>(x.size() / 2), threads = 256;
    const DeviceBuffer<float> on_device(x);
    DeviceBuffer<float2> y(x.size() / 2);
    gelu_kernel<<<(pairs + threads - 1) / threads, threads>>>(on_device.data(), y.data(), pairs);
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    const std::vector<float2> results = y.download();
    for (size_t i = 0; i < x.size(); ++i) {
        const float result = i % 2 == 0 ? results[i / 2].x : results[i / 2].y;
        const double exact = 0.5 * x[i] * std::erfc(-x[i] / std::sqrt(2.));
        INFO(x[i] << ": " << result << ", exactly " << exact);
        if (std::isnan(x[i])) {
            REQUIRE(std::isnan(result));
        } else if (x[i] > 65504) {
            REQUIRE(std::isinf(result));
        } else if (x[i] < -65504) {
            REQUIRE(result == 0);
        } else {
            REQUIRE(std::abs(result - exact) <= 0x1p-9 * std::abs(x[i]) + 0x1p-24);
        }
    }
}

TEST_CASE("8 bits pay only for many tokens") {
    CHECK_FALSE(encoder_layers::eight_bits_pay({1, 128, 12, 64, 3072, 12}));
    CHECK(encoder_layers::eight_bits_pay({8, 128, 12, 64, 3072, 12}));
    CHECK_FALSE(encoder_layers::eight_bits_pay({8, 128, 4, 64, 1024, 12}));
}

// A small encoder of int8_t with all parameters.
TEST_CASE(
    "an encoder in 8 bits keeps the largest magnitudes, and refuses what is invalid or not taken") {
    if (!is_hopper()) return testing::skip("8-bit products need wgmma");
    using namespace encoder_layers;
    const DeviceBuffer<int8_t> weights(std::vector<int8_t>(64 * 16, 1));
    const DeviceBuffer<float> steps(std::vector<float>(64, 0.125f));
    const DeviceBuffer<__half> numbers(std::vector<__half>(6 * 16, __float2half(0.5f)));
    const DeviceBuffer<int32_t> lengths(std::vector<int32_t>{2, 1});
    DeviceBuffer<__half> y(6 * 16);
    DeviceBuffer<unsigned char> workspace(size_t{1} << 16);
    const int8_t* const w = weights.data();
    const __half* const n = numbers.data();
    struct Call {
        Config config{2, 3, 2, 8, 16, 1};
        Results results = Results::eight_bits;
        EightBitLayer<__half, int8_t> layer;
        const __half* x;
        const int32_t* lengths;
        __half* y;
        unsigned char* workspace;
        size_t bytes = size_t{1} << 16;
        bool with_layers = true;
    };
    const auto status = [&](auto change) {
        const EightBitLinear<__half, int8_t> linear{w, steps.data(), n};
        Call call{{2, 3, 2, 8, 16, 1},
                  Results::eight_bits,
                  {linear, linear, {n, n}, linear, linear, {n, n}, steps.data()},
                  n,
                  lengths.data(),
                  y.data(),
                  workspace.data()};
        change(call);
        return forward_eight_bits(call.config, call.results,
                                  call.with_layers ? &call.layer : nullptr, call.x, call.lengths,
                                  call.y, call.workspace, call.bytes, nullptr);
    };
    CHECK(status([](Call&) {}) == cudaSuccess);
    CHECK(status([](Call& call) { call.layer.steps += 1; }) == cudaSuccess);
    // All states of tokens are 0.5, and so are their norms (beta); each product is 16 * 0.5 * 0.125 = 1, and the bias 0.5.
    DeviceBuffer<float> largest(std::vector<float>(kInputs, 0.f));
    CHECK(status([&](Call& call) { call.layer.largest = largest.data(); }) == cudaSuccess);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    const std::vector<float> seen = largest.download();
    CHECK(seen[qkv_input] == 0.5f);
    CHECK(seen[output_input] == 1.5f);
    CHECK(seen[inner_input] == 0.5f);
    CHECK(std::abs(seen[outer_input] - 1.39979f) < 2e-3f);  // GELU(1.5)
    const auto refused = [&](auto change) { CHECK(status(change) == cudaErrorInvalidValue); };
    refused([](Call& call) { call.config.batch = -1; });
    refused([](Call& call) { call.config.packed = true, call.lengths = nullptr; });
    refused([](Call& call) { call.x = nullptr; });
    refused([](Call& call) { call.x += 4; });
    refused([](Call& call) { call.y = nullptr; });
    refused([](Call& call) { call.workspace += 8; });
    refused([](Call& call) {
        call.bytes = eight_bit_workspace_bytes<__half, int8_t>(call.config, call.results) - 1;
    });
    refused([](Call& call) { call.with_layers = false; });
    refused([](Call& call) { call.layer.inner.weight += 8; });
    refused([](Call& call) { call.layer.qkv.steps = nullptr; });
    refused([](Call& call) { call.layer.steps = nullptr; });
    refused([](Call& call) { call.layer.outer.bias += 1; });
    const auto not_taken = [&](auto change) { CHECK(status(change) == cudaErrorNotSupported); };
    not_taken([](Call& call) { call.config.prenorm = true; });
    not_taken([](Call& call) { call.config.split_qkv = true; });
    not_taken([](Call& call) { call.config.size = 4; });
    not_taken([](Call& call) { call.config.inner = 24; });
    not_taken([](Call& call) { call.config.inner = (int64_t{1} << 17) + 16; });
    not_taken([](Call& call) { call.config.heads = 33, call.config.size = 128; });
    CHECK(status([](Call& call) { call.config.seq = 0, call.x = nullptr; }) == cudaSuccess);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
}

// A file of 8 bits has the elements and their scales; a file of floats has what they stand for. Rounding the floats by the largest
// number of each row finds the same elements and scales again.
TEST_CASE("an encoder in 8 bits takes elements and scales from a file") {
    if (!is_hopper()) return testing::skip("8-bit products need wgmma");
    encoder_tests::RunFromFiles files;
    files.options.dtypes = {DType::float16};
    const auto run = [&](const char* variant, const encoder_tests::SavedBert& saved) {
        files.save(saved);
        return files.run(variant);
    };
    const struct {
        const char *variant, *type;
        float largest;
    } kCases[] = {{"encoder_s8", "I8", 127}, {"encoder_e4m3", "F8_E4M3", 448}};
    for (const auto& each : kCases) {
        INFO(each.type);
        encoder_tests::SavedBert floats;
        floats.inner = 128;
        floats.largest = each.largest;
        encoder_tests::SavedBert saved = floats;
        saved.type = each.type;
        const std::vector<double> y = run(each.variant, floats);
        CHECK(run(each.variant, saved) == y);
        CHECK(run("encoder_padded", saved) == run("encoder_padded", floats));
        saved.input_scale = 1.f / 4096;  // so small that most numbers become the largest
        CHECK(run(each.variant, saved) != y);
    }
}

}  // namespace eight_bit_tests
