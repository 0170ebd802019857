// SPDX-License-Identifier: MIT
#include "further/topk.cuh"
#include "softmax_topk.cuh"

#include <random>
#include <stdexcept>
#include <string>

#include "common/operations/topk/properties.hpp"
#include "common/runner/attempt.hpp"
#include "common/runner/stage.hpp"
#include "common/testing/random_cases.hpp"
#include "common/testing/skip.hpp"

runner::Stage describe_06_softmax_topk();

// Shifts a pointer by some bytes, to a misaligned address.
template <class E>
E* shifted(E* address, uintptr_t bytes) {
    return reinterpret_cast<E*>(reinterpret_cast<uintptr_t>(address) + bytes);
}

#include "06_softmax_topk/test_fallbacks.cuh"
#include "06_softmax_topk/test_front.cuh"
#include "06_softmax_topk/test_ranks.cuh"
#include "06_softmax_topk/test_sampling.cuh"

namespace {

using softmax_topk::Element;
using softmax_topk::MergeTop;
using softmax_topk::precedes;
using softmax_topk::Top;
using testing::Shape;

std::vector<runner::Variant> topk_variants_of_06() {
    std::vector<runner::Variant> found;
    for (const runner::Variant& variant : describe_06_softmax_topk().variants)
        if (variant.operation->family() == "topk") found.push_back(variant);
    return found;
}

runner::Variant variant_of_06(const std::string& name) {
    for (const runner::Variant& variant : topk_variants_of_06()) {
        if (variant.name == name) return variant;
    }
    throw std::out_of_range(name);
}

runner::Stage topk_stage() {
    runner::Stage stage = describe_06_softmax_topk();
    stage.variants = topk_variants_of_06();
    return stage;
}

std::vector<runner::Variant> variants_of_06(bool further) {
    std::vector<runner::Variant> found;
    for (const runner::Variant& variant : topk_variants_of_06())
        if (variant.further == further) found.push_back(variant);
    return found;
}

// Bytes moved per byte of x, without the results; nothing on a GPU, whose counters another test compares.
std::optional<double> accesses_per_element(const runner::Variant& variant, const Shape& shape,
                                           const std::string& input) {
    constexpr runner::DType kType = runner::DType::float32;
    const runner::Tensors inputs = filled_inputs(*variant.operation, shape, kType, input, 1);
    runner::Observation observation;
    testing::result_of(variant, inputs, shape, kType);
    const std::optional<runner::Counts> counts = observation.counts();
    if (!counts) return {};
    const int64_t results = 2 * shape.rows * shape.k * static_cast<int64_t>(sizeof(float));
    return static_cast<double>(counts->global_load_bytes + counts->global_store_bytes - results) /
           (static_cast<double>(shape.rows * shape.cols) * sizeof(float));
}

constexpr int kPlaces = 8;
using List = Top<kPlaces>;

bool same(const List& a, const List& b) {
    for (int k = 0; k < kPlaces; ++k) {
        const Element x = a.best[k], y = b.best[k];
        if (x.p != y.p || !(x.u == y.u || (std::isnan(x.u) && std::isnan(y.u)))) return false;
    }
    return true;
}

// Few values, many ties, now and then a special one.
std::vector<Element> random_elements(int count, std::mt19937& random) {
    std::vector<Element> elements;
    for (int col = 0; col < count; ++col) {
        const unsigned draw = random() % 40;
        const float special[] = {NAN, INFINITY, -INFINITY, 0.f, -0.f};
        elements.push_back({draw < 5 ? special[draw] : static_cast<float>(random() % 20), col});
    }
    return elements;
}

List sorted(std::vector<Element> elements) {
    std::sort(elements.begin(), elements.end(), precedes);
    List list = List::none();
    for (size_t k = 0; k < std::min<size_t>(kPlaces, elements.size()); ++k)
        list.best[k] = elements[k];
    return list;
}

// Merges lists of elements[first .. last) in a random binary tree.
List merge_at_random(const std::vector<Element>& elements, size_t first, size_t last,
                     std::mt19937& random) {
    if (last - first < 4) {
        List list = List::none();
        for (size_t i = first; i < last; ++i) list.insert(elements[i]);
        return list;
    }
    const size_t middle = first + 1 + random() % (last - first - 1);
    return MergeTop{}(merge_at_random(elements, first, middle, random),
                      merge_at_random(elements, middle, last, random));
}

// One row, with guards around its outputs.
struct Guarded {
    Guarded(int64_t rows, int64_t cols, int64_t k)
        : x(std::vector<float>(static_cast<size_t>(rows * cols), 1.f)),
          values(std::vector<float>(static_cast<size_t>(rows * k) + 1, -7.f)),
          indices(std::vector<int32_t>(static_cast<size_t>(rows * k) + 1, -7)) {}
    bool is_untouched() const {
        const std::vector<float> v = values.download();
        return std::all_of(v.begin(), v.end(), [](float each) { return each == -7.f; });
    }
    runner::DeviceBuffer<float> x;
    runner::DeviceBuffer<float> values;
    runner::DeviceBuffer<int32_t> indices;
};

}  // namespace

TEST_CASE("every variant of 06 is what it says") {
    for (const runner::Variant& variant : topk_variants_of_06())
        testing::holds_every_topk_property(variant);
}

TEST_CASE("every top-k passes hundreds of random cases") {
    testing::passes_random_cases(topk_stage(), 6, 0, 300, [](int64_t number) {
        return number % 16 == 0 ? int64_t{1} << 14 : int64_t{1} << 12;
    });
}

TEST_CASE("thousands of random cases of top-k", "[.more]") {
    testing::passes_random_cases(topk_stage(), 6, 300, 4000,
                                 [](int64_t) { return int64_t{1} << 14; });
}

TEST_CASE("the order is that of a stable descending sort") {
    CHECK(precedes({2.f, 9}, {1.f, 0}));
    CHECK(precedes({1.f, 3}, {1.f, 4}));
    CHECK_FALSE(precedes({1.f, 4}, {1.f, 3}));
    CHECK(precedes({-0.f, 3}, {0.f, 4}));
    CHECK_FALSE(precedes({0.f, 4}, {-0.f, 3}));
    CHECK(precedes({NAN, 9}, {INFINITY, 0}));
    CHECK(precedes({NAN, 3}, {NAN, 4}));
    CHECK_FALSE(precedes({INFINITY, 0}, {NAN, 9}));
    CHECK(precedes({-3e38f, 9}, {-INFINITY, 0}));
    CHECK(precedes({-INFINITY, 0}, List::none().best[0]));  // better than a free place
}

TEST_CASE("lists merge in any order and any tree to the bits of a stable sort") {
    std::mt19937 random(7);
    for (int round = 0; round < 500; ++round) {
        const int count = static_cast<int>(random() % 100);
        std::vector<Element> elements = random_elements(count, random);
        const List wanted = sorted(elements);
        INFO("round " << round << ", " << count << " elements");
        CHECK(same(merge_at_random(elements, 0, elements.size(), random), wanted));
        std::shuffle(elements.begin(), elements.end(), random);
        const List list = merge_at_random(elements, 0, elements.size(), random);
        CHECK(same(list, wanted));
        CHECK(same(MergeTop{}(list, List::none()), wanted));
        CHECK(same(MergeTop{}(List::none(), list), wanted));
    }
}

TEST_CASE("append and insert build the same list from elements in column order") {
    std::mt19937 random(8);
    for (int round = 0; round < 500; ++round) {
        std::vector<Element> elements = random_elements(static_cast<int>(random() % 100), random);
        for (Element& each : elements)
            if (std::isnan(each.u)) each.u = -INFINITY;  // u alone cannot order NaN
        List list = List::to_append();
        for (const Element& each : elements) list.append(each);
        for (Element& each : list.best)
            if (each.p == softmax_topk::kFree) each.u = -INFINITY;
        INFO("round " << round << ", " << elements.size() << " elements");
        CHECK(same(list, sorted(elements)));
    }
}

TEST_CASE("all steps of the ladder agree if no two elements are equal") {
    const std::vector<runner::Variant> variants = topk_variants_of_06();
    for (const Shape& shape : {Shape(3, 1000, 5), Shape(2, 5003, 32)}) {
        const std::vector<double> x =
            testing::named_values(variants.front(), operations::topk::kDistinct, shape);
        const testing::TopkResult first = testing::result_of(variants.front(), x, shape);
        for (const runner::Variant& variant : variants) {
            const testing::TopkResult result = testing::result_of(variant, x, shape);
            INFO(variant.name);
            CHECK(result.indices == first.indices);
            for (size_t i = 0; i < result.values.size(); ++i)
                CHECK(std::fabs(result.values[i] / first.values[i] - 1) < 1e-5);
        }
    }
}

// What the unfused variants keep in a workspace counts as well.
TEST_CASE(
    "accesses per element are exactly 5, 4, 2 and 1, beside the results, in rows of any width") {
    for (const Shape& shape : {Shape(4, 1024, 5), Shape(3, 1000, 32), Shape(5, 777, 1)}) {
        std::vector<double> found;
        for (const runner::Variant& variant : variants_of_06(false)) {
            const auto accesses = accesses_per_element(variant, shape, operations::topk::kDistinct);
            if (!accesses) return testing::skip_on_gpu("a GPU counts nothing");
            found.push_back(*accesses);
        }
        CHECK(found == std::vector<double>{5, 4, 2, 1});
    }
}

TEST_CASE("each fast way reads each element once, or twice after a wrong guess") {
    for (const runner::Variant& variant : variants_of_06(true)) {
        if (testing::kind_of(*variant.operation) != testing::Kind::softmax_topk) continue;
        for (const char* input : {"distinct", "ties", "ascending"}) {
            for (const Shape& shape :
                 {Shape(13, 500, 8), Shape(5, 20011, 32), Shape(3, 777, 300)}) {
                if (!testing::takes(variant, shape, runner::DType::float32)) continue;
                const auto accesses = accesses_per_element(variant, shape, input);
                INFO(variant.name << ", " << input << ", " << text_of(runner::Shape(shape)));
                if (!accesses) return testing::skip_on_gpu("a GPU counts nothing");
                // Slices leave their lists for the block that merges them.
                const bool is_shared = variant.workspace_bytes(shape, runner::DType::float32) > 0;
                CHECK(*accesses >= 1);
                const bool guesses = variant.name == "block_per_row" ||
                                     variant.name == "cluster_per_row" ||
                                     variant.name == "small_lists";
                const bool may_guess = guesses && std::string("distinct") != input;
                // A sample of rows longer than a batch of few threads, or lists of slices.
                const bool has_more = is_shared || variant.name == "small_lists";
                CHECK(*accesses <= (may_guess ? 2.3 : has_more ? 1.15 : 1));
            }
        }
    }
}

TEST_CASE("where softmax rounds different logits to one probability, the two orders differ") {
    // Beside 60, the probabilities of both others are 0 in float.
    const std::vector<double> x = {-100, 60, -99, -98};
    const Shape shape(1, 4, 3);
    CHECK(testing::result_of(variant_of_06("online_fused"), x, shape).indices ==
          std::vector<double>{1, 3, 2});
    CHECK(testing::result_of(variant_of_06("online_unfused"), x, shape).indices ==
          std::vector<double>{1, 0, 2});
}

TEST_CASE("lists of every length, in rows hardly longer") {
    for (const runner::Variant& variant : topk_variants_of_06()) {
        for (int64_t k = 1; k <= 32; ++k) {
            for (const int64_t cols : {k, k + 1}) {
                const Shape shape(1, cols, k);
                const runner::Report report =
                    testing::result_of(variant, testing::named_values(variant, "ties", shape),
                                       shape)
                        .report;
                INFO(variant.name << ", " << cols << " columns, k = " << k << ": "
                                  << describe(report));
                CHECK(report.good());
            }
        }
    }
}

TEST_CASE("invalid arguments are refused, and empty ones do nothing") {
    Guarded g(2, 40, 32);
    runner::DeviceBuffer<unsigned char> scratch(softmax_topk::unfused_workspace_bytes(2, 40));
    const auto status = [&](const float* x, float* values, int32_t* indices, int64_t rows,
                            int64_t cols, int64_t k) {
        const cudaError_t one =
            softmax_topk::online_fused(x, values, indices, rows, cols, k, nullptr);
        CHECK(softmax_topk::safe_fused(x, values, indices, rows, cols, k, nullptr) == one);
        CHECK(softmax_topk::safe_unfused(x, values, indices, rows, cols, k, scratch.data(),
                                         scratch.size(), nullptr) == one);
        CHECK(softmax_topk::online_unfused(x, values, indices, rows, cols, k, scratch.data(),
                                           scratch.size(), nullptr) == one);
        return one;
    };
    float* x = g.x.data();
    float* v = g.values.data();
    int32_t* i = g.indices.data();
    constexpr int64_t kTooMany = int64_t{1} << 31;
    CHECK(status(x, v, i, 1, 3, 4) == cudaErrorInvalidValue);  // k above cols
    CHECK(status(x, v, i, 0, 3, 4) == cudaErrorInvalidValue);  // also without rows
    CHECK(status(x, v, i, 1, 0, 1) == cudaErrorInvalidValue);
    CHECK(status(x, v, i, 1, 40, 33) == cudaErrorInvalidValue);  // k above the longest list
    CHECK(status(x, v, i, 1, 40, -1) == cudaErrorInvalidValue);
    CHECK(status(x, v, i, -1, 40, 5) == cudaErrorInvalidValue);
    CHECK(status(x, v, i, 1, -40, 0) == cudaErrorInvalidValue);
    CHECK(status(x, v, i, kTooMany, 40, 5) ==
          cudaErrorInvalidValue);  // more rows than blocks in a grid
    CHECK(status(x, v, i, 1, kTooMany, 5) ==
          cudaErrorInvalidValue);  // more columns than an index can hold
    CHECK(status(nullptr, v, i, 1, 40, 5) == cudaErrorInvalidValue);
    CHECK(status(x, nullptr, i, 1, 40, 5) == cudaErrorInvalidValue);
    CHECK(status(x, v, nullptr, 1, 40, 5) == cudaErrorInvalidValue);
    CHECK(status(shifted(x, 1), v, i, 1, 40, 5) == cudaErrorInvalidValue);  // misaligned
    CHECK(status(x, shifted(v, 2), i, 1, 40, 5) == cudaErrorInvalidValue);
    CHECK(status(x, v, shifted(i, 3), 1, 40, 5) == cudaErrorInvalidValue);
    CHECK(status(nullptr, nullptr, nullptr, 0, 40, 5) == cudaSuccess);
    CHECK(status(nullptr, nullptr, nullptr, 2, 40, 0) == cudaSuccess);
    CHECK(status(nullptr, nullptr, nullptr, 2, 0, 0) == cudaSuccess);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    CHECK(g.is_untouched());
    CHECK(status(x, v, i, 2, 40, 32) == cudaSuccess);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    CHECK(g.values.download().back() == -7.f);
    CHECK(g.indices.download().back() == -7);
}

TEST_CASE("the unfused variants refuse a missing or small workspace, and stay within it") {
    Guarded g(3, 40, 5);
    const size_t needed = softmax_topk::unfused_workspace_bytes(3, 40);
    REQUIRE(needed == 3 * 40 * sizeof(float));
    runner::DeviceBuffer<unsigned char> scratch(std::vector<unsigned char>(needed + 8, 0x5a));
    for (const auto launcher : {softmax_topk::safe_unfused, softmax_topk::online_unfused}) {
        const auto status = [&](void* workspace, size_t bytes) {
            return launcher(g.x.data(), g.values.data(), g.indices.data(), 3, 40, 5, workspace,
                            bytes, nullptr);
        };
        CHECK(status(nullptr, needed) == cudaErrorInvalidValue);
        CHECK(status(scratch.data(), needed - 1) == cudaErrorInvalidValue);
        CHECK(status(scratch.data() + 2, needed) == cudaErrorInvalidValue);
        CHECK(status(scratch.data(), needed) == cudaSuccess);
        CHECK(cudaDeviceSynchronize() == cudaSuccess);
        const std::vector<unsigned char> bytes = scratch.download();
        CHECK(std::all_of(bytes.end() - 8, bytes.end(), [](unsigned char b) { return b == 0x5a; }));
    }
}

TEST_CASE("06 takes more elements than 32 bits count, and more results", "[.huge]") {
    for (const runner::Variant& variant : topk_variants_of_06()) {
        testing::finds_the_best_where_it_fits(variant, {3, (int64_t{1} << 30) - 1, 5});
        testing::finds_the_best_where_it_fits(variant, {(int64_t{1} << 26) + 1, 32, 32});
    }
}

namespace {

// The front call on one shape, with guards around its outputs; which of them it should write.
template <class T, class Index>
struct FrontCall {
    FrontCall(int64_t rows, int64_t cols, int64_t k)
        : rows_(rows),
          cols_(cols),
          k_(k),
          x(std::vector<T>(static_cast<size_t>(rows * cols), static_cast<T>(1.f))),
          probabilities(std::vector<T>(static_cast<size_t>(rows * k) + 1, static_cast<T>(-7.f))),
          indices(std::vector<Index>(static_cast<size_t>(rows * k) + 1, -7)),
          logits(std::vector<T>(static_cast<size_t>(rows * k) + 1, static_cast<T>(-7.f))),
          log_sum_exp(std::vector<float>(static_cast<size_t>(rows) + 1, -7.f)) {}
    softmax_topk::Results<T, Index> all() {
        return {probabilities.data(), indices.data(), logits.data(), log_sum_exp.data()};
    }
    cudaError_t operator()(const softmax_topk::Results<T, Index>& results) const {
        return with(x.data(), results, rows_, cols_, k_);
    }
    static cudaError_t with(const T* x, const softmax_topk::Results<T, Index>& results,
                            int64_t rows, int64_t cols, int64_t k) {
        return softmax_stages::topk(x, results.probabilities, results.indices, rows, cols, k,
                                    {results.logits, results.log_sum_exp}, nullptr, 0, nullptr);
    }
    template <class Buffer>
    static bool is_untouched(const Buffer& buffer) {
        const auto host = buffer.download();
        return std::all_of(host.begin(), host.end(),
                           [](auto each) { return static_cast<float>(each) == -7.f; });
    }

    int64_t rows_, cols_, k_;
    runner::DeviceBuffer<T> x, probabilities;
    runner::DeviceBuffer<Index> indices;
    runner::DeviceBuffer<T> logits;
    runner::DeviceBuffer<float> log_sum_exp;
};

}  // namespace

TEST_CASE("the front call writes the requested results and nothing else") {
    for (const auto& [cols, k] : {std::pair<int64_t, int64_t>{40, 8}, {3000, 5}, {3000, 100}}) {
        FrontCall<float, int64_t> call(3, cols, k);
        CHECK(call({nullptr, nullptr, nullptr, nullptr}) == cudaSuccess);
        CHECK(call({nullptr, call.indices.data(), nullptr, nullptr}) == cudaSuccess);
        REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
        CHECK(call.is_untouched(call.probabilities));
        CHECK(call.is_untouched(call.logits));
        CHECK(call.is_untouched(call.log_sum_exp));
        CHECK(call({nullptr, nullptr, call.logits.data(), call.log_sum_exp.data()}) == cudaSuccess);
        REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
        CHECK(call.is_untouched(call.probabilities));
        CHECK(call(call.all()) == cudaSuccess);
        REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
        // Equal elements: the lower column comes first. Nothing is written past the results.
        const std::vector<int64_t> indices = call.indices.download();
        for (int64_t i = 0; i < 3 * k; ++i) CHECK(indices[static_cast<size_t>(i)] == i % k);
        CHECK(indices.back() == -7);
        CHECK(call.probabilities.download().back() == -7.f);
        CHECK(call.logits.download().back() == -7.f);
        CHECK(call.log_sum_exp.download().back() == -7.f);
        CHECK(call.log_sum_exp.download().front() ==
              Approx(1 + std::log(static_cast<double>(cols))));
    }
}

TEST_CASE("the front call refuses invalid arguments") {
    FrontCall<float, int32_t> call(2, 2000, 1024);
    const auto status = [&](const float* x, int64_t rows, int64_t cols, int64_t k) {
        return call.with(x, call.all(), rows, cols, k);
    };
    const float* x = call.x.data();
    CHECK(status(x, 1, 3, 4) == cudaErrorInvalidValue);
    CHECK(status(x, 0, 3, 4) == cudaErrorInvalidValue);
    CHECK(status(x, 1, 2000, 1025) == cudaErrorInvalidValue);
    CHECK(status(x, 1, -2000, 0) == cudaErrorInvalidValue);
    CHECK(status(x, 1, int64_t{1} << 31, 5) == cudaErrorInvalidValue);
    CHECK(status(nullptr, 0, 2000, 5) == cudaSuccess);
    CHECK(status(nullptr, 2, 0, 0) == cudaSuccess);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    CHECK(call.is_untouched(call.probabilities));
    CHECK(call.is_untouched(call.indices));
}

TEST_CASE("the front call refuses misaligned pointers and takes all others") {
    FrontCall<__half, int64_t> call(1, 2000, 40);
    const auto status = [&](const __half* x, __half* probabilities, int64_t* indices,
                            __half* logits, float* log_sum_exp) {
        return call.with(x, {probabilities, indices, logits, log_sum_exp}, 1, 1999, 40);
    };
    const __half* x = call.x.data();
    const auto [p, i, l, s] = call.all();
    CHECK(status(x, p, i, shifted(l, 1), s) == cudaErrorInvalidValue);
    CHECK(status(x, p, i, l, shifted(s, 2)) == cudaErrorInvalidValue);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    CHECK(call.is_untouched(call.indices));
    CHECK(status(shifted(x, 2), nullptr, i, nullptr, nullptr) == cudaSuccess);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    CHECK(call.indices.download().front() == 0);
}

TEST_CASE("the plan: lanes, warps, blocks, slices") {
    using softmax_stages::TopkPlan;
    using softmax_topk::Way;
    const auto plan = [](int64_t rows, int64_t cols, int64_t k, size_t bytes = 0,
                         bool aligned = true, int64_t largest_cluster = 0) {
        const softmax_stages::Chip chip{132, 0, largest_cluster, 0};
        return softmax_stages::topk_plan<float>(rows, cols, k, {}, chip, bytes, aligned);
    };
    CHECK(plan(32768, 128, 8).way == Way::lanes);
    CHECK(plan(32768, 128, 8).threads == 8);
    CHECK(plan(32768, 128, 8, 0, false).threads == 16);  // 3 more elements
    CHECK(plan(32768, 128, 33).way == Way::block);
    CHECK(plan(1, 512, 32).way == Way::lanes);
    CHECK(plan(1, 512, 32, 0, false).way == Way::block_of_warps);
    CHECK(plan(4000, 128256, 32).way == Way::warp);
    CHECK(plan(4000, 128256, 256).way == Way::block);
    // For blocks, the fewest threads with room for a row's candidates that half fill the GPU.
    const auto threads = [&](int64_t rows, int64_t cols, int64_t k) {
        return plan(rows, cols, k).threads;
    };
    CHECK(threads(32768, 4096, 128) == 32);
    CHECK(threads(32768, 4096, 129) == 64);
    CHECK(threads(32768, 8192, 128) == 64);
    CHECK(threads(32768, 4096, 257) == 128);
    CHECK(threads(4000, 25000, 256) == 128);
    CHECK(threads(4000, 25000, 513) == 256);
    CHECK(threads(4000, 128256, 256) == 256);
    CHECK(threads(2112, 4096, 128) == 32);
    CHECK(threads(2111, 4096, 128) == 64);
    CHECK(threads(528, 4096, 128) == 128);
    CHECK(threads(527, 4096, 128) == 256);
    const TopkPlan few = plan(10, 128256, 5);
    CHECK(few.slices == 1);
    CHECK(few.more_workspace_bytes > 0);
    const TopkPlan shared = plan(10, 128256, 5, few.more_workspace_bytes);
    CHECK(shared.slices == 32);
    CHECK(shared.workspace_bytes == few.more_workspace_bytes);
    CHECK(plan(10, 128256, 5, few.more_workspace_bytes - 1).slices == 1);
    // Where there are clusters, these need no workspace.
    const auto blocks_of_cluster = [&](int64_t rows, int64_t cols, int64_t k, int largest) {
        const TopkPlan shared = plan(rows, cols, k, 0, true, largest);
        CHECK(shared.more_workspace_bytes * (shared.way == Way::cluster ? 1 : 0) == 0);
        return shared.way == Way::cluster ? shared.slices : 0;
    };
    CHECK(blocks_of_cluster(10, 128256, 50, 16) == 16);
    CHECK(blocks_of_cluster(10, 128256, 50, 8) == 8);
    CHECK(blocks_of_cluster(10, 128256, 50, 0) == 0);
    CHECK(blocks_of_cluster(32, 128256, 50, 16) == 4);
    CHECK(blocks_of_cluster(42, 128256, 50, 16) == 0);
    CHECK(blocks_of_cluster(1, 16385, 50, 16) == 4);
    CHECK(blocks_of_cluster(1, 16384, 50, 16) == 0);
    // A very short list only for rows that a few blocks hold; a long one where it is a small part of the row.
    CHECK(blocks_of_cluster(10, 32000, 5, 16) == 4);
    CHECK(blocks_of_cluster(10, 128256, 5, 16) == 0);
    CHECK(blocks_of_cluster(10, 128256, 256, 16) == 16);
    CHECK(blocks_of_cluster(10, 1000000, 256, 16) == 0);
    CHECK(blocks_of_cluster(10, 128256, 1024, 16) == 16);
    CHECK(blocks_of_cluster(1, 32768, 1024, 16) == 4);
    CHECK(blocks_of_cluster(1, 32767, 1024, 16) == 0);
    CHECK(blocks_of_cluster(10, 131073, 257, 16) == 0);
}
