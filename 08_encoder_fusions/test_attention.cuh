// SPDX-License-Identifier: MIT
// What attention must hold beyond its operation's reference: packed sequences, distances, refusals, the plan.
#pragma once
#include <cmath>
#include <string>
#include <vector>

#include "08_encoder_fusions/variants.hpp"
#include "common/operations/attention/inputs.hpp"
#include "common/operations/attention/operation.hpp"
#include "common/runner/build_info.hpp"
#include "common/runner/device.hpp"
#include "common/testing/outcome.hpp"
#include "common/testing/random_cases.hpp"
#include "further/attention.cuh"
#include "further/attention_one_warpgroup.cuh"
#include "further/attention_ring.cuh"
#include "further/attention_turns.cuh"

namespace attention_tests {

using fused_attention::AttentionProblem;
using fused_attention::HeadRows;
using operations::attention::Shape;
using runner::DeviceBuffer;
using runner::DType;
using softmax_stages::AttentionPlan;
using softmax_stages::AttentionWay;

inline runner::Stage stage_of_attention() {
    runner::Stage stage;
    stage.name = "attention";
    stage.variants = encoder_fusions_variants::attention_variants();
    return stage;
}

// Each type by turns, and every other variant. Random cases cover the rest.
TEST_CASE("attention computes what it says, on every named input") {
    size_t of_variant = 0;
    for (const runner::Variant& variant : encoder_fusions_variants::attention_variants()) {
        INFO(variant.name);
        size_t number = of_variant++;
        int taken = 0;
        for (const Shape& shape :
             {Shape(1, 1, 1, 1, 1), Shape(5, 1, 9, 70, 64), Shape(4, 1, 33, 130, 32).with_causal(),
              Shape(1, 1, 140, 66, 40).with_causal(), Shape(1, 2, 10, 128, 128).with_scale(0.5),
              Shape(2, 1, 3, 65, 33), Shape(1, 1, 5, 40, 200),
              Shape(2, 6, 7, 90, 64).with_causal().with_key_heads(2)}) {
            for (const runner::NamedInput& input : variant.operation->inputs()) {
                const DType dtype = variant.dtypes[number % variant.dtypes.size()];
                if (number++ % 2 != 0) continue;
                INFO(name_of(dtype));
                taken += testing::matches_reference_where_taken(variant, input.name, shape, dtype);
            }
        }
        CHECK(taken > 0);
    }
}

TEST_CASE("any random case of attention: sizes, types, masks, addresses, distances of rows") {
    testing::passes_random_cases(stage_of_attention(), 8, 0, 40,
                                 [](int64_t) { return int64_t{1} << 12; });
}
TEST_CASE("many more random cases of attention", "[more][.]") {
    testing::passes_random_cases(stage_of_attention(), 9, 0, 3000,
                                 [](int64_t) { return int64_t{1} << 14; });
}

// On the CPU device only query_per_block: a tile of queries would take minutes.
TEST_CASE("sixteen thousand keys are as accurate as a few") {
    int judged = 0;
    for (const runner::Variant& variant : encoder_fusions_variants::attention_variants()) {
        if (!runner::on_gpu() && variant.name != "query_per_block") continue;
        INFO(variant.name);
        const DType dtype = variant.dtypes.front();
        judged += testing::matches_reference_where_taken(variant, "normal",
                                                         Shape(1, 1, 3, 16384, 64), dtype);
    }
    CHECK(judged > 0);
}

// A value that no query sees changes no bit, and the same call returns the same bits.
TEST_CASE("attention ignores what no query sees, and repeats its results") {
    for (const runner::Variant& variant : encoder_fusions_variants::attention_variants()) {
        const DType dtype = DType::float16;
        INFO(variant.name);
        const Shape shape(4, 1, 40, 140, 64);
        runner::Tensors inputs = filled_inputs(*variant.operation, shape, dtype, "lengths", 1);
        const auto result = [&] {
            return testing::outcome_of(variant, inputs, shape, dtype).outputs.values("o");
        };
        const std::vector<double> once = result();
        CHECK(once == result());
        const std::vector<double> lengths = inputs.values("lengths");
        std::vector<double> k = inputs.values("k");
        const size_t of_sequence = 140 * 64;
        for (size_t i = 0; i < k.size(); ++i) {
            if (static_cast<double>(i % of_sequence / 64) >= lengths[i / of_sequence]) k[i] = 1000;
        }
        inputs.upload("k", k);
        CHECK(once == result());
        for (size_t i = 40 * 64; i < 2 * 40 * 64; ++i) REQUIRE(once[i] == 0);  // they see no keys
    }
}

// Three packed sequences, [tokens, heads, size] as in the encoder.
template <class T>
struct Packed {
    static constexpr int64_t kHeads = 2, kSize = 32, kMost = 150;
    std::vector<int32_t> starts = {0, 150, 150, 187};  // the second is empty
    std::vector<T> rows = numbers(187 * kHeads * kSize);
    DeviceBuffer<T> q{rows}, k{rows}, v{rows}, o{rows.size()};
    DeviceBuffer<float> sums{size_t{187 * kHeads}};
    DeviceBuffer<int32_t> on_device{starts};

    static std::vector<T> numbers(int64_t count) {
        std::vector<T> all;
        for (int64_t i = 0; i < count; ++i)
            all.push_back(static_cast<T>(static_cast<float>((i * i + 5 * i) % 17) / 8 - 1));
        return all;
    }
    AttentionProblem<T> problem(bool causal) {
        AttentionProblem<T> g{};
        g.batch = 3;
        g.heads = kHeads;
        g.queries = g.keys = kMost;
        g.size = kSize;
        g.q = {q.data(), 0, kSize, kHeads * kSize};
        g.k = {k.data(), 0, kSize, kHeads * kSize};
        g.v = {v.data(), 0, kSize, kHeads * kSize};
        g.o = {o.data(), 0, kSize, kHeads * kSize};
        g.scale = 0.25f;
        g.causal = causal;
        g.first_query = g.first_key = on_device.data();
        g.log_sum_exp = {sums.data(), 0, 187, 1};
        return g;
    }
    // The same sequence alone.
    AttentionProblem<T> alone(bool causal, int sequence, DeviceBuffer<T>& into,
                              DeviceBuffer<float>& sums_into) {
        AttentionProblem<T> g = problem(causal);
        const int64_t first = starts[static_cast<size_t>(sequence)] * kHeads * kSize;
        g.batch = 1;
        g.queries = g.keys =
            starts[static_cast<size_t>(sequence) + 1] - starts[static_cast<size_t>(sequence)];
        g.first_query = g.first_key = nullptr;
        g.q.data += first;
        g.k.data += first;
        g.v.data += first;
        g.o.data = into.data() + first;
        g.log_sum_exp.data = sums_into.data() + first / kHeads / kSize;
        return g;
    }
};

template <class T, class Launch>
void packed_is_as_alone(Launch launch) {
    for (const bool causal : {false, true}) {
        Packed<T> packed;
        packed.o.poison();
        packed.sums.poison();
        REQUIRE(launch(packed.problem(causal)) == cudaSuccess);
        DeviceBuffer<T> o(packed.rows.size());
        DeviceBuffer<float> sums(packed.sums.size());
        for (const int sequence : {0, 2})
            REQUIRE(launch(packed.alone(causal, sequence, o, sums)) == cudaSuccess);
        REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
        const std::vector<T> ours = packed.o.download(), theirs = o.download();
        int wrong = 0;
        for (size_t i = 0; i < ours.size(); ++i)
            wrong += !(runner::to_double(ours[i]) == runner::to_double(theirs[i]));
        CHECK(wrong == 0);
        CHECK(packed.sums.download() == sums.download());
    }
}

TEST_CASE("a packed sequence has the same result as alone, to the bit") {
    packed_is_as_alone<__half>(
        [](const auto& g) { return fused_attention::attention_mma(g, 1, nullptr, 0, nullptr); });
    packed_is_as_alone<__nv_bfloat16>(
        [](const auto& g) { return fused_attention::attention_mma(g, 1, nullptr, 0, nullptr); });
    packed_is_as_alone<float>(
        [](const auto& g) { return fused_attention::query_per_block(g, 1, nullptr, 0, nullptr); });
    packed_is_as_alone<__half>(
        [](const auto& g) { return fused_attention::few_queries(g, 1, nullptr); });
    packed_is_as_alone<__nv_bfloat16>(
        [](const auto& g) { return fused_attention::few_queries(g, 3, nullptr); });
    packed_is_as_alone<__half>(
        [](const auto& g) { return fused_attention::attention_hopper(g, nullptr); });
    packed_is_as_alone<__nv_bfloat16>(
        [](const auto& g) { return fused_attention::attention_short(g, 128, nullptr); });
}

// Five queries, two heads, 40 keys: with a causal mask query i sees keys 0 to 35 + i. Returns the bits of o.
template <class Launch>
std::vector<uint16_t> bits_with_last_keys(float last, Launch launch) {
    constexpr int64_t kHeads = 2, kQueries = 5, kKeys = 40, kSize = 64;
    const std::vector<__half> q = Packed<__half>::numbers(kHeads * kQueries * kSize);
    std::vector<__half> k = Packed<__half>::numbers(kHeads * kKeys * kSize), v = k;
    for (int64_t i = 0; i < kHeads * kKeys * kSize; ++i) {
        const int64_t key = i / kSize % kKeys;
        if (key >= 37) v[static_cast<size_t>(i)] = __float2half(last);
        if (key >= 39) k[static_cast<size_t>(i)] = __float2half(last);
    }
    DeviceBuffer<__half> q_there(q), k_there(k), v_there(v), o(q.size());
    o.poison();
    AttentionProblem<__half> g{};
    g.batch = 1;
    g.heads = kHeads;
    g.queries = kQueries;
    g.keys = kKeys;
    g.size = kSize;
    g.q = {q_there.data(), 0, kQueries * kSize, kSize};
    g.k = {k_there.data(), 0, kKeys * kSize, kSize};
    g.v = {v_there.data(), 0, kKeys * kSize, kSize};
    g.o = {o.data(), 0, kQueries * kSize, kSize};
    g.scale = 0.1f;
    g.causal = true;
    REQUIRE(launch(g) == cudaSuccess);
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    std::vector<uint16_t> bits;
    for (const __half& one : o.download()) bits.push_back(__half_as_ushort(one));
    return bits;
}

template <class Launch>
void nan_stays_unseen(Launch launch) {
    const std::vector<uint16_t> clean = bits_with_last_keys(1, launch),
                                spoiled = bits_with_last_keys(NAN, launch);
    int equal = 0, is_nan = 0;
    for (size_t i = 0; i < clean.size(); ++i) {
        const bool sees_it = i / 64 % 5 >= 2;
        equal += !sees_it && clean[i] == spoiled[i];
        is_nan += sees_it && (spoiled[i] & 0x7fff) > 0x7c00;
    }
    CHECK(equal == 2 * 2 * 64);
    CHECK(is_nan == 2 * 3 * 64);
}
TEST_CASE("a NaN that a query does not see changes no bit of its result") {
    for (const int64_t parts : {1, 2})
        nan_stays_unseen([=](const auto& g) { return few_queries(g, parts, nullptr); });
    nan_stays_unseen([](const auto& g) { return query_per_block(g, 1, nullptr, 0, nullptr); });
}

// On Hopper's tensor cores, 0 times NaN has spoiled a result, which is then computed again in another order.
template <class Launch>
void nan_stays_nearly_unseen(Launch launch) {
    const std::vector<uint16_t> clean = bits_with_last_keys(1, launch);
    for (const float last : {NAN, INFINITY}) {
        const std::vector<uint16_t> spoiled = bits_with_last_keys(last, launch);
        int near = 0, is_finite = 0;
        for (size_t i = 0; i < clean.size(); ++i) {
            const float was = __half2float(__ushort_as_half(clean[i])),
                        is = __half2float(__ushort_as_half(spoiled[i]));
            const bool sees_it = i / 64 % 5 >= 2;
            near += !sees_it && std::abs(was - is) <= 0x1p-9f;
            is_finite += sees_it && std::isfinite(is);
        }
        CHECK(near == 2 * 2 * 64);
        CHECK(is_finite == 0);
    }
}
TEST_CASE("a NaN that a query does not see changes its result by no more than roundings") {
    nan_stays_nearly_unseen([](const auto& g) { return attention_one_warpgroup(g, nullptr); });
    nan_stays_nearly_unseen([](const auto& g) { return attention_ring(g, nullptr); });
    nan_stays_nearly_unseen([](const auto& g) { return attention_turns(g, nullptr); });
    nan_stays_nearly_unseen([](const auto& g) { return attention_hopper(g, nullptr); });
    nan_stays_nearly_unseen([](const auto& g) { return attention_short(g, 64, nullptr); });
}

TEST_CASE("attention refuses what is invalid, and launches nothing for empty sizes") {
    Packed<__half> packed;
    const auto status_of = [&](auto change) {
        AttentionProblem<__half> g = packed.problem(false);
        change(g);
        const cudaError_t first = fused_attention::query_per_block(g, 1, nullptr, 0, nullptr);
        CHECK(fused_attention::attention_mma(g, 1, nullptr, 0, nullptr) == first);
        CHECK(fused_attention::few_queries(g, 1, nullptr) == first);
        CHECK(fused_attention::attention_hopper(g, nullptr) == first);
        CHECK(fused_attention::attention_short(g, 64, nullptr) == first);
        CHECK(softmax_stages::attend(g, nullptr, 0, nullptr) == first);
        return first;
    };
    CHECK(status_of([](auto& g) { g.batch = -1; }) == cudaErrorInvalidValue);
    CHECK(status_of([](auto& g) { g.keys = -1; }) == cudaErrorInvalidValue);
    CHECK(status_of([](auto& g) { g.size = 257; }) == cudaErrorInvalidValue);
    CHECK(status_of([](auto& g) { g.scale = 0; }) == cudaErrorInvalidValue);
    CHECK(status_of([](auto& g) { g.scale = NAN; }) == cudaErrorInvalidValue);
    CHECK(status_of([](auto& g) { g.q.data = nullptr; }) == cudaErrorInvalidValue);
    CHECK(status_of([](auto& g) { g.v.data = nullptr; }) == cudaErrorInvalidValue);
    CHECK(status_of([](auto& g) { g.o.data = nullptr; }) == cudaErrorInvalidValue);
    // Misaligned addresses.
    const auto odd = [](auto& data) {
        data =
            reinterpret_cast<std::decay_t<decltype(data)>>(reinterpret_cast<uintptr_t>(data) | 1);
    };
    CHECK(status_of([&](auto& g) { odd(g.q.data); }) == cudaErrorInvalidValue);
    CHECK(status_of([&](auto& g) { odd(g.k.data); }) == cudaErrorInvalidValue);
    CHECK(status_of([&](auto& g) { odd(g.v.data); }) == cudaErrorInvalidValue);
    CHECK(status_of([&](auto& g) { odd(g.o.data); }) == cudaErrorInvalidValue);
    CHECK(status_of([](auto& g) { g.first_key = nullptr; }) == cudaErrorInvalidValue);
    CHECK(status_of([](auto& g) { g.queries = int64_t{1} << 31; }) == cudaErrorInvalidValue);
    CHECK(status_of([](auto& g) { g.batch = 0, g.q.data = nullptr; }) == cudaSuccess);
    CHECK(status_of([](auto& g) { g.queries = 0, g.q.data = nullptr; }) == cudaSuccess);
    AttentionProblem<__half> large = packed.problem(false);
    // Blocks that share keys need the whole workspace.
    const size_t bytes = fused_attention::workspace_bytes(large, 2);
    CHECK(bytes == 3 * 2 * 150 * 2 * (32 + 2) * sizeof(float));
    DeviceBuffer<unsigned char> workspace(bytes);
    const auto shared = [&](int64_t parts, void* memory, size_t size) {
        const cudaError_t status =
            fused_attention::query_per_block(large, parts, memory, size, nullptr);
        CHECK(fused_attention::attention_mma(large, parts, memory, size, nullptr) == status);
        return status;
    };
    CHECK(shared(2, nullptr, bytes) == cudaErrorInvalidValue);
    CHECK(shared(2, workspace.data(), bytes - 1) == cudaErrorInvalidValue);
    CHECK(shared(2, workspace.data() + 2, bytes) == cudaErrorInvalidValue);
    CHECK(shared(0, workspace.data(), bytes) == cudaErrorInvalidValue);
    CHECK(shared(65536, workspace.data(), SIZE_MAX) == cudaErrorInvalidValue);
    CHECK(shared(2, workspace.data(), bytes) == cudaSuccess);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    large.size = 200;
    CHECK(fused_attention::attention_mma(large, 1, nullptr, 0, nullptr) == cudaErrorNotSupported);
    AttentionProblem<__half> few = packed.problem(false);
    CHECK(fused_attention::few_queries(few, 0, nullptr) == cudaErrorInvalidValue);
    CHECK(fused_attention::few_queries(few, 17, nullptr) == cudaErrorInvalidValue);
    few.size = 28;
    CHECK(fused_attention::few_queries(few, 1, nullptr) == cudaErrorNotSupported);
    few = packed.problem(false);
    few.v.row = 68;
    CHECK(fused_attention::few_queries(few, 1, nullptr) == cudaErrorNotSupported);
    few = packed.problem(false);
    few.q.data += 4;
    CHECK(fused_attention::few_queries(few, 1, nullptr) == cudaErrorNotSupported);
    CHECK(fused_attention::attention_hopper(few, nullptr) == cudaErrorNotSupported);
    CHECK(fused_attention::attention_short(few, 64, nullptr) == cudaErrorNotSupported);
    CHECK(fused_attention::attention_ring(few, nullptr) == cudaErrorNotSupported);
    few = packed.problem(false);
    CHECK(fused_attention::attention_ring(few, nullptr) == cudaErrorNotSupported);  // packed
    CHECK(fused_attention::attention_short(few, 0, nullptr) == cudaErrorInvalidValue);
    few.keys = 641;
    CHECK(fused_attention::attention_short(few, 64, nullptr) == cudaErrorNotSupported);
    few.keys = 150;
    few.size = 72;
    CHECK(fused_attention::attention_short(few, 64, nullptr) == cudaErrorNotSupported);
    few.key_heads = 3;  // of 2 heads
    CHECK(fused_attention::attention_hopper(few, nullptr) == cudaErrorInvalidValue);
}

const softmax_stages::Chip kH200{132, 231424, 16, 4.27e6}, kA100{108, 166912, 0, 1.6e6, 8};

TEST_CASE("the plan of attention on Hopper") {
    const auto plan = [](int64_t batch, int64_t queries, int64_t keys, int64_t size,
                         size_t bytes = 0, int64_t key_heads = 0, bool causal = false) {
        softmax_stages::AttentionOptions options;
        options.key_heads = key_heads;
        options.causal = causal;
        return softmax_stages::attention_plan<__half>(batch, 16, queries, keys, size, options,
                                                      kH200, bytes);
    };
    CHECK(plan(4, 8192, 8192, 128).way == AttentionWay::hopper);
    CHECK(plan(4, 8192, 8192, 128).queries == 128);
    CHECK(plan(4, 8192, 8192, 64).queries == 192);
    CHECK(plan(4, 8192, 8192, 256).way == AttentionWay::hopper);
    CHECK(plan(4, 8192, 8192, 100).way == AttentionWay::mma);  // heads of no whole packs
    CHECK(plan(32, 512, 512, 64).way == AttentionWay::short_keys);
    CHECK(plan(32, 512, 512, 64).queries == 512);
    CHECK(plan(32, 384, 384, 64).way == AttentionWay::hopper);  // two full blocks of 192
    CHECK(plan(32, 321, 384, 64).way == AttentionWay::hopper);
    CHECK(plan(32, 320, 384, 64).way == AttentionWay::short_keys);
    CHECK(plan(32, 192, 384, 64).way == AttentionWay::short_keys);
    CHECK(plan(32, 384, 384, 64, 0, 0, true).way == AttentionWay::short_keys);
    CHECK(plan(4, 512, 512, 64).queries == 256);  // 128 units for 132 multiprocessors
    // Units of 64 queries would be 63 for the busiest multiprocessor, not 2 times 32, but load all keys twice.
    CHECK(plan(256, 128, 128, 64).queries == 128);
    CHECK(plan(32, 512, 640, 64).way == AttentionWay::short_keys);
    CHECK(plan(32, 512, 641, 64).way == AttentionWay::hopper);
    CHECK(plan(32, 384, 384, 72).way == AttentionWay::hopper);
    CHECK(plan(64, 1, 8192, 128).way == AttentionWay::few_queries);
    CHECK(plan(64, 16, 8192, 128).way == AttentionWay::few_queries);
    CHECK(plan(64, 17, 8192, 128).way == AttentionWay::hopper);
    CHECK(plan(64, 4, 8192, 128, 0, 4).way == AttentionWay::few_queries);  // 16 rows
    CHECK(plan(64, 5, 8192, 128, 0, 4).way == AttentionWay::hopper);
    // 16 blocks leave most multiprocessors idle, so more of them share the keys if there is a workspace.
    const AttentionPlan idle = plan(1, 64, 16384, 128);
    CHECK(idle.way == AttentionWay::hopper);
    CHECK(idle.more_workspace_bytes == 16 * 64 * 16 * 130 * 4);
    CHECK(plan(1, 64, 16384, 128, idle.more_workspace_bytes).way == AttentionWay::mma);
    CHECK(plan(1, 64, 16384, 128, idle.more_workspace_bytes).parts == 16);
}

TEST_CASE("the plan of attention shares keys where queries are few, if there is a workspace") {
    const auto plan = [](auto of, int64_t batch, int64_t queries, int64_t keys, size_t bytes) {
        return softmax_stages::attention_plan<decltype(of)>(batch, 16, queries, keys, 128, {},
                                                            kA100, bytes);
    };
    const AttentionPlan many = plan(__half{}, 4, 8192, 8192, SIZE_MAX);
    CHECK(many.way == AttentionWay::mma);
    CHECK(many.parts == 1);
    CHECK(many.workspace_bytes == 0);
    const AttentionPlan few = plan(__half{}, 1, 1, 16384, SIZE_MAX);
    CHECK(few.parts == 13);
    CHECK(few.workspace_bytes == 16 * 13 * 130 * 4);
    const AttentionPlan without = plan(__half{}, 1, 1, 16384, few.workspace_bytes - 1);
    CHECK(without.parts == 1);
    CHECK(without.more_workspace_bytes == few.workspace_bytes);
    CHECK(plan(float{}, 1, 1, 16384, 0).way == AttentionWay::query_per_block);
}

TEST_CASE(
    "the plan of attention takes 64 queries a block where a mask leaves few keys to wide heads") {
    const auto queries = [](int64_t keys, int64_t size, bool causal) {
        softmax_stages::AttentionOptions options;
        options.causal = causal;
        return softmax_stages::attention_plan<__half>(32, 16, 1024, keys, size, options, kA100)
            .queries;
    };
    CHECK(queries(1024, 128, true) == fused_attention::kFewQueries);
    CHECK(queries(1024, 72, true) == fused_attention::kFewQueries);
    constexpr int kMany = fused_attention::kManyQueries;
    CHECK(queries(1024, 128, false) == kMany);
    CHECK(queries(1024, 64, true) == kMany);
    CHECK(queries(1024, 100, true) == kMany);  // heads of no whole packs
    CHECK(queries(1025, 128, true) == kMany);
    CHECK(queries(1024, 129, true) == 1);
}

TEST_CASE("the plan for few queries fills the GPU with the fewest blocks per cluster") {
    const auto plan = [](int64_t batch, int64_t heads, int64_t queries, int64_t keys,
                         int64_t key_heads = 0) {
        AttentionProblem<__half> g{};
        g.batch = batch;
        g.heads = heads;
        g.queries = queries;
        g.keys = keys;
        g.key_heads = key_heads;
        return fused_attention::few_queries_plan(g, 132);
    };
    CHECK(plan(1, 16, 1, 16384).parts == 8);
    CHECK(plan(1, 16, 1, 16384).fills);
    CHECK(plan(64, 16, 1, 8192).parts == 1);
    CHECK(plan(1, 32, 1, 32768).parts == 4);
    CHECK(plan(8, 32, 1, 4096).parts == 1);
    CHECK(plan(8, 32, 1, 4096, 8).parts == 2);  // four heads are four rows of a tile
    CHECK(plan(8, 32, 5, 4096, 8).parts == 1);  // 20 rows are two tiles
    CHECK(plan(100, 1, 1, 4096).parts == 5);    // 500 blocks in 3.8 waves
    CHECK(plan(1, 16, 1, 1024).parts == 4);     // 256 keys a part
    CHECK(plan(1, 16, 1, 255).parts == 1);
    CHECK(plan(1, 1, 1, 100000).parts == 8);
    CHECK(!plan(1, 1, 1, 100000).fills);
    CHECK(plan(0, 16, 1, 1024).parts == 4);
}

// Scores in memory would grow with queries times keys.
TEST_CASE("attention's workspace grows at most with the length") {
    constexpr int kSize = 64;
    constexpr int64_t kBytesOfSet = (kSize + 2) * sizeof(float);
    const int64_t kPlaces = 2 * kH200.multiprocessors;
    for (int64_t seq = 256; seq <= 16384; seq *= 2) {
        const AttentionPlan plan =
            softmax_stages::attention_plan<__half>(1, 1, seq, seq, kSize, {}, kH200, SIZE_MAX);
        INFO(seq << " queries and keys");
        CHECK(plan.workspace_bytes <=
              static_cast<size_t>(kPlaces * fused_attention::kManyQueries * kBytesOfSet));
    }
}

}  // namespace attention_tests
