// SPDX-License-Identifier: MIT
#include "common/operations/sampling/operation.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>
#include <string>

#include "common/operations/sampling/check.hpp"
#include "common/operations/topk/inputs.hpp"

namespace operations::sampling {

using runner::Cost;
using runner::ElementType;
using runner::Extent;
using runner::Operand;
using runner::Report;
using runner::Role;
using runner::Roof;
using runner::Traffic;
using runner::View;

const char* name_of(Kind kind) {
    return kind == Kind::sample_token ? "sample_token" : "sample_token_with_probability";
}

Shape::Shape(const runner::Shape& shape) : rows(shape[0]), cols(shape[1]) {
    options.temperature = shape.option(kTemperature, options.temperature);
    options.top_k = static_cast<int64_t>(shape.option(kTopK, 0));
    options.top_p = shape.option(kTopP, options.top_p);
    options.min_p = shape.option(kMinP, options.min_p);
    options.seed = static_cast<uint64_t>(shape.option(kSeed, 0));
}

Shape::operator runner::Shape() const {
    const Options usual;
    runner::Shape shape{rows, cols};
    const auto set = [&](const char* name, double value, double usual_value) {
        if (value != usual_value) shape.set_option(name, value);
    };
    set(kTemperature, options.temperature, usual.temperature);
    set(kTopK, static_cast<double>(options.top_k), 0);
    set(kTopP, options.top_p, usual.top_p);
    set(kMinP, options.min_p, usual.min_p);
    set(kSeed, static_cast<double>(options.seed), 0);
    return shape;
}

namespace {

constexpr int64_t kUsualRows = 256;
constexpr int64_t kUsualCols = 1024;

Options with(double temperature, int64_t top_k, double top_p, double min_p, uint64_t seed = 0) {
    return {temperature, top_k, top_p, min_p, seed};
}

// Each cut alone, all together; cuts through many columns and through one; the best column alone.
const std::vector<Options>& ways_to_cut() {
    static const std::vector<Options> ways = {
        with(1, 0, 1, 0),         with(0, 0, 1, 0),          with(0.7, 0, 1, 0, 1),
        with(1, 5, 1, 0, 2),      with(0.8, 50, 1, 0, 3),    with(1.5, 1000, 0.99, 0, 4),
        with(1, 0, 0.9, 0, 5),    with(2, 0, 0.5, 0, 6),     with(0.3, 0, 1, 0.05, 7),
        with(1, 0, 0.95, 0.1, 8), with(1, 40, 0.9, 0.02, 9), with(1, 2000, 0.999, 0, 10)};
    return ways;
}

class SamplingOperation : public runner::Operation {
public:
    explicit SamplingOperation(Kind kind) : kind_(kind) {}

    Kind kind() const { return kind_; }
    std::string name() const override { return name_of(kind_); }
    std::string family() const override { return "sampling"; }
    std::string shown_as() const override { return name_of(Kind::sample_token); }

    // ---- sizes

    std::vector<std::string> size_names(const runner::Shape&) const override {
        return {"rows", "cols"};
    }
    std::string shape_help() const override {
        return "ROWSxCOLS is wanted, and any of temperature, top_k, top_p, min_p and seed, as in "
               "10x128256,temperature=0.8,top_k=50,top_p=0.9";
    }
    bool has_shape(const runner::Shape& shape) const override {
        static const std::vector<std::string> known = {kTemperature, kTopK, kTopP, kMinP, kSeed};
        for (const auto& [name, value] : shape.options()) {
            if (std::find(known.begin(), known.end(), name) == known.end()) return false;
        }
        const auto is_whole = [&](const char* name) {
            const double value = shape.option(name, 0);
            return value >= 0 && value == std::floor(value) && value < 0x1p53;
        };
        if (shape.rank() != 2 || shape[0] < 0 || shape[1] < 0 || !is_whole(kTopK) ||
            !is_whole(kSeed))
            return false;
        const Options options = Shape(shape).options;
        const bool is_temperature =
            options.temperature == 0 || (options.temperature >= 1e-9 && options.temperature <= 1e9);
        return is_temperature && options.top_p > 0 && options.top_p <= 1 && options.min_p >= 0 &&
               options.min_p <= 1;
    }
    runner::Shape plain(const runner::Shape& shape) const override { return Shape(shape); }
    std::vector<runner::Optional> optional() const override {
        return {{kTemperature, 1, "draws at temperature 1 alone"},
                {kTopK, 0, "cuts nothing"},
                {kTopP, 1, "cuts nothing"},
                {kMinP, 0, "cuts nothing"},
                {kSeed, 0, "has one seed"}};
    }
    int64_t elements(const runner::Shape& shape) const override { return shape[0] * shape[1]; }

    // ---- operands

    std::vector<Operand> operands(const runner::Shape& shape, DType dtype) const override {
        std::vector<Operand> operands = {
            {"x", Role::in, runner::element_type(dtype), {shape[0], shape[1]}}};
        if (kind_ == Kind::sample_token) {
            operands.push_back({"column", Role::out, ElementType::int32, {shape[0]}});
        } else {
            operands.push_back({"column", Role::out, ElementType::int64, {shape[0]}});
            operands.push_back({"probability", Role::out, ElementType::float32, {shape[0]}});
        }
        return operands;
    }
    std::vector<runner::NamedInput> inputs() const override { return topk::all_inputs(); }
    // How many columns stay depends on the distribution: this one is like a language model's.
    std::string usual_input() const override { return topk::kPeaked; }
    void fill(const runner::Shape& shape, DType dtype, const std::string& input, uint64_t seed,
              const View& inputs) const override {
        topk::fill(inputs["x"].data, dtype, {shape[0], shape[1], 1}, input, seed);
    }
    void complete(const runner::Shape&, DType, uint64_t, const View&) const override {}  // x is all

    // ---- the reference

    Report check(const runner::Shape& shape, DType dtype, const View& inputs,
                 const runner::Result& ours) const override {
        return sampling::check(inputs["x"].data, shape, result_of(ours, dtype));
    }
    bool is_comparable(const runner::Operation& other) const override {
        return dynamic_cast<const SamplingOperation*>(&other) != nullptr;
    }
    Report compare(const runner::Shape& shape, DType dtype, const View& inputs,
                   const runner::Result& ours, const runner::Result& previous) const override {
        const Result before = result_of(previous, dtype);
        return sampling::check(inputs["x"].data, shape, result_of(ours, dtype), &before);
    }

    // ---- cost

    Roof roof() const override { return Roof::read; }
    int64_t parts(const runner::Shape& shape) const override { return shape[0]; }
    // Results of a few bytes a row; and the part of a row that the random number chooses may be read again, of that
    // what one thread has of it once more.
    Traffic tolerance(const runner::Shape& shape, DType dtype) const override {
        const Cost whole = cost(shape, dtype);
        double written = 0;
        for (const int64_t bytes : whole.written) written += static_cast<double>(bytes);
        const auto cols = static_cast<double>(std::max<int64_t>(1, shape[1]));
        return {1 + std::ceil(cols / 32) / cols,  // a warp at least has a row
                written / static_cast<double>(std::max<int64_t>(1, whole.read.front()))};
    }

    // ---- which problems

    std::vector<runner::Shape> validated_at(Extent extent) const override {
        std::vector<int64_t> widths = {1, 7, 32, 33, 1000, 1025, 4099, 20011};
        if (extent.quick) widths = {33, 1000, 4099};
        if (extent.gpu && !extent.quick) widths.push_back(128256);
        std::vector<runner::Shape> shapes;
        size_t number = 0;
        for (const int64_t cols : widths) {
            const int64_t rows = extent.gpu ? (cols > 20000 ? 40 : 300) : cols > 4000 ? 4 : 12;
            // Every way at some width; at each width some.
            const size_t count = extent.quick ? 4 : 5;
            for (size_t i = 0; i < count; ++i)
                shapes.push_back(Shape(rows, cols, ways_to_cut()[number++ % ways_to_cut().size()]));
        }
        return shapes;
    }
    std::vector<runner::Shape> measured_at(Extent extent) const override {
        if (!extent.gpu && extent.quick)
            return {Shape(16, kUsualCols), Shape(4, kUsualCols, with(0.8, 50, 0.9, 0))};
        if (!extent.gpu) return {usual_shape(), Shape(16, 4096, with(0.8, 50, 0.9, 0))};
        const std::vector<Options> all = {with(0, 0, 1, 0),      with(1, 0, 1, 0),
                                          with(0.8, 0, 1, 0),    with(0.8, 50, 1, 0),
                                          with(0.8, 50, 0.9, 0), with(1, 0, 0.9, 0),
                                          with(0.8, 0, 0.9, 0),  with(0.8, 0, 1, 0.05),
                                          with(1, 0, 0.999, 0),  with(0.8, 1024, 0.95, 0.02)};
        std::vector<runner::Shape> shapes;
        for (const int64_t rows : {4000, 256, 10, 1}) {
            for (const Options& options : all) {
                if (extent.quick && (rows > 10 || options.top_k == 0)) continue;
                shapes.push_back(Shape(rows, 128256, options));
            }
        }
        return shapes;
    }
    runner::Shape usual_shape() const override { return Shape(kUsualRows, kUsualCols); }
    std::vector<runner::Shape> held_at() const override {
        return {usual_shape(), Shape(61, 777), Shape(3, 20011)};
    }
    runner::Shape draw(runner::Draws& draws, int64_t elements,
                       const std::function<bool(const std::string&)>& takes) const override {
        const int64_t cols = draws.width_up_to(elements);
        constexpr int64_t kMostRows = 400;  // many short rows show no more than some
        const int64_t rows = draws.size_up_to(std::clamp<int64_t>(elements / cols, 1, kMostRows));
        Options options;
        if (takes(kTemperature))
            options.temperature = draws.one_of<double>({0, 0.25, 0.7, 1, 1, 1.5, 4});
        if (takes(kTopK) && draws.below(2) == 0)
            options.top_k = draws.one_of<int64_t>(
                {1, 2, 32, 33, 1023, 1024, 1025, cols, draws.size_up_to(cols)});
        if (takes(kTopP) && draws.below(2) == 0)
            options.top_p = draws.one_of<double>({0.0001, 0.25, 0.5, 0.9, 0.95, 0.999, 0.999999});
        if (takes(kMinP) && draws.below(3) == 0)
            options.min_p = draws.one_of<double>({0.0001, 0.01, 0.1, 0.5, 1});
        if (takes(kSeed)) options.seed = static_cast<uint64_t>(draws.below(1000000000));
        return Shape(rows, cols, options);
    }

private:
    static Result result_of(const runner::Result& result, DType dtype) {
        const View& outputs = result.outputs;
        const void* columns = outputs["column"].data;
        const bool narrow = kind_of(*result.operation) == Kind::sample_token;
        return {narrow ? topk::Indices(static_cast<const int32_t*>(columns))
                       : topk::Indices(static_cast<const int64_t*>(columns)),
                narrow ? nullptr : static_cast<const float*>(outputs["probability"].data), dtype,
                result.arithmetic.partial_sums};
    }

    Kind kind_;
};

}  // namespace

const runner::Operation* operation_of(Kind kind) {
    static const SamplingOperation column(Kind::sample_token);
    static const SamplingOperation column_and_probability(Kind::sample_token_with_probability);
    return kind == Kind::sample_token ? &column : &column_and_probability;
}

Kind kind_of(const runner::Operation& operation) {
    const auto* of_family = dynamic_cast<const SamplingOperation*>(&operation);
    if (of_family == nullptr) throw std::invalid_argument(operation.name() + " is no sampling");
    return of_family->kind();
}

std::vector<const runner::Operation*> all() {
    return {operation_of(Kind::sample_token), operation_of(Kind::sample_token_with_probability)};
}

}  // namespace operations::sampling
