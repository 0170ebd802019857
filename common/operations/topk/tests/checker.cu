// SPDX-License-Identifier: MIT
// The checker of top-k accepts the right answer and nothing else, on the host and by its kernel.
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <type_traits>
#include <vector>

#include "common/operations/topk/check.hpp"
#include "common/operations/topk/inputs.hpp"
#include "common/runner/device.hpp"
#include "common/runner/tensors.hpp"
#include "common/testing/catch.hpp"

namespace {

using namespace operations::topk;
using runner::DeviceBuffer;
using runner::Report;

const operations::softmax::Rules kBlock{operations::softmax::Kind::softmax, false, 256};

bool tells_all(Kind kind) {
    return kind == Kind::softmax_topk_lse;
}

std::vector<float> named(const std::string& input, const Shape& shape) {
    DeviceBuffer<float> x(static_cast<size_t>(shape.rows * shape.cols));
    fill(x.data(), DType::float32, shape, input, 1);
    runner::check_cuda(cudaDeviceSynchronize(), "filling x");
    return x.download();
}

// logits and sums: what softmax_topk_lse tells, and the others do not.
struct Lists {
    std::vector<float> values;
    std::vector<int64_t> indices;
    std::vector<float> logits = {};
    std::vector<float> sums = {};
};

std::vector<double> row_of(const std::vector<float>& x, const Shape& shape, int64_t row) {
    const auto first = x.begin() + row * shape.cols;
    return {first, first + shape.cols};
}

// One pick as that of another list.
void put(Lists& lists, size_t pick, const Lists& from, size_t of) {
    lists.indices[pick] = from.indices[of];
    lists.values[pick] = from.values[of];
    if (!lists.logits.empty()) lists.logits[pick] = from.logits[of];
}

// An independent softmax of a row, in long double.
std::vector<double> softmax_of(const std::vector<double>& row) {
    long double max = -INFINITY, sum = 0;
    bool bad = false;
    for (const double x : row) {
        max = x > max ? x : max;
        bad = bad || x != x || x == INFINITY;
    }
    bad = bad || max == -INFINITY;
    for (const double x : row) sum += std::exp(x - max);
    std::vector<double> y;
    for (const double x : row)
        y.push_back(bad ? NAN : static_cast<double>(std::exp(x - max) / sum));
    return y;
}

long double log_sum_exp_of(const std::vector<double>& row) {
    long double max = -INFINITY, sum = 0;
    for (const double x : row) {
        if (x != x) return NAN;
        max = x > max ? x : max;
    }
    if (std::isinf(max)) return max;
    for (const double x : row) sum += std::exp(x - max);
    return max + std::log(sum);
}

// By sorting: x, or its probabilities in float.
Lists right_lists(const std::vector<float>& x, const Shape& shape, Kind kind) {
    Lists lists;
    for (int64_t row = 0; row < shape.rows; ++row) {
        const std::vector<double> logits = row_of(x, shape, row);
        std::vector<double> probabilities = softmax_of(logits);
        for (double& each : probabilities) each = static_cast<float>(each);
        for (const int64_t col :
             sorted_columns(kind == Kind::topk_of_softmax ? probabilities : logits, shape.k)) {
            const auto place = static_cast<size_t>(col);
            lists.indices.push_back(col);
            lists.values.push_back(static_cast<float>(probabilities[place]));
            if (tells_all(kind)) lists.logits.push_back(static_cast<float>(logits[place]));
        }
        if (tells_all(kind)) lists.sums.push_back(static_cast<float>(log_sum_exp_of(logits)));
    }
    return lists;
}

// Lists of one kind in device memory.
class OnDevice {
public:
    OnDevice(const Lists& lists, Kind kind)
        : kind_(kind),
          values_(lists.values),
          wide_(lists.indices),
          narrow_(std::vector<int32_t>(lists.indices.begin(), lists.indices.end())),
          logits_(lists.logits),
          sums_(lists.sums) {}
    Result result() const {
        const Indices indices = tells_all(kind_) ? Indices(wide_.data()) : Indices(narrow_.data());
        return {values_.data(), indices, kind_, kBlock, logits_.data(), sums_.data()};
    }

private:
    Kind kind_;
    DeviceBuffer<float> values_;
    DeviceBuffer<int64_t> wide_;
    DeviceBuffer<int32_t> narrow_;
    DeviceBuffer<float> logits_, sums_;
};

const float* place_or_null(const std::vector<float>& values) {
    return values.empty() ? nullptr : values.data();
}

// By both checkers, which must agree.
Report judge(const std::vector<float>& x, const Lists& lists, const Shape& shape, Kind kind,
             const Lists* previous = nullptr, Kind previous_kind = Kind::softmax_topk) {
    // Lists on the host have indices of the width that lists on the device have not.
    const std::vector<int32_t> narrow(lists.indices.begin(), lists.indices.end());
    const auto on_host_of = [](const Lists& of, const Indices& indices, Kind as) {
        return Result{of.values.data(),      indices, as, kBlock, place_or_null(of.logits),
                      place_or_null(of.sums)};
    };
    Result theirs;
    if (previous != nullptr)
        theirs = on_host_of(*previous, previous->indices.data(), previous_kind);
    const bool fit = std::equal(narrow.begin(), narrow.end(), lists.indices.begin());
    const Result ours = tells_all(kind) && fit ? on_host_of(lists, narrow.data(), kind)
                                               : on_host_of(lists, lists.indices.data(), kind);
    const Report on_host =
        check_on_host(x.data(), shape, ours, previous != nullptr ? &theirs : nullptr);

    const DeviceBuffer<float> dx(x);
    const OnDevice our_lists(lists, kind);
    const OnDevice their_lists(previous != nullptr ? *previous : Lists(), previous_kind);
    theirs = their_lists.result();
    const Report on_device = check_on_device(dx.data(), shape, our_lists.result(),
                                             previous != nullptr ? &theirs : nullptr);
    CHECK(on_host.checked == on_device.checked);
    CHECK(on_host.mismatches == on_device.mismatches);
    CHECK(on_host.first_place == on_device.first_place);
    return on_host;
}

}  // namespace

TEST_CASE("the checker of top-k accepts sorted rows of every named input, of every kind") {
    for (const Kind kind : kAllKinds) {
        for (const runner::NamedInput& input : all_inputs()) {
            for (const Shape& shape : {Shape(5, 1, 1), Shape(5, 40, 40), Shape(4, 333, 6)}) {
                const std::vector<float> x = named(input.name, shape);
                const Report report = judge(x, right_lists(x, shape, kind), shape, kind);
                INFO(name_of(kind)
                     << ", " << input.name << ", " << shape.cols << ": " << describe(report));
                CHECK(report.good());
                CHECK(report.checked ==
                      (tells_all(kind) ? 3 * shape.k + 1 : 2 * shape.k) * shape.rows);
            }
        }
    }
}

TEST_CASE("the checker of top-k rejects whatever is wrong with a list") {
    const Shape shape(3, 500, 6);
    const struct {
        const char* what;
        std::function<void(Lists&)> spoil;
    } faults[] = {
        {"another column", [](Lists& lists) { lists.indices[8] = 0; }},
        {"the same column twice", [](Lists& lists) { put(lists, 9, lists, 8); }},
        {"two in the other order",
         [](Lists& lists) {
             const Lists before = lists;
             put(lists, 8, before, 9);
             put(lists, 9, before, 8);
         }},
        {"the best is missing",
         [&](Lists& lists) {  // all others move up: what follows is right
             const Lists longer =
                 right_lists(named(kDistinct, shape), {3, 500, 7}, Kind::softmax_topk_lse);
             for (size_t pick = 0; pick < 6; ++pick) put(lists, 6 + pick, longer, 7 + pick + 1);
         }},
        {"nobody wrote it",
         [](Lists& lists) {
             lists.indices[8] = -1;
             lists.values[8] = NAN;
             if (!lists.logits.empty()) lists.logits[8] = NAN;
         }},
        {"no column", [](Lists& lists) { lists.indices[7] = -1; }},
        {"behind the last column", [](Lists& lists) { lists.indices[11] = 500; }},
        {"the last of INT32_MAX", [](Lists& lists) { lists.indices[11] = INT32_MAX; }},
        {"a probability that is off", [](Lists& lists) { lists.values[8] *= 1.0001f; }},
        {"a probability that is NaN", [](Lists& lists) { lists.values[8] = NAN; }},
        {"no probability", [](Lists& lists) { lists.values[11] = 0; }},
        {"logits", [](Lists& lists) { lists.values[6] = 3.99f; }},
    };
    const std::vector<float> x = named(kDistinct, shape);
    for (const Kind kind : kAllKinds) {
        const Lists right = right_lists(x, shape, kind);
        REQUIRE(judge(x, right, shape, kind).good());
        for (const auto& fault : faults) {
            Lists lists = right;
            fault.spoil(lists);
            const Report report = judge(x, lists, shape, kind);
            INFO(name_of(kind) << ", " << fault.what);
            CHECK_FALSE(report.good());
            CHECK_THAT(report.first_place, ContainsSubstring("row 1, pick "));
            CHECK_FALSE(judge(x, lists, shape, kind, &right, kind).good());
        }
    }
}

TEST_CASE(
    "the checker of top-k rejects a wrong logit, a wrong sum, and an index of too many bits") {
    constexpr Kind kKind = Kind::softmax_topk_lse;
    const Shape shape(3, 500, 6);
    const std::vector<float> x = named(kDistinct, shape);
    const Lists right = right_lists(x, shape, kKind);
    const auto is_rejected = [&](const char* place, const std::function<void(Lists&)>& spoil) {
        Lists lists = right;
        spoil(lists);
        INFO(place);
        const Report report = judge(x, lists, shape, kKind);
        CHECK(report.mismatches == 1);
        CHECK(report.first_place == place);
        CHECK(judge(x, lists, shape, kKind, &right, kKind).first_place == place);
    };
    is_rejected("logits, row 1, pick 2",
                [](Lists& lists) { lists.logits[8] = std::nextafter(lists.logits[8], 0.f); });
    is_rejected("logits, row 1, pick 2", [](Lists& lists) { lists.logits[8] = lists.values[8]; });
    is_rejected("logits, row 2, pick 5", [](Lists& lists) { lists.logits[17] = NAN; });
    is_rejected("log_sum_exp, row 1", [](Lists& lists) { lists.sums[1] *= 1.00001f; });
    is_rejected("log_sum_exp, row 1", [](Lists& lists) { lists.sums[1] -= 4; });
    is_rejected("log_sum_exp, row 0", [](Lists& lists) { lists.sums[0] = NAN; });
    is_rejected("log_sum_exp, row 2", [](Lists& lists) { lists.sums[2] = INFINITY; });
    // Its lower half is right.
    is_rejected("indices, row 1, pick 5", [](Lists& lists) { lists.indices[11] += 1ll << 32; });
}

TEST_CASE("a result is held against one that tells less by what both tell") {
    const Shape shape(2, 300, 5);
    const std::vector<float> x = named(kDistinct, shape);
    const Lists all = right_lists(x, shape, Kind::softmax_topk_lse);
    const Lists some = right_lists(x, shape, Kind::softmax_topk);
    const auto compare_as = [&](const Lists& a, Kind kind, const Lists& b, Kind other) {
        return judge(x, a, shape, kind, &b, other);
    };
    const Report more = compare_as(all, Kind::softmax_topk_lse, some, Kind::softmax_topk);
    CHECK(more.good());
    CHECK(more.checked == 2 * 5 * 2);
    CHECK(compare_as(some, Kind::softmax_topk, all, Kind::softmax_topk_lse).checked == 2 * 5 * 2);
    CHECK(compare_as(all, Kind::softmax_topk_lse, all, Kind::softmax_topk_lse).checked ==
          2 * (3 * 5 + 1));
    Lists wrong = some;
    std::swap(wrong.indices[1], wrong.indices[2]);
    CHECK_FALSE(compare_as(wrong, Kind::softmax_topk, all, Kind::softmax_topk_lse).good());
}

// Narrow types have fewer probabilities than float, so that there are more ties among them.
TEST_CASE("the checker of top-k takes every type that x may have") {
    const Shape shape(4, 333, 6);
    for (const DType dtype : runner::all_dtypes()) {
        visit(dtype, [&](auto of) {
            using T = typename decltype(of)::type;
            using Sum = std::conditional_t<std::is_same_v<T, double>, double, float>;
            for (const runner::NamedInput& input : all_inputs()) {
                DeviceBuffer<T> device_x(static_cast<size_t>(shape.rows * shape.cols));
                fill(device_x.data(), dtype, shape, input.name, 1);
                runner::check_cuda(cudaDeviceSynchronize(), "filling x");
                const std::vector<T> x = device_x.download();
                std::vector<T> values, elements;
                std::vector<Sum> sums;
                std::vector<int32_t> indices, by_probability;
                for (int64_t row = 0; row < shape.rows; ++row) {
                    std::vector<double> logits, probabilities;
                    for (int64_t col = 0; col < shape.cols; ++col)
                        logits.push_back(
                            runner::to_double(x[static_cast<size_t>(row * shape.cols + col)]));
                    for (const double each : softmax_of(logits))
                        probabilities.push_back(runner::to_double(static_cast<T>(each)));
                    for (const int64_t col : sorted_columns(logits, shape.k)) {
                        indices.push_back(static_cast<int32_t>(col));
                        values.push_back(static_cast<T>(probabilities[static_cast<size_t>(col)]));
                        elements.push_back(x[static_cast<size_t>(row * shape.cols + col)]);
                    }
                    sums.push_back(static_cast<Sum>(log_sum_exp_of(logits)));
                    for (const int64_t col : sorted_columns(probabilities, shape.k))
                        by_probability.push_back(static_cast<int32_t>(col));
                }
                const operations::softmax::Rules rules{operations::softmax::Kind::softmax, false, 1,
                                                       dtype};
                const auto judge_as = [&](Kind kind, const std::vector<int32_t>& list) {
                    return check_on_host(x.data(), shape,
                                         {values.data(), list.data(), kind, rules});
                };
                const auto judge_all = [&] {
                    return check_on_host(x.data(), shape,
                                         {values.data(), indices.data(), Kind::softmax_topk_lse,
                                          rules, elements.data(), sums.data()});
                };
                INFO(name_of(dtype) << ", " << input.name);
                CHECK(judge_as(Kind::softmax_topk, indices).good());
                // The k largest probabilities are the same numbers, in whichever columns.
                CHECK(judge_as(Kind::topk_of_softmax, by_probability).good());
                CHECK(judge_all().good());
                sums[3] += std::fabs(sums[3]) < 100 ? Sum(1e-3) : Sum(0.1);
                CHECK(judge_all().good() == !std::isfinite(sums[3]));
                values[7] = static_cast<T>(2.f);
                CHECK_FALSE(judge_as(Kind::softmax_topk, indices).good());
                CHECK_FALSE(judge_as(Kind::topk_of_softmax, by_probability).good());
            }
        });
    }
}

TEST_CASE("a column that is missing is told where it should stand") {
    const Shape shape(2, 50, 3);
    const std::vector<float> x = named(kDistinct, shape);
    Lists lists = right_lists(x, shape, Kind::softmax_topk);
    const Lists longer = right_lists(x, {2, 50, 4}, Kind::softmax_topk);
    for (size_t pick = 1; pick < 3; ++pick) {  // row 1 leaves out its second
        lists.indices[3 + pick] = longer.indices[4 + pick + 1];
        lists.values[3 + pick] = longer.values[4 + pick + 1];
    }
    const Report report = judge(x, lists, shape, Kind::softmax_topk);
    CHECK(report.first_place == "indices, row 1, pick 1");
    CHECK(report.first_got == static_cast<double>(longer.indices[6]));
    CHECK(report.first_wanted == static_cast<double>(longer.indices[5]));
}

TEST_CASE("in lists of none nothing can be wrong") {
    const Shape shape(3, 7, 0);
    for (const Kind kind : {Kind::softmax_topk, Kind::topk_of_softmax}) {
        const Report report = judge(named("normal", shape), {}, shape, kind);
        CHECK(report.checked == 0);
        CHECK(report.mismatches == 0);
    }
}

TEST_CASE("among ties the lower column comes first, and the right columns are those") {
    const Shape shape(1, 100, 4);
    const std::vector<float> x(100, 3.25f);
    for (const Kind kind : kAllKinds) {
        const Lists right = right_lists(x, shape, kind);
        CHECK(right.indices == std::vector<int64_t>{0, 1, 2, 3});
        Lists lists = right;
        std::swap(lists.indices[1], lists.indices[2]);
        CHECK_FALSE(judge(x, lists, shape, kind).good());
        lists.indices = {0, 1, 2, 4};  // which of them is missing, rounding may decide, and x not
        CHECK(judge(x, lists, shape, kind).good() == (kind == Kind::topk_of_softmax));
    }
}

TEST_CASE("a row without probabilities has columns all the same") {
    const Shape shape(1, 20, 3);
    std::vector<float> x(20, 1.f);
    x[7] = NAN;
    x[5] = INFINITY;
    const std::vector<float> nan(3, NAN);
    CHECK(judge(x, {nan, {7, 5, 0}}, shape, Kind::softmax_topk).good());
    CHECK_FALSE(judge(x, {nan, {5, 7, 0}}, shape, Kind::softmax_topk).good());
    CHECK_FALSE(judge(x, {{NAN, NAN, 0}, {7, 5, 0}}, shape, Kind::softmax_topk).good());
    CHECK(judge(x, {nan, {0, 1, 2}}, shape, Kind::topk_of_softmax).good());
    CHECK_FALSE(judge(x, {nan, {0, 1, 3}}, shape, Kind::topk_of_softmax).good());
    // The two orders say different columns of it, and cannot be held against each other.
    const Lists by_x{nan, {7, 5, 0}}, by_probability{nan, {0, 1, 2}};
    CHECK(judge(x, by_x, shape, Kind::softmax_topk, &by_probability, Kind::topk_of_softmax).good());
}

TEST_CASE("lists may differ from one another where probabilities are as good as equal") {
    const Shape shape(1, 4, 2);
    const std::vector<float> x = {0.f, 1e-9f, -3.f, 0.5f};
    const Lists exact = right_lists(x, shape, Kind::softmax_topk);
    CHECK(exact.indices == std::vector<int64_t>{3, 1});
    const Lists rounded = right_lists(x, shape, Kind::topk_of_softmax);
    CHECK(rounded.indices == std::vector<int64_t>{3, 0});
    CHECK(judge(x, exact, shape, Kind::softmax_topk, &rounded, Kind::topk_of_softmax).good());
    CHECK_FALSE(judge(x, exact, shape, Kind::softmax_topk, &rounded, Kind::softmax_topk).good());
    Lists wrong = exact;
    wrong.indices[1] = 2;
    CHECK_FALSE(judge(x, wrong, shape, Kind::softmax_topk, &rounded, Kind::topk_of_softmax).good());
}

TEST_CASE("no two elements of `distinct` are equal, and all of its range is there") {
    for (const int64_t cols : {1, 2, 3, 100, 4096, 100003}) {
        std::vector<float> x = named(kDistinct, {1, cols, 1});
        std::sort(x.begin(), x.end());
        INFO(cols << " columns");
        CHECK(std::adjacent_find(x.begin(), x.end()) == x.end());
        CHECK(x.front() >= -4);
        CHECK(x.back() <= 4);
        CHECK(x.back() - x.front() >= 8 - 8.1 / static_cast<double>(cols));
    }
}

TEST_CASE("the inputs that selections find difficult are what they say") {
    const Shape shape(4, 1000, 1);
    const auto count = [](const std::vector<float>& row, auto what) {
        return std::count_if(row.begin(), row.end(), what);
    };
    const auto row_of_input = [&](const char* input, int64_t row) {
        const std::vector<float> x = named(input, shape);
        const std::vector<double> values = row_of(x, shape, row);
        return std::vector<float>(values.begin(), values.end());
    };
    const std::vector<float> up = row_of_input(kAscending, 1);
    const std::vector<float> down = row_of_input(kDescending, 1);
    CHECK(std::adjacent_find(up.begin(), up.end(), std::greater_equal<>()) == up.end());
    CHECK(std::equal(up.begin(), up.end(), down.rbegin()));
    const int64_t wanted[] = {3, 0, 10, 1};
    for (int64_t row = 0; row < 4; ++row) {
        CHECK(count(row_of_input(kPlateau, row), [](float x) { return x > 0.25f; }) == wanted[row]);
        CHECK(count(row_of_input(kPlateau, row), [](float x) { return x == 0.25f; }) > 800);
        CHECK(count(row_of_input(kFewLeft, row), [](float x) { return x > -INFINITY; }) ==
              wanted[row]);
    }
    std::vector<float> neighbours = row_of_input(kNeighbours, 2);
    std::sort(neighbours.begin(), neighbours.end());
    for (size_t i = 0; i < 1000; ++i) CHECK(neighbours[i] == 1 + static_cast<float>(i) * 0x1p-23f);
}

TEST_CASE("problems of top-k: k is as usual where nothing is said, and at most the columns") {
    const runner::Operation& operation = *operation_of(Kind::softmax_topk);
    const auto shape = [](const char* word) { return *runner::shape_from(word); };
    CHECK(text_of(operation.plain(shape("4000x1000"))) == "4000 x 1000 k=5");
    CHECK(operation.has_shape(shape("4000x1000,k=1000")));
    CHECK_FALSE(operation.has_shape(shape("4000x1000,k=1001")));
    CHECK_FALSE(operation.has_shape(shape("4000x4")));
    CHECK_FALSE(operation.has_shape(shape("4000x1000,k=2.5")));
    CHECK_FALSE(operation.has_shape(shape("4000x1000,k=-1")));
    CHECK_FALSE(operation.has_shape(shape("4000x1000,q=1")));
    CHECK_FALSE(operation.has_shape(shape("4000x1000x3")));
    CHECK(operation.operands(shape("7x9,k=3"), DType::float16)[2].dims ==
          std::vector<int64_t>{7, 3});
    CHECK(operation.cost(shape("10x100,k=5"), DType::float32).bytes() == 4000 + 200 + 200);
    const runner::Operation& all = *operation_of(Kind::softmax_topk_lse);
    CHECK(all.operands(shape("7x9,k=3"), DType::float16)[2].type == runner::ElementType::int64);
    CHECK(all.operands(shape("7x9,k=3"), DType::float16)[3].type == runner::ElementType::float16);
    CHECK(all.operands(shape("7x9,k=3"), DType::float16)[4].type == runner::ElementType::float32);
    CHECK(all.operands(shape("7x9,k=3"), DType::float64)[4].type == runner::ElementType::float64);
    CHECK(all.cost(shape("10x100,k=5"), DType::bfloat16).bytes() ==
          2000 + 50 * (2 + 8 + 2) + 10 * 4);
    CHECK(operation.is_comparable(all));
}

TEST_CASE("random problems of top-k end where a way may end, and come with odd and wide rows") {
    const runner::Operation& operation = *operation_of(Kind::softmax_topk);
    const auto takes_all = [](const std::string&) { return true; };
    int whole_rows = 0, odd_and_wide = 0;
    std::map<int64_t, int> of_length;
    for (int64_t number = 0; number < 2000; ++number) {
        runner::Draws draws(7, number);
        const Shape drawn = operation.draw(draws, 1 << 20, takes_all);
        whole_rows += drawn.k == drawn.cols && drawn.k > 32;
        odd_and_wide += drawn.cols > 50000 && drawn.cols % 2 == 1;
        ++of_length[drawn.k];
        CHECK(drawn.k <= kLargestDrawnK);
    }
    CHECK(whole_rows > 20);
    CHECK(odd_and_wide > 50);
    for (const int64_t k : {1, 32, 33, 1024}) CHECK(of_length[k] > 50);
}
