// SPDX-License-Identifier: MIT
// What an encoder must hold beyond its operation's reference: padding changes nothing, all variants agree, invalid
// arguments are refused.
#pragma once
#include <cmath>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "08_encoder_fusions/test_weights.hpp"
#include "08_encoder_fusions/variants.hpp"
#include "common/operations/encoder/check.hpp"
#include "common/operations/encoder/operation.hpp"
#include "common/runner/build_info.hpp"
#include "common/runner/device.hpp"
#include "common/runner/random.cuh"
#include "common/runner/run.hpp"
#include "common/testing/outcome.hpp"
#include "common/testing/random_cases.hpp"
#include "common/testing/redirected.hpp"
#include "common/testing/skip.hpp"
#include "further/product_norm.cuh"

extern template cudaError_t encoder_layers::forward(const Config&, const Layer<float>*,
                                                    const float*, const int32_t*, float*, void*,
                                                    size_t, cudaStream_t, const OwnProducts&);

namespace encoder_tests {

using operations::encoder::Shape;
using runner::DeviceBuffer;
using runner::DType;

// Each shape and input in one of the types by turns, and by a third of the variants: a layer's four products are slow on
// the CPU device. Random cases cover the rest.
TEST_CASE("an encoder computes what it says, on every named input") {
    size_t of_variant = 0;
    for (const runner::Variant& variant : encoder_fusions_variants::encoder_variants()) {
        INFO(variant.name);
        size_t number = of_variant++;
        for (const runner::Shape& shape : variant.operation->validated_at({})) {
            for (const runner::NamedInput& input : variant.operation->inputs()) {
                const DType dtype = variant.dtypes[number / 3 % variant.dtypes.size()];
                if (number++ % 3 != 0) continue;
                INFO(name_of(dtype));
                testing::matches_reference(variant, input.name, shape, dtype);
            }
        }
    }
}

TEST_CASE("any random case of an encoder: sizes, types, options, addresses") {
    runner::Stage stage;
    stage.name = "encoder";
    stage.variants = encoder_fusions_variants::encoder_variants();
    testing::passes_random_cases(stage, 8, 0, 25, [](int64_t) { return int64_t{1} << 11; });
}
TEST_CASE("many more random cases of an encoder", "[more][.]") {
    runner::Stage stage;
    stage.name = "encoder";
    stage.variants = encoder_fusions_variants::encoder_variants();
    testing::passes_random_cases(stage, 9, 0, 1000, [](int64_t) { return int64_t{1} << 13; });
}

// With so few hidden numbers as in the cases above, the plan of products names no kernel of Hopper's.
TEST_CASE("an encoder with products by plan computes what it says, with few and with many tokens") {
    using softmax_stages::GemmWay;
    if (softmax_stages::this_chip().capability != 9)
        return testing::skip("the plan names wgmma's kernels for Hopper alone");
    std::set<GemmWay> ways;
    for (const int64_t tokens : {20, 260}) {
        Shape shape(1, tokens, 4, 40);
        shape.layers = 1;
        shape.inner = 320;
        for (const auto& [in, out] : {std::pair{160, 480}, {160, 160}, {160, 320}, {320, 160}})
            ways.insert(softmax_stages::gemm_plan<__half>(1, tokens, out, in,
                                                          {1.f, 0.f, false, true},
                                                          softmax_stages::this_chip())
                            .way);
        for (const runner::Variant& variant : encoder_fusions_variants::encoder_variants()) {
            if (variant.name == "encoder_planned")
                testing::matches_reference(variant, variant.operation->inputs().front().name, shape,
                                           tokens == 20 ? DType::float16 : DType::bfloat16);
        }
    }
    CHECK(ways == std::set{GemmWay::few_rows, GemmWay::hopper});
}

// A warp has a row where there are many, see norm_early(). The last block has fewer rows than the others.
TEST_CASE("a norm of many rows that begins early is the norm that does not, to the bit") {
    using namespace encoder_layers;
    constexpr int64_t kCols = 40;
    const int64_t rows = 8 * softmax_stages::this_chip().multiprocessors + 5;
    const auto list = [](int64_t seed, int64_t count) {
        std::vector<__half> values;
        for (int64_t i = 0; i < count; ++i) {
            const uint64_t random = runner::mix(static_cast<uint64_t>(seed << 32 | i));
            values.push_back(__float2half(static_cast<float>(random % 4001) / 1000 - 2));
        }
        return values;
    };
    const runner::DeviceBuffer<__half> product(list(1, rows * kCols)), bias(list(2, kCols)),
        residual(list(3, rows * kCols)), gamma(list(4, kCols)), beta(list(5, kCols));
    const Norm<__half> norm{gamma.data(), beta.data()};
    const auto normed = [&](auto between) {
        const auto count = static_cast<size_t>(rows * kCols);
        runner::DeviceBuffer<__half> sum(count), y(count);
        sum.poison(), y.poison();
        REQUIRE(between.norm(product.data(), bias.data(), residual.data(), norm, sum.data(),
                             y.data(), rows, kCols, nullptr) == cudaSuccess);
        REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
        std::vector<float> all;
        for (const auto& part : {sum.download(), y.download()}) {
            for (const __half each : part) all.push_back(__half2float(each));
        }
        return all;
    };
    CHECK(normed(EarlyBetween{}) == normed(Between{}));
}

// y = norm(a b + bias + residual) against the same in double; y may be the residual. Rows: one, and parts of a second and third tile.
TEST_CASE("a product that ends in its norm, in clusters of 1 to 8 blocks") {
    using namespace encoder_layers;
    if (softmax_stages::this_chip().capability != 9) return testing::skip("needs wgmma");
    const auto number = [](int64_t seed, int64_t i) {
        return static_cast<double>(runner::mix(static_cast<uint64_t>(seed << 32 | i)) % 2001) /
                   1000 -
               1;
    };
    const auto list = [&](int64_t seed, int64_t count, double factor, double middle = 0) {
        std::vector<__half> values;
        for (int64_t i = 0; i < count; ++i)
            values.push_back(__float2half(static_cast<float>(middle + factor * number(seed, i))));
        return values;
    };
    const auto at = [](const std::vector<__half>& values, int64_t i) {
        return static_cast<double>(__half2float(values[static_cast<size_t>(i)]));
    };
    const auto worst = [&](int64_t m, int64_t k, int cols, int blocks, Begin begin, bool in_place) {
        const int64_t n = int64_t{cols} * blocks;
        const auto a = list(1, m * k, 1), b = list(2, n * k, 1 / std::sqrt(k)),
                   residual = list(3, m * n, 2, 3), bias = list(4, n, 1),
                   gamma = list(5, n, 0.5, 1), beta = list(6, n, 0.5);
        const DeviceBuffer<__half> a_there(a), b_there(b), bias_there(bias), gamma_there(gamma),
            beta_there(beta);
        DeviceBuffer<__half> y(residual), apart(std::vector<__half>(residual.size(), 0.f));
        __half* const to = in_place ? y.data() : apart.data();
        const batched_gemm::Problem<__half> g{
            1, m, n, k, 1.f, {a_there.data(), k}, {b_there.data(), k, 0, true}, 0.f, {to, n}};
        const ProductEnd<__half> end{bias_there.data(),
                                     {gamma_there.data(), beta_there.data(), 1e-3f}};
        const __half* const from = y.data();
        REQUIRE(product_norm(g, end, from, {cols, blocks}, nullptr, begin) == cudaSuccess);
        REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
        const std::vector<__half> ours = (in_place ? y : apart).download();
        double error = 0;
        std::vector<double> sums(static_cast<size_t>(n));
        for (int64_t row = 0; row < m; ++row) {
            double mean = 0, squares = 0;
            for (int64_t col = 0; col < n; ++col) {
                double& sum = sums[static_cast<size_t>(col)];
                sum = at(bias, col) + at(residual, row * n + col);
                for (int64_t i = 0; i < k; ++i) sum += at(a, row * k + i) * at(b, col * k + i);
                mean += sum / static_cast<double>(n);
            }
            for (const double sum : sums) squares += (sum - mean) * (sum - mean);
            const double scale = 1 / std::sqrt(squares / static_cast<double>(n) + 1e-3);
            for (int64_t col = 0; col < n; ++col) {
                const double wanted =
                    (sums[static_cast<size_t>(col)] - mean) * scale * at(gamma, col) +
                    at(beta, col);
                const double off =
                    std::abs(at(ours, row * n + col) - wanted) / (1 + std::abs(wanted));
                if (!(off <= error)) error = off;
            }
        }
        return error;
    };
    constexpr double kHalf = 1. / 2048;  // what rounding to half is off by, and a little for float
    constexpr double kMost = 1.05 * kHalf;
    CHECK(worst(1, 64, 128, 1, Begin::after, false) <= kMost);
    CHECK(worst(130, 72, 256, 1, Begin::early, true) <= kMost);
    CHECK(worst(260, 40, 128, 2, Begin::with_b, false) <= kMost);
    CHECK(worst(129, 640, 192, 2, Begin::with_b, true) <= kMost);
    CHECK(worst(37, 200, 192, 4, Begin::after, true) <= kMost);
    CHECK(worst(16, 64, 256, 4, Begin::with_b, false) <= kMost);
    CHECK(worst(17, 128, 128, 8, Begin::with_b, true) <= kMost);
}

TEST_CASE("where a product ends in its norm") {
    using namespace encoder_layers;
    const auto is = [](int64_t m, int64_t n, int64_t k, int cols, int blocks) {
        const ProductNormPlan plan = product_norm_plan(m, n, k, 132);
        CHECK(plan.cols == cols);
        CHECK(plan.blocks == blocks);
    };
    is(4096, 768, 3072, 192, 4);
    is(4096, 192, 64, 192, 1);
    is(4096, 2048, 64, 256, 8);
    is(4096, 640, 64, 0, 0);
    is(4096, 96, 64, 0, 0);
    const DeviceBuffer<__half> x(std::vector<__half>(size_t{8} * 128, 0.f));
    DeviceBuffer<__half> y(std::vector<__half>(size_t{8} * 128, 0.f));
    const auto status = [&](const auto& change, ProductNormPlan plan = {128, 1}) {
        const __half* const from = x.data();
        batched_gemm::Problem<__half> g{
            1, 8, 128, 8, 1.f, {from, 8}, {from, 8, 0, true}, 0.f, {y.data(), 128}};
        ProductEnd<__half> end{from, {from, from}};
        const __half* residual = from;
        change(g, end, residual);
        return product_norm(g, end, residual, plan, nullptr, Begin::after);
    };
    CHECK(status([](auto&, auto&, auto&) {}, {64, 2}) == cudaErrorInvalidValue);
    CHECK(status([](auto&, auto&, auto&) {}, {128, 2}) == cudaErrorInvalidValue);
    CHECK(status([](auto& g, auto&, auto&) { g.m = -1; }) == cudaErrorInvalidValue);
    CHECK(status([](auto& g, auto&, auto&) { g.m = 0; }) == cudaSuccess);
    const auto not_taken = [&](const auto& change) {
        CHECK(status(change) == cudaErrorNotSupported);
    };
    not_taken([](auto& g, auto&, auto&) { g.alpha = 2; });
    not_taken([](auto& g, auto&, auto&) { g.beta = 1; });
    not_taken([](auto& g, auto&, auto&) { g.batch = 2, g.c.stride = 8 * 128; });
    not_taken([](auto& g, auto&, auto&) { g.k = 0; });
    not_taken([](auto& g, auto&, auto&) { g.b.transposed = false, g.b.ld = 128; });
    not_taken([](auto& g, auto&, auto&) { g.a.data += 1; });
    not_taken([](auto&, auto& end, auto&) { end.bias += 1; });
    not_taken([](auto&, auto&, auto& residual) { residual += 1; });
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
}

// Rows after a sequence's end change no bit and become 0, as do sequences without tokens. Packed, padded or repeated:
// the results are the same.
TEST_CASE("an encoder's padding changes nothing") {
    Shape shape(4, 6, 2, 16);
    shape.layers = 2;
    shape.inner = 24;
    shape.tokens = 13;
    std::vector<double> fused;
    for (const runner::Variant& variant : encoder_fusions_variants::encoder_variants()) {
        INFO(variant.name);
        runner::Tensors inputs =
            filled_inputs(*variant.operation, shape, DType::float16, "first_full", 1);
        REQUIRE(inputs.values("lengths") == std::vector<double>{6, 6, 1, 0});
        const auto result = [&] {
            return testing::outcome_of(variant, inputs, shape, DType::float16).outputs.values("y");
        };
        const std::vector<double> beside_nan = result();
        CHECK(beside_nan == result());
        std::vector<double> x = inputs.values("x");
        for (double& each : x) each = std::isnan(each) ? 1000 : each;
        inputs.upload("x", x);
        CHECK(beside_nan == result());
        const size_t of_token = 32, tokens = 13;
        for (size_t i = tokens * of_token; i < beside_nan.size(); ++i) REQUIRE(beside_nan[i] == 0);
        // A library may add up in another order.
        const bool is_other = variant.may_use_libraries && runner::on_gpu();
        if (variant.name.find("unfused") != std::string::npos || is_other) continue;
        if (fused.empty()) fused = beside_nan;
        CHECK(beside_nan == fused);
    }
}

// Without an epsilon the norm of zeros is NaN, and padding is zeros before the first layer.
TEST_CASE("padding that becomes NaN on its way changes no token") {
    const auto numbers = [](size_t count, size_t period) {
        std::vector<float> all;
        for (size_t i = 0; i < count; ++i)
            all.push_back(static_cast<float>((i * i + 3 * i) % period) / 16.f - 0.2f);
        return all;
    };
    const DeviceBuffer<float> memory(numbers(48 * 16, 7)), x(numbers(3 * 16, 11));
    const DeviceBuffer<float> zeros(std::vector<float>(48, 0.f)), ones(std::vector<float>(16, 1.f));
    const DeviceBuffer<int32_t> lengths(std::vector<int32_t>{2});
    const float *const p = memory.data(), *const none = zeros.data();
    const encoder_layers::Norm<float> norm{ones.data(), none, 0.f};
    const encoder_layers::Layer<float> layer{{p, none}, {p, none}, norm,
                                             {p, none}, {p, none}, norm};
    for (const encoder_layers::Attention attention :
         {encoder_layers::Attention::fused, encoder_layers::Attention::unfused}) {
        for (const bool split_qkv : {false, true}) {
            encoder_layers::Config config{1, 3, 2, 8, 16, 1};
            config.prenorm = true;
            config.attention = attention;
            config.split_qkv = split_qkv;
            DeviceBuffer<unsigned char> workspace(encoder_layers::workspace_bytes<float>(config));
            DeviceBuffer<float> y(3 * 16);
            y.poison();
            REQUIRE(encoder_layers::forward(config, &layer, x.data(), lengths.data(), y.data(),
                                            workspace.data(), workspace.size(),
                                            nullptr) == cudaSuccess);
            REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
            const std::vector<float> result = y.download();
            for (size_t i = 0; i < result.size(); ++i)
                REQUIRE((i < 2 * 16 ? std::isfinite(result[i]) : result[i] == 0));
        }
    }
}

// A bound that grew faster than the errors would accept any result after some layers.
TEST_CASE("after twelve layers an encoder's bound is still tight") {
    Shape shape(1, 9, 2, 16);
    shape.layers = 12;
    const runner::Variant variant = encoder_fusions_variants::encoder_variants().back();
    for (const DType dtype : {DType::float32, DType::float16, DType::bfloat16}) {
        const runner::Report report =
            testing::outcome_of(
                variant, filled_inputs(*variant.operation, shape, dtype, "normal", 1), shape, dtype)
                .report;
        INFO(name_of(dtype) << ": " << report.worst_share);
        CHECK(report.good());
        CHECK(report.unchecked == 0);
        CHECK(report.worst_share > 0.03);
    }
}

// A small encoder with all parameters.
struct Small {
    encoder_layers::Config config{2, 3, 2, 8, 16, 1};
    DeviceBuffer<float> memory{std::vector<float>(48 * 16, 0.125f)};
    DeviceBuffer<float> y{std::vector<float>(2 * 3 * 16, -7.f)};
    DeviceBuffer<int32_t> lengths{std::vector<int32_t>{2, 1}};
    DeviceBuffer<unsigned char> workspace{size_t{1} << 16};

    encoder_layers::Layer<float> layer() const {
        const float* const p = memory.data();
        return {{p, p}, {p, p}, {p, p, 1e-6f}, {p, p}, {p, p}, {p, p, 1e-6f}};
    }
    template <class Change>
    cudaError_t status_of(Change change) {
        struct {
            encoder_layers::Config config;
            const float* x;
            const int32_t* lengths;
            float* y;
            void* workspace;
            size_t bytes;
            bool with_layers;
        } call{config, memory.data(), lengths.data(), y.data(), workspace.data(), 1 << 16, true};
        change(call);
        const encoder_layers::Layer<float> one = layer();
        return encoder_layers::forward(call.config, call.with_layers ? &one : nullptr, call.x,
                                       call.lengths, call.y, call.workspace, call.bytes, nullptr);
    }
};

TEST_CASE("an encoder refuses what is invalid, and launches nothing for empty sizes") {
    Small small;
    const auto refused = [&](auto change) {
        CHECK(small.status_of(change) == cudaErrorInvalidValue);
    };
    refused([](auto& call) { call.config.batch = -1; });
    refused([](auto& call) { call.config.layers = -1; });
    refused([](auto& call) { call.config.inner = int64_t{1} << 40; });
    refused([](auto& call) { call.config.heads = 2049; });
    refused([](auto& call) { call.config.size = 257; });
    refused([](auto& call) { call.config.q_scaling = 0; });
    refused([](auto& call) { call.config.q_scaling = NAN; });
    refused([](auto& call) { call.config.tokens = 7; });
    refused([](auto& call) { call.config.packed = true, call.lengths = nullptr; });
    refused([](auto& call) { call.x = nullptr; });
    refused([](auto& call) { call.y = nullptr; });
    refused([](auto& call) { call.workspace = nullptr; });
    refused([](auto& call) { call.workspace = static_cast<char*>(call.workspace) + 8; });
    refused(
        [](auto& call) { call.bytes = encoder_layers::workspace_bytes<float>(call.config) - 1; });
    refused([](auto& call) { call.with_layers = false; });
    CHECK(small.status_of([](auto& call) { call.config.batch = 0, call.x = nullptr; }) ==
          cudaSuccess);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    for (const float each : small.y.download()) CHECK(each == -7.f);
    encoder_layers::Config none = small.config;
    none.seq = -1;
    CHECK(encoder_layers::workspace_bytes<float>(none) == 0);
}

TEST_CASE(
    "an encoder of no layers clears the padding, and packed tokens beyond their number are cut "
    "off") {
    Small small;
    const auto result = [&](auto change) {
        REQUIRE(small.status_of(change) == cudaSuccess);
        REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
        std::vector<int> kept;  // of each token
        const std::vector<float> y = small.y.download();
        for (size_t i = 0; i < y.size(); i += 16)
            kept.push_back(y[i] == 0.125f ? 1 : y[i] == 0 ? 0 : 2);
        return kept;
    };
    using Tokens = std::vector<int>;
    CHECK(result([](auto& call) { call.config.layers = 0; }) == Tokens{1, 1, 0, 1, 0, 0});
    CHECK(result([](auto& call) { call.config.layers = 0, call.lengths = nullptr; }) ==
          Tokens{1, 1, 1, 1, 1, 1});
    for (const int64_t tokens : {2, 3, 6}) {
        CHECK(result([&](auto& call) {
                  call.config.layers = 0;
                  call.config.packed = true;
                  call.config.tokens = tokens;
              }) == Tokens{1, 1, 0, tokens > 2 ? 1 : 0, 0, 0});
    }
    // Room for more tokens than there are changes nothing.
    const auto packed = [&](int64_t tokens) {
        REQUIRE(small.status_of([&](auto& call) {
            call.config.packed = true;
            call.config.tokens = tokens;
        }) == cudaSuccess);
        REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
        return small.y.download();
    };
    CHECK(packed(3) == packed(5));
}

// The workspace grows with the tokens that there are, not with batch * seq.
TEST_CASE("packed tokens take less workspace") {
    encoder_layers::Config config{32, 384, 12, 64, 3072, 12};
    const size_t padded = encoder_layers::workspace_bytes<__half>(config);
    CHECK(padded == 256 + size_t{32} * 384 * 768 * 2 * 5);
    config.packed = true;
    config.tokens = 32 * 384 / 2;
    CHECK(encoder_layers::workspace_bytes<__half>(config) == 256 + size_t{32} * 192 * 768 * 2 * 6);
    config.attention = encoder_layers::Attention::unfused;
    CHECK(encoder_layers::workspace_bytes<__half>(config) > 3 * padded / 2);
}

// From files to a file, as `run` does it: the file has what the variant computes from the same numbers.
TEST_CASE("an encoder runs on weights and states from files, and saves what comes out") {
    SavedBert saved;
    saved.prefix = "bert.";
    RunFromFiles files;
    files.save(saved);
    const Folder& folder = files.folder;
    runner::RunOptions& options = files.options;
    const auto run = [&](const std::string& variant, const std::vector<int64_t>& lengths) {
        options.lengths = lengths;
        return files.run(variant);
    };
    const std::vector<double> full = run("", {}), packed = run("", {3, 1});
    CHECK(full != packed);
    // A sequence alone has the same result as beside others.
    CHECK(std::equal(full.begin(), full.begin() + 3 * 64, packed.begin()));
    for (size_t i = 4 * 64; i < packed.size(); ++i) REQUIRE(packed[i] == 0);
    for (const char* other : {"encoder_padded", "encoder_unfused"}) {
        INFO(other);
        const std::vector<double> y = run(other, {3, 1});
        for (size_t i = 0; i < packed.size(); ++i) REQUIRE(y[i] == Approx(packed[i]).margin(1e-5));
    }

    const auto refused = [&](const char* why) {
        const Redirected redirected(folder.path / "printed");
        CHECK_THROWS_WITH(runner::run({describe_08_encoder_fusions()}, options),
                          ContainsSubstring(why));
    };
    options.variant = "layernorm";
    refused("nothing that was chosen takes weights; here are: encoder_e4m3");
    options.variant.clear();
    options.lengths = {3, 4};
    refused("4 tokens in sequences of 3");
    options.weights.clear();
    refused("--lengths says how long");
    options.weights = folder.path / "model.safetensors";
    options.input_file.clear();
    refused("--weights wants something to run on");
}

}  // namespace encoder_tests
