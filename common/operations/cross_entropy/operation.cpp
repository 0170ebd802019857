// SPDX-License-Identifier: MIT
#include "common/operations/cross_entropy/operation.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "common/operations/cross_entropy/check.hpp"

namespace operations::cross_entropy {

using runner::ElementType;
using runner::Extent;
using runner::Operand;
using runner::Report;
using runner::Role;
using runner::Roof;
using runner::Traffic;
using runner::View;

const char* name_of(Kind kind) {
    return kind == Kind::cross_entropy_loss ? "cross_entropy_loss" : "cross_entropy";
}

Shape::Shape(const runner::Shape& shape) : rows(shape[0]), cols(shape[1]) {
    const Options usual;
    const auto whole = [&](const char* name, int64_t without) {
        return static_cast<int64_t>(shape.option(name, static_cast<double>(without)));
    };
    options.target_bits = whole(kTargetBits, usual.target_bits);
    options.ignore_index = whole(kIgnoreIndex, usual.ignore_index);
    options.label_smoothing = shape.option(kLabelSmoothing, 0);
    options.z_loss = shape.option(kZLoss, 0);
    options.soft_cap = shape.option(kSoftCap, 0);
    options.class_weights = shape.option(kClassWeights, 0) != 0;
    options.mean = shape.option(kMean, 0) != 0;
    options.sum = shape.option(kSum, 0) != 0;
}

Shape::operator runner::Shape() const {
    const Options usual;
    runner::Shape shape{rows, cols};
    const auto set = [&](const char* name, auto value, auto usual_value) {
        if (value != usual_value) shape.set_option(name, static_cast<double>(value));
    };
    set(kTargetBits, options.target_bits, usual.target_bits);
    set(kIgnoreIndex, options.ignore_index, usual.ignore_index);
    set(kLabelSmoothing, options.label_smoothing, 0.);
    set(kZLoss, options.z_loss, 0.);
    set(kSoftCap, options.soft_cap, 0.);
    set(kClassWeights, options.class_weights, false);
    set(kMean, options.mean, false);
    set(kSum, options.sum, false);
    return shape;
}

namespace {

constexpr int64_t kUsualRows = 256;
constexpr int64_t kUsualCols = 1024;

// ignore_index fits into 32 bits, so that targets of either width can have it.
constexpr double kLargestIndex = 0x1p31;

Options with(double label_smoothing, double z_loss, double soft_cap, bool class_weights,
             char reduction, int64_t target_bits = 64, int64_t ignore_index = -100) {
    return {target_bits, ignore_index,  label_smoothing,  z_loss,
            soft_cap,    class_weights, reduction == 'm', reduction == 's'};
}

// Each option alone, with each reduction, and all together.
const std::vector<Options>& ways() {
    static const std::vector<Options> ways = {
        with(0, 0, 0, false, 'n'),          with(0, 0, 0, false, 'm', 32),
        with(0.1, 0, 0, false, 'n', 32),    with(0, 1e-3, 0, false, 's'),
        with(0, 0, 30, false, 'n'),         with(0, 0, 0, true, 'm'),
        with(0.2, 0, 0, true, 'm', 64, 0),  with(0.1, 1e-4, 50, false, 'm'),
        with(0, 1e-3, 5, true, 's', 32),    with(0.3, 1e-2, 20, true, 'm', 32, 1),
        with(1, 0, 0, true, 's'),           with(0.1, 1e-4, 0, true, 'n', 64, -1),
        with(0.5, 0, 10, false, 's', 32, 2)};
    return ways;
}

class CrossEntropyOperation : public runner::Operation {
public:
    explicit CrossEntropyOperation(Kind kind) : kind_(kind) {}

    std::string name() const override { return name_of(kind_); }
    std::string family() const override { return "cross_entropy"; }

    // ---- sizes

    std::vector<std::string> size_names(const runner::Shape&) const override {
        return {"rows", "cols"};
    }
    std::string shape_help() const override {
        return "ROWSxCOLS is wanted, and any of label_smoothing, z_loss, soft_cap, class_weights, "
               "ignore_index, target_bits=32 and mean or sum, as in "
               "4096x32000,mean,label_smoothing=0.1";
    }
    bool has_shape(const runner::Shape& shape) const override {
        const std::vector<runner::Optional> known = optional();
        for (const auto& [name, value] : shape.options()) {
            if (std::none_of(known.begin(), known.end(),
                             [&, &said = name](const auto& each) { return each.name == said; }))
                return false;
        }
        const auto is_flag = [&](const char* name) {
            const double value = shape.option(name, 0);
            return value == 0 || value == 1;
        };
        if (shape.rank() != 2 || shape[0] < 0 || shape[1] < 0 || !is_flag(kClassWeights) ||
            !is_flag(kMean) || !is_flag(kSum))
            return false;
        const double ignored = shape.option(kIgnoreIndex, 0);
        if (!(std::fabs(ignored) < kLargestIndex) || ignored != std::floor(ignored)) return false;
        const double bits = shape.option(kTargetBits, 64);
        const Options options = Shape(shape).options;
        return (bits == 32 || bits == 64) && !(options.mean && options.sum) &&
               options.label_smoothing >= 0 && options.label_smoothing <= 1 &&
               options.z_loss >= 0 && options.z_loss <= 1e6 &&
               (options.soft_cap == 0 || (options.soft_cap >= 1e-6 && options.soft_cap <= 1e6));
    }
    runner::Shape plain(const runner::Shape& shape) const override { return Shape(shape); }
    std::vector<runner::Optional> optional() const override {
        return {{kTargetBits, 64, "takes targets of 64 bits alone"},
                {kIgnoreIndex, -100, "ignores targets of -100 alone"},
                {kLabelSmoothing, 0, "smooths no labels"},
                {kZLoss, 0, "has no z-loss"},
                {kSoftCap, 0, "caps nothing"},
                {kClassWeights, 0, "has no class weights"},
                {kMean, 0, "reduces nothing"},
                {kSum, 0, "reduces nothing"}};
    }
    int64_t elements(const runner::Shape& shape) const override { return shape[0] * shape[1]; }
    std::vector<std::pair<std::string, int64_t>> record_fields(
        const runner::Shape& shape) const override {
        return {{"rows", shape[0]}, {"cols", shape[1]}};
    }

    // ---- operands

    std::vector<Operand> operands(const runner::Shape& of, DType dtype) const override {
        const Shape shape = of;
        const ElementType type = runner::element_type(dtype);
        const ElementType sums =
            dtype == DType::float64 ? ElementType::float64 : ElementType::float32;
        const ElementType targets =
            shape.options.target_bits == 32 ? ElementType::int32 : ElementType::int64;
        std::vector<Operand> operands = {{"logits", Role::in, type, {shape.rows, shape.cols}},
                                         {"targets", Role::in, targets, {shape.rows}}};
        if (shape.options.class_weights)
            operands.push_back({"class_weights", Role::in, sums, {shape.cols}});
        if (kind_ == Kind::cross_entropy)
            operands.push_back({"grad_output",
                                Role::in,
                                sums,
                                {shape.options.reduces() ? int64_t{1} : shape.rows}});
        operands.push_back({"loss", Role::out, sums, {shape.rows}});
        operands.push_back({"lse", Role::out, sums, {shape.rows}});
        if (shape.options.reduces()) operands.push_back({"totals", Role::out, sums, {3}});
        if (kind_ == Kind::cross_entropy)
            operands.push_back({"gradient", Role::out, type, {shape.rows, shape.cols}, {"logits"}});
        return operands;
    }
    std::vector<runner::NamedInput> inputs() const override { return all_inputs(); }
    std::string usual_input() const override { return "normal"; }
    void fill(const runner::Shape& shape, DType dtype, const std::string& input, uint64_t seed,
              const View& inputs) const override {
        cross_entropy::fill(inputs, shape, dtype, input, seed, true);
    }
    void complete(const runner::Shape& shape, DType dtype, uint64_t seed,
                  const View& inputs) const override {
        cross_entropy::fill(inputs, shape, dtype, usual_input(), seed, false);
    }

    // ---- the reference

    Report check(const runner::Shape& shape, DType dtype, const View& inputs,
                 const runner::Result& ours) const override {
        return explained(
            cross_entropy::check(inputs, kind_, shape, dtype, result_of(ours), nullptr),
            "the weights of the rows that count add up to 0, or the result may overflow");
    }
    Report compare(const runner::Shape& shape, DType dtype, const View& inputs,
                   const runner::Result& ours, const runner::Result& previous) const override {
        const Result before = result_of(previous);
        return cross_entropy::check(inputs, kind_, shape, dtype, result_of(ours), &before);
    }

    // ---- cost

    Roof roof() const override {
        return kind_ == Kind::cross_entropy_loss ? Roof::read : Roof::copy;
    }
    // Each thread of a row, of which there may be 1024, or one per 64 bytes in several blocks, looks at what there is
    // once a row: its target, the target's logit and weight, the totals and a grad_output. Class weights are read once or
    // twice beside each logit; results of a few numbers a row are declared as no store at all; and the target's element
    // may be stored twice.
    Traffic tolerance(const runner::Shape& of, DType dtype) const override {
        const Shape shape = of;
        const auto element = static_cast<double>(size_of(dtype));
        const double sums = dtype == DType::float64 ? 8 : 4;
        const auto rows = static_cast<double>(std::max<int64_t>(1, shape.rows));
        const auto cols = static_cast<double>(std::max<int64_t>(1, shape.cols));
        const double threads =
            std::max(std::clamp(32 * std::ceil(cols / 32), 32., 1024.), cols * element / 64);
        const double weights = shape.options.class_weights ? 2 * sums / element : 0;
        const double of_reduction = shape.options.reduces() ? (8 + 2 * sums) / element / cols +
                                                                  6 * sums / element / rows / cols
                                                            : 0;
        return {threads * (8 + element + 4 * sums) / element / cols + weights + of_reduction,
                (2 * sums / element + 1) / cols + of_reduction};
    }
    int64_t parts(const runner::Shape& shape) const override { return shape[0]; }

    // ---- which problems

    std::vector<runner::Shape> validated_at(Extent extent) const override {
        std::vector<int64_t> widths = {1, 7, 32, 33, 255, 1000, 1025, 4099, 20011};
        if (extent.quick) widths = {33, 1000, 4099};
        if (!extent.quick) widths.push_back(70001);  // more than shared memory holds
        if (extent.gpu && !extent.quick) widths.push_back(128256);
        std::vector<runner::Shape> shapes;
        size_t number = 0;
        for (const int64_t cols : widths) {
            const int64_t rows = extent.gpu     ? (cols > 20000 ? 40 : 300)
                                 : cols > 30000 ? 1
                                 : cols > 4000  ? 3
                                                : 9;
            // Every way at some width; at each width some.
            const size_t count = extent.quick ? 5 : cols > 4000 && !extent.gpu ? 3 : 4;
            for (size_t i = 0; i < count; ++i)
                shapes.push_back(Shape(rows, cols, ways()[number++ % ways().size()]));
        }
        if (!extent.quick && kind_ == Kind::cross_entropy_loss)
            shapes.push_back(Shape(270, 8201));  // long rows, more than fill a GPU
        return shapes;
    }
    std::vector<runner::Shape> measured_at(Extent extent) const override {
        if (!extent.gpu && extent.quick)
            return {Shape(16, kUsualCols), Shape(8, 777, with(0.1, 1e-4, 30, true, 'm', 32))};
        if (!extent.gpu)
            return {usual_shape(), Shape(64, kUsualCols, with(0.1, 1e-4, 30, true, 'm', 32))};
        if (extent.quick) return {Shape(4096, 32000)};
        // Classes of pictures, and vocabularies: 50257 is GPT-2's, odd.
        std::vector<runner::Shape> shapes = {
            Shape(4096, 1000),   Shape(4096, 4000),   Shape(4096, 32000), Shape(4096, 50257),
            Shape(4096, 128256), Shape(2048, 151936), Shape(64, 500000)};
        shapes.push_back(Shape(4096, 32000, with(0, 0, 0, false, 'm')));
        shapes.push_back(Shape(4096, 32000, with(0.1, 1e-4, 30, true, 'm')));
        return shapes;
    }
    runner::Shape usual_shape() const override { return Shape(kUsualRows, kUsualCols); }
    // Evenly divided; odd ones; rows that fill shared memory, and rows that do not fit; all options.
    std::vector<runner::Shape> held_at() const override {
        return {usual_shape(), Shape(61, 777), Shape(5, 20011), Shape(3, 70001),
                Shape(33, 1002, with(0.1, 1e-4, 30, true, 'm'))};
    }
    std::vector<runner::Shape> profiled_at() const override {
        return {usual_shape(), Shape(4096, 32000), Shape(4096, 128256)};
    }
    runner::Shape draw(runner::Draws& draws, int64_t elements,
                       const std::function<bool(const std::string&)>& takes) const override {
        const int64_t cols = draws.width_up_to(elements);
        constexpr int64_t kMostRows = 400;  // many short rows show no more than some
        const int64_t rows = draws.size_up_to(std::clamp<int64_t>(elements / cols, 1, kMostRows));
        Options options;
        const auto drawn = [&](const char* name, int64_t one_in) {
            return takes(name) && draws.below(one_in) == 0;
        };
        if (drawn(kTargetBits, 2)) options.target_bits = 32;
        if (drawn(kIgnoreIndex, 3))
            options.ignore_index = draws.one_of<int64_t>({-1, 0, cols / 2, cols, 7});
        if (drawn(kLabelSmoothing, 2))
            options.label_smoothing = draws.one_of<double>({0.001, 0.1, 0.25, 0.9, 1});
        if (drawn(kZLoss, 2)) options.z_loss = draws.one_of<double>({0.0001, 0.01, 1});
        if (drawn(kSoftCap, 2)) options.soft_cap = draws.one_of<double>({0.5, 5, 30, 50, 1000});
        if (drawn(kClassWeights, 2)) options.class_weights = true;
        const int64_t reduction = draws.below(3);
        if (reduction == 1 && takes(kMean)) options.mean = true;
        if (reduction == 2 && takes(kSum)) options.sum = true;
        return Shape(rows, cols, options);
    }

private:
    static Result result_of(const runner::Result& result) {
        return {result.outputs, result.arithmetic.partial_sums};
    }

    Kind kind_;
};

}  // namespace

const runner::Operation* operation_of(Kind kind) {
    static const CrossEntropyOperation loss(Kind::cross_entropy_loss);
    static const CrossEntropyOperation loss_and_gradient(Kind::cross_entropy);
    return kind == Kind::cross_entropy_loss ? &loss : &loss_and_gradient;
}

std::vector<const runner::Operation*> all() {
    return {operation_of(Kind::cross_entropy), operation_of(Kind::cross_entropy_loss)};
}

}  // namespace operations::cross_entropy
