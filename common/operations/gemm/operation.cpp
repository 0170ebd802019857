// SPDX-License-Identifier: MIT
#include "common/operations/gemm/operation.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "common/operations/gemm/check.hpp"
#include "common/operations/gemm/cublas_lt.hpp"
#include "common/operations/gemm/inputs.hpp"

namespace operations::gemm {

using runner::Cost;
using runner::ElementType;
using runner::Extent;
using runner::Operand;
using runner::Report;
using runner::Role;
using runner::Roof;
using runner::View;

namespace {

struct Option {
    const char* name;
    double usual;
    const char* refusal;
};
constexpr std::array<Option, 4> kOptions = {{{kTransposeA, 0, "takes no transposed A"},
                                             {kTransposeB, 0, "takes no transposed B"},
                                             {kAlpha, 1, "does not scale"},
                                             {kBeta, 0, "adds nothing to C"}}};

// What an option may be.
bool is_possible(const std::string& name, double value) {
    if (name == kTransposeA || name == kTransposeB) return value == 0 || value == 1;
    return (name == kAlpha || name == kBeta) && std::fabs(value) <= 1e6;
}

// Sizes at which tiles go wrong: one element, below, at and above 8, 16, 32, 64 and 128, primes, no
// products at all; every transposition, and scales of which 0.5 is exact and 0.3 is not.
std::vector<Shape> odd_shapes() {
    return {Shape(1, 1, 1, 1),
            Shape(3, 5, 3, 0).with_scales(1, 0.5),
            Shape(2, 7, 9, 31),
            Shape(1, 33, 65, 17).with_transposed(true, false),
            Shape(2, 31, 33, 64).with_transposed(false, true).with_scales(-2, 0.5),
            Shape(1, 127, 40, 24).with_transposed(true, true).with_scales(0.3, 0.7),
            Shape(1, 129, 136, 72),
            Shape(1, 8, 136, 136).with_transposed(false, true),
            Shape(3, 64, 8, 257).with_scales(0, 1)};
}
std::vector<Shape> quick_shapes() {
    return {Shape(1, 33, 65, 17), Shape(2, 40, 72, 24),
            Shape(2, 31, 40, 64).with_transposed(false, true),
            Shape(1, 129, 136, 72).with_transposed(true, false).with_scales(-2, 0.5)};
}

std::vector<runner::Shape> as_the_runners(const std::vector<Shape>& shapes) {
    return {shapes.begin(), shapes.end()};
}

class GemmOperation : public runner::Operation {
public:
    explicit GemmOperation(Kind kind) : kind_(kind) {}

    std::string name() const override {
        constexpr const char* kNames[] = {"batched_gemm",      "batched_gemm_half_sums",
                                          "batched_gemm_tf32", "batched_gemm_e4m3",
                                          "batched_gemm_s8",   "batched_gemm_pruned"};
        return kNames[static_cast<size_t>(kind_)];
    }
    std::string family() const override { return "gemm"; }
    std::string shown_as() const override {
        return is_eight_bits() || kind_ == Kind::pruned ? name() : "batched_gemm";
    }
    std::string along() const override { return "m=n=k"; }
    // A table shows every second size, and of the largest the batch; all products of few rows, and by a B with zeros.
    bool swept(const runner::Shape& shape) const override {
        const int64_t m = shape[1];
        const bool has_few_rows = shape[0] == 1 && m < shape[2];
        if (kind_ == Kind::pruned || has_few_rows) return false;
        return m != 512 && m != 2048 && !(m == 4096 && shape[0] > 1);
    }

    // ---- sizes

    std::vector<std::string> size_names(const runner::Shape&) const override {
        return {"batch", "m", "n", "k"};
    }
    std::string shape_help() const override {
        return "BATCHxMxNxK is wanted, as in 16x512x512x512, with transpose_a, transpose_b, "
               "alpha=X or beta=X "
               "where they are as in 384x128x128x64,transpose_b";
    }
    bool has_shape(const runner::Shape& shape) const override {
        const std::vector<int64_t>& sizes = shape.sizes();
        return shape.rank() == 4 &&
               std::all_of(sizes.begin(), sizes.end(), [](int64_t size) { return size >= 0; }) &&
               std::all_of(shape.options().begin(), shape.options().end(), [](const auto& option) {
                   return is_possible(option.first, option.second);
               });
    }
    std::vector<runner::Optional> optional() const override {
        std::vector<runner::Optional> optional;
        for (const Option& each : kOptions)
            optional.push_back({each.name, each.usual, each.refusal});
        return optional;
    }
    // A, one matrix or a batch, as it is stored; B is square unless n is said.
    runner::Shape shape_of_array(const std::vector<int64_t>& dims,
                                 const runner::Words& said) const override {
        if (dims.size() != 2 && dims.size() != 3) return {};
        const auto transposed = said.find(kTransposeA);
        int64_t m = dims[dims.size() - 2], k = dims.back();
        if (transposed != said.end() && transposed->second != 0) std::swap(m, k);
        return with_words(*this, {dims.size() == 2 ? 1 : dims.front(), m, k, k}, said);
    }
    std::string array_help() const override {
        return "A as [m, k] or [batch, m, k], or with transpose_a as [k, m]; --shape says n=N "
               "where B is not square, transpose_a, transpose_b, alpha=X, beta=X";
    }
    int64_t elements(const runner::Shape& shape) const override {
        return shape[0] * shape[1] * shape[2];
    }

    // ---- operands

    std::vector<Operand> operands(const runner::Shape& of, DType dtype) const override {
        const Shape shape = of;
        const ElementType type = operand_type(dtype, kind_);
        const auto stored = [&](int64_t rows, int64_t cols, bool transposed) {
            return std::vector<int64_t>{shape.batch, transposed ? cols : rows,
                                        transposed ? rows : cols};
        };
        return {{"a", Role::in, type, stored(shape.m, shape.k, shape.transpose_a)},
                {"b", Role::in, type, stored(shape.k, shape.n, shape.transpose_b)},
                {"c", Role::in_out, runner::element_type(dtype), stored(shape.m, shape.n, false)}};
    }
    std::vector<runner::NamedInput> inputs() const override { return all_inputs(); }
    std::string usual_input() const override { return kNormal; }
    void fill(const runner::Shape& shape, DType dtype, const std::string& input, uint64_t seed,
              const View& inputs) const override {
        gemm::fill(inputs["a"].data, inputs["b"].data, inputs["c"].data, dtype, kind_, shape, input,
                   seed);
    }
    void complete(const runner::Shape& shape, DType dtype, uint64_t seed,
                  const View& inputs) const override {
        gemm::fill(nullptr, inputs["b"].data, inputs["c"].data, dtype, kind_, shape, kNormal, seed);
    }

    // ---- the reference

    Report check(const runner::Shape& shape, DType dtype, const View& inputs,
                 const runner::Result& ours) const override {
        return explained(
            gemm::check(operands_in(inputs), shape, dtype, ours.outputs["c"].data, nullptr, kind_),
            "the result, or a sum on its way, may overflow, or its roundings may be all that is "
            "left");
    }
    // Kinds whose operands have the type of the results are also compared with sums in float.
    bool is_comparable(const runner::Operation& other) const override {
        const auto* const gemm = dynamic_cast<const GemmOperation*>(&other);
        return this == &other || (this == operation() && gemm != nullptr && !gemm->is_eight_bits());
    }
    Report compare(const runner::Shape& shape, DType dtype, const View& inputs,
                   const runner::Result& ours, const runner::Result& previous) const override {
        return gemm::check(operands_in(inputs), shape, dtype, ours.outputs["c"].data,
                           previous.outputs["c"].data, kind_);
    }

    // ---- cost

    Cost cost(const runner::Shape& of, DType dtype) const override {
        const Shape shape = of;
        const auto size = static_cast<int64_t>(size_of(operand_type(dtype, kind_)));
        const int64_t of_c = elements(of) * static_cast<int64_t>(size_of(dtype));
        return {{shape.batch * shape.m * shape.k * size, shape.batch * shape.k * shape.n * size,
                 shape.beta == 0 ? 0 : of_c},
                {of_c},
                2.0 * static_cast<double>(elements(of)) * static_cast<double>(shape.k)};
    }
    runner::Unit unit() const override { return runner::Unit::teraflops; }
    // A variant counts loads and stores in elements of A and B, except those of C.
    runner::Traffic counted(const runner::Traffic& declared, const runner::Shape& of,
                            DType dtype) const override {
        const double of_c = Shape(of).beta == 0 ? 0 : 1;
        const double size = static_cast<double>(size_of(operand_type(dtype, kind_))) /
                            static_cast<double>(size_of(dtype));
        return {(declared.loads - of_c) * size + of_c, (declared.stores - 1) * size + 1};
    }
    // The best of what cuBLASLt offers; without it, a join of as many bytes.
    Roof roof() const override { return cublas_lt_obstacle().empty() ? Roof::own : Roof::join; }
    std::vector<runner::Work> own_roof(const runner::Shape& shape, DType dtype, const View& inputs,
                                       const View&) const override {
        return lt_works(shape, dtype, kind_, inputs["a"].data, inputs["b"].data);
    }

    // ---- which problems

    std::vector<runner::Shape> validated_at(Extent extent) const override {
        std::vector<Shape> shapes = extent.quick ? quick_shapes() : odd_shapes();
        if (extent.gpu && !extent.quick) {
            shapes.push_back(Shape(5, 511, 257, 1001).with_transposed(true, false));
            shapes.push_back(Shape(2, 1024, 1000, 4096).with_transposed(false, true));
        }
        return as_the_runners(shapes);
    }
    std::vector<runner::Shape> measured_at(Extent extent) const override {
        if (!extent.gpu) return {usual_shape()};
        if (is_eight_bits()) return eight_bits_measured_at(extent.quick);
        if (kind_ == Kind::pruned) return pruned_measured_at(extent.quick);
        if (extent.quick) return {Shape(16, 512, 512, 512)};
        std::vector<Shape> shapes;
        for (int64_t size = 128; size <= 4096; size *= 2)  // as in the article on batched products
            shapes.emplace_back(16, size, size, size);
        for (int64_t length = 128; length <= 1024;
             length *= 2) {  // 384 heads of 64, as attention has them
            shapes.push_back(Shape(384, length, length, 64).with_transposed(false, true));
            shapes.emplace_back(384, length, 64, length);
        }
        shapes.emplace_back(1, 4096, 4096, 4096);
        return as_the_runners(shapes);
    }
    // Whole tiles of every step, more than one, and small enough to count each access of the simplest step.
    runner::Shape usual_shape() const override {
        return Shape(2, 128, 128, 64).with_transposed(false, is_eight_bits());
    }
    std::vector<runner::Shape> held_at() const override {
        return as_the_runners(
            {Shape(2, 128, 128, 64), Shape(1, 61, 77, 33), Shape(3, 50, 104, 24),
             Shape(1, 136, 72, 136).with_transposed(true, false),
             Shape(2, 33, 61, 50).with_transposed(false, true).with_scales(2, 0.5)});
    }
    std::vector<runner::Shape> profiled_at() const override {
        if (is_eight_bits())
            return {usual_shape(), Shape(1, 4096, 4096, 4096).with_transposed(false, true)};
        return as_the_runners(
            {Shape(2, 128, 128, 64), Shape(16, 512, 512, 512), Shape(1, 4096, 4096, 4096)});
    }
    // Small: the CPU device multiplies some millions of elements a second.
    runner::Shape draw(runner::Draws& draws, int64_t elements,
                       const std::function<bool(const std::string&)>& takes) const override {
        constexpr int64_t kMost = 700;
        const int64_t products = 16 * elements;
        const int64_t k = draws.below(16) == 0 ? 0 : draws.width_up_to(std::min(kMost, elements));
        const int64_t m = draws.width_up_to(std::min(kMost, elements / std::max<int64_t>(k, 1)));
        const int64_t of_row = std::max<int64_t>(m * k, 1);
        const int64_t n = draws.width_up_to(std::clamp<int64_t>(products / of_row, 1, kMost));
        const int64_t of_matrix = std::max<int64_t>(m * n * std::max<int64_t>(k, 1), 1);
        const int64_t batch = draws.size_up_to(
            std::clamp<int64_t>(std::min(products / of_matrix, elements / of_row), 1, 64));
        Shape shape(batch, m, n, k);
        const std::vector<double> scales = {1, 0, -2, 0.5, 0.3};
        if (takes(kTransposeA)) shape.transpose_a = draws.below(2) == 0;
        if (takes(kTransposeB)) shape.transpose_b = draws.below(2) == 0;
        if (takes(kAlpha) && draws.below(2) == 0) shape.alpha = draws.one_of(scales);
        if (takes(kBeta) && draws.below(2) == 0) shape.beta = draws.one_of(scales);
        return shape;
    }

private:
    bool is_eight_bits() const { return kind_ == Kind::e4m3 || kind_ == Kind::s8; }
    // Both operands along k, as cuBLASLt requires for e4m3.
    static std::vector<runner::Shape> eight_bits_measured_at(bool quick) {
        std::vector<Shape> shapes;
        for (int64_t size = 512; size <= (quick ? 512 : 4096); size *= 2)
            shapes.push_back(Shape(16, size, size, size).with_transposed(false, true));
        if (!quick) shapes.push_back(Shape(1, 8192, 8192, 8192).with_transposed(false, true));
        return as_the_runners(shapes);
    }
    // The products of a layer of BERT with 32 x 128 tokens, and a large one.
    static std::vector<runner::Shape> pruned_measured_at(bool quick) {
        std::vector<Shape> shapes = {Shape(1, 4096, 3072, 768), Shape(1, 4096, 768, 3072)};
        if (!quick) shapes.emplace_back(1, 8192, 8192, 8192);
        for (Shape& shape : shapes) shape = shape.with_transposed(false, true);
        return as_the_runners(shapes);
    }
    static Operands operands_in(const View& inputs) {
        return {inputs["a"].data, inputs["b"].data, inputs["c"].data};
    }

    Kind kind_;
};

}  // namespace

Shape::Shape(const runner::Shape& shape) : Shape(shape[0], shape[1], shape[2], shape[3]) {
    transpose_a = shape.option(kTransposeA, 0) != 0;
    transpose_b = shape.option(kTransposeB, 0) != 0;
    alpha = shape.option(kAlpha, 1);
    beta = shape.option(kBeta, 0);
}

Shape::operator runner::Shape() const {
    runner::Shape shape{batch, m, n, k};
    shape.set_option(kTransposeA, transpose_a ? 1 : 0);
    shape.set_option(kTransposeB, transpose_b ? 1 : 0);
    shape.set_option(kAlpha, alpha);
    shape.set_option(kBeta, beta);
    return operation()->plain(shape);
}

ElementType operand_type(DType dtype, Kind kind) {
    return kind == Kind::e4m3 ? ElementType::float8_e4m3
           : kind == Kind::s8 ? ElementType::int8
                              : runner::element_type(dtype);
}

const runner::Operation* operation(Kind kind) {
    static const std::array<GemmOperation, 6> all = {
        GemmOperation(Kind::float_sums), GemmOperation(Kind::half_sums),
        GemmOperation(Kind::tf32),       GemmOperation(Kind::e4m3),
        GemmOperation(Kind::s8),         GemmOperation(Kind::pruned)};
    return &all[static_cast<size_t>(kind)];
}

std::vector<const runner::Operation*> all() {
    return {operation(Kind::float_sums), operation(Kind::half_sums), operation(Kind::tf32),
            operation(Kind::e4m3),       operation(Kind::s8),        operation(Kind::pruned)};
}

}  // namespace operations::gemm
