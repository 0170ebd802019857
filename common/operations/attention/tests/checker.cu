// SPDX-License-Identifier: MIT
// The checker of attention accepts right results and nothing else, on the host and by its kernel.
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "common/operations/attention/check.hpp"
#include "common/operations/attention/inputs.hpp"
#include "common/runner/device.hpp"
#include "common/testing/catch.hpp"

namespace {

using namespace operations::attention;
using runner::DeviceBuffer;
using runner::Report;
using runner::to_double;

template <class T>
struct Rows {
    std::vector<T> q, k, v;
    std::vector<int32_t> lengths;
};
template <class T>
struct Results {
    std::vector<T> o;
    std::vector<float> sums;
};

template <class T>
Rows<T> named(const std::string& input, const Shape& s) {
    DeviceBuffer<T> q(static_cast<size_t>(s.batch * s.heads * s.queries * s.size));
    DeviceBuffer<T> k(static_cast<size_t>(s.batch * s.heads * s.keys * s.size)), v(k.size());
    DeviceBuffer<int32_t> lengths(static_cast<size_t>(s.batch));
    fill({q.data(), k.data(), v.data(), lengths.data()}, runner::dtype_of<T>, s, input, 1);
    runner::check_cuda(cudaDeviceSynchronize(), "filling rows");
    return {q.download(), k.download(), v.download(), lengths.download()};
}

// Independent of the checker: in long double, straight from the definition.
template <class T>
Results<T> attended(const Rows<T>& of, const Shape& s) {
    Results<T> results;
    const auto at = [&](const std::vector<T>& rows, int64_t row, int64_t col) {
        return static_cast<long double>(to_double(rows[static_cast<size_t>(row * s.size + col)]));
    };
    for (int64_t row = 0; row < s.batch * s.heads * s.queries; ++row) {
        const int64_t head = row / s.queries, query = row % s.queries;
        int64_t seen = of.lengths[static_cast<size_t>(head / s.heads)];
        if (s.causal) seen = std::max<int64_t>(0, std::min(seen, query + s.keys - s.queries + 1));
        std::vector<long double> weights;
        long double max = -INFINITY, d = 0;
        for (int64_t key = 0; key < seen; ++key) {
            long double score = 0;
            for (int64_t col = 0; col < s.size; ++col)
                score += at(of.q, row, col) * at(of.k, head * s.keys + key, col);
            weights.push_back(score * s.scale_of_scores());
            if (!(weights.back() <= max)) max = weights.back();  // NaN, too
        }
        for (long double& each : weights) d += each = max == -INFINITY ? 0 : std::exp(each - max);
        for (int64_t col = 0; col < s.size; ++col) {
            long double sum = 0;
            for (int64_t key = 0; key < seen; ++key)
                sum += weights[static_cast<size_t>(key)] * at(of.v, head * s.keys + key, col);
            results.o.push_back(static_cast<T>(static_cast<float>(d == 0 ? 0 : sum / d)));
        }
        results.sums.push_back(static_cast<float>(d == 0 ? -INFINITY : max + std::log(d)));
    }
    return results;
}

template <class T>
Report checked(const Rows<T>& of, const Shape& shape, const Results<T>& ours,
               const Results<T>* previous = nullptr) {
    const runner::DType dtype = runner::dtype_of<T>;
    const auto outputs = [](const Results<T>& of_host) {
        return Outputs{of_host.o.data(), of_host.sums.data()};
    };
    const Outputs on_host = outputs(ours),
                  before = previous == nullptr ? Outputs{} : outputs(*previous);
    const Report host =
        check_on_host({of.q.data(), of.k.data(), of.v.data(), of.lengths.data()}, shape, dtype,
                      on_host, previous == nullptr ? nullptr : &before);
    const DeviceBuffer<T> q(of.q), k(of.k), v(of.v), o(ours.o);
    const DeviceBuffer<T> old_o(previous == nullptr ? ours.o : previous->o);
    const DeviceBuffer<float> sums(ours.sums),
        old_sums(previous == nullptr ? ours.sums : previous->sums);
    const DeviceBuffer<int32_t> lengths(of.lengths);
    const Outputs old{old_o.data(), old_sums.data()};
    const Report device =
        check_on_device({q.data(), k.data(), v.data(), lengths.data()}, shape, dtype,
                        {o.data(), sums.data()}, previous == nullptr ? nullptr : &old);
    CHECK(host.checked == device.checked);
    CHECK(host.unchecked == device.unchecked);
    CHECK(host.mismatches == device.mismatches);
    CHECK(host.first_place == device.first_place);
    CHECK(host.checked + host.unchecked ==
          shape.batch * shape.heads * shape.queries * (shape.size + 1));
    return host;
}

template <class T>
void check_right_results() {
    for (const Shape& shape :
         {Shape(1, 1, 1, 1, 1), Shape(5, 2, 3, 11, 8), Shape(2, 1, 9, 5, 6).with_causal(),
          Shape(1, 1, 3, 150, 16).with_causal(), Shape(1, 2, 2, 7, 130).with_scale(0.5),
          Shape(2, 1, 3, 0, 4)}) {
        for (const runner::NamedInput& input : all_inputs()) {
            const Rows<T> of = named<T>(input.name, shape);
            const Results<T> right = attended(of, shape);
            INFO(input.name << ", " << text_of(runner::Shape(shape)));
            const Report report = checked(of, shape, right);
            INFO(describe(report));
            CHECK(report.good());
            CHECK(report.unchecked == 0);
            CHECK(checked(of, shape, right, &right).good());
        }
    }
}

}  // namespace

TEST_CASE("right attention passes, whatever it attends to") {
    check_right_results<float>();
    check_right_results<__half>();
    check_right_results<__nv_bfloat16>();
}

TEST_CASE("one wrong element of attention is found, and where it is") {
    const Shape shape(2, 3, 5, 40, 16);
    const Rows<__half> of = named<__half>(kNormal, shape);
    const Results<__half> right = attended(of, shape);
    const size_t which = ((1 * 3 + 2) * 5 + 4) * 16 + 7;
    for (const auto& change : std::vector<std::function<double(double)>>{
             [](double) { return NAN; }, [](double) { return INFINITY; }, [](double) { return 2.; },
             [](double x) { return x + 0.02; }, [](double x) { return x - 0.02; }}) {
        Results<__half> ours = right;
        ours.o[which] = static_cast<__half>(change(to_double(ours.o[which])));
        const Report report = checked(of, shape, ours);
        INFO(describe(report));
        CHECK(report.mismatches == 1);
        CHECK(report.first_place == "batch 1, head 2, query 4, col 7");
        CHECK(checked(of, shape, ours, &right).mismatches == 1);
    }
    Results<__half> ours = right;
    ours.sums[29] += 0.01f;
    CHECK(checked(of, shape, ours).first_place == "batch 1, head 2, query 4, log_sum_exp");
    CHECK(checked(of, shape, ours, &right).mismatches == 1);
}

TEST_CASE(
    "attention's mistakes are found: no mask, a key too few, no scale, a weight that was not "
    "rescaled") {
    const Shape shape(1, 1, 20, 24, 16);
    const Shape causal = shape.with_causal();
    const Rows<float> of = named<float>(kAscending, shape);
    CHECK(checked(of, causal, attended(of, shape)).mismatches > 100);
    Rows<float> fewer = of;
    fewer.lengths[0] = 23;
    CHECK(checked(of, shape, attended(fewer, shape)).mismatches > 100);
    CHECK(checked(of, shape, attended(of, shape.with_scale(1))).mismatches > 100);
    Rows<float> without_first = of;  // as if what came before the largest had been lost
    for (size_t i = 0; i < 16; ++i) without_first.v[i] = 0;
    CHECK(checked(of, shape, attended(without_first, shape)).mismatches > 100);
}

TEST_CASE("shapes of attention: sizes and options") {
    const runner::Operation& attention = *operation_of(Kind::attention);
    CHECK(attention.has_shape({2, 3, 4, 0, 8}));
    CHECK_FALSE(attention.has_shape({2, 3, 4, 5}));
    CHECK_FALSE(attention.has_shape({2, 3, 4, 5, 0}));
    runner::Shape shape{2, 3, 4, 6, 8};
    shape.set_option("causal", 1);
    CHECK(attention.has_shape(shape));
    CHECK(attention.cost(shape, runner::DType::float16).operations ==
          4. * 2 * 3 * 8 * (3 + 4 + 5 + 6));
    CHECK(runner::Shape(Shape(shape)) == shape);
    shape.set_option("scale", -1);
    CHECK_FALSE(attention.has_shape(shape));
    runner::Draws draws(1, 1);
    bool has_empty = false, has_causal = false;
    for (int number = 0; number < 1000; ++number) {
        const runner::Shape drawn =
            attention.draw(draws, 5000, [](const std::string&) { return true; });
        CHECK(attention.has_shape(drawn));
        CHECK(attention.elements(drawn) <= 5000);
        CHECK(attention.elements(drawn) >= 1);
        has_empty = has_empty || drawn[3] == 0;
        has_causal = has_causal || drawn.option("causal", 0) == 1;
    }
    CHECK(has_empty);
    CHECK(has_causal);
}
