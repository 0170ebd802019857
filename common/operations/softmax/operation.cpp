// SPDX-License-Identifier: MIT
#include "common/operations/softmax/operation.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <stdexcept>

#include "common/operations/softmax/call.hpp"
#include "common/operations/softmax/check.hpp"
#include "common/operations/softmax/inputs.cuh"

namespace operations::softmax {

using runner::Cost;
using runner::Extent;
using runner::Operand;
using runner::Role;
using runner::Roof;
using runner::Traffic;
using runner::View;

const char* name_of(Kind kind) {
    switch (kind) {
        case Kind::softmax:
            return "softmax";
        case Kind::log_softmax:
            return "log_softmax";
        case Kind::log_sum_exp:
            return "log_sum_exp";
        case Kind::scale_mask_softmax:
            return "scale_mask_softmax";
        case Kind::causal_softmax:
            return "causal_softmax";
        case Kind::softmax_backward:
            return "softmax_backward";
        case Kind::log_softmax_backward:
            return "log_softmax_backward";
    }
    return "?";
}

namespace {

// Widths at which reductions go wrong: below, at and above a warp, a block, a power of two; primes.
const std::vector<int64_t> kWidths = {1, 7, 31, 32, 33, 255, 1000, 1024, 1025, 4096, 4099, 10007};
const std::vector<int64_t> kQuickWidths = {33, 1000, 4099};

// The same along another axis: an inner one of a few elements, of no whole packs, of many.
const std::vector<runner::Shape> kInnerShapes = {
    {5, 8, 3}, {3, 100, 12}, {2, 33, 33}, {1, 128, 1000}, {2, 1025, 7}};

constexpr const char* kInner = "inner";

// Widths of which every kind comes up in every octave: powers of two and their neighbours, multiples of
// smaller powers, odd numbers.
std::vector<int64_t> grid_of_widths() {
    constexpr int64_t kWidest = int64_t{1} << 20;
    std::set<int64_t> widths = {kWidest};
    for (int64_t octave = 1; octave < kWidest; octave *= 2) {
        widths.insert({octave - 1, octave, octave + 1});
        for (int64_t eighth = 1; eighth < 8; ++eighth)
            widths.insert(octave + eighth * octave / 8 + (octave >= 16 ? eighth % 2 : 0));
    }
    widths.erase(0);
    return {widths.begin(), widths.end()};
}

Input input_named(const std::string& name) {
    for (const Input input : all_inputs()) {
        if (name == name_of(input)) return input;
    }
    throw std::invalid_argument("no input is called " + name);
}

// The operands of a view, by their places: x, x2 where there is one.
Inputs inputs_in(const View& view) {
    const std::vector<runner::Placed>& all = view.operands();
    return {all.at(0).data, all.size() > 1 ? all[1].data : nullptr};
}

class SoftmaxOperation : public runner::Operation {
public:
    explicit SoftmaxOperation(Kind kind) : kind_(kind) {}

    Kind kind() const { return kind_; }
    std::string name() const override { return name_of(kind_); }
    std::string family() const override { return "softmax"; }

    // ---- sizes

    std::vector<std::string> size_names(const runner::Shape& shape) const override {
        return shape.rank() < 3 ? forms().front() : forms().back();
    }
    std::vector<std::vector<std::string>> forms() const override {
        return {{"rows", "cols"}, {"outer", "dim", kInner}};
    }
    std::string shape_help() const override {
        return "ROWSxCOLS is wanted, both at least 1, as in 4000x1000; or OUTERxDIMxINNER, as in "
               "4x1000x64";
    }
    bool has_shape(const runner::Shape& shape) const override {
        const std::vector<int64_t>& sizes = shape.sizes();
        return (shape.rank() == 2 || shape.rank() == 3) && shape.options().empty() &&
               std::all_of(sizes.begin(), sizes.end(), [](int64_t size) { return size >= 0; });
    }
    runner::Shape plain(const runner::Shape& shape) const override { return Shape(shape); }
    std::vector<runner::Optional> optional() const override {
        return {{kInner, 1, "works along the last axis only"}};
    }
    // Of the paper's two batches a table shows round widths and vocabularies.
    bool swept(const runner::Shape& shape) const override {
        static const std::set<int64_t> shown = {1000, 4000, 32000, 128256, 1000000};
        return shape.rank() == 2 && shape[0] <= 4000 && shown.count(shape[1]) == 0;
    }
    int64_t elements(const runner::Shape& shape) const override { return softmax::elements(shape); }
    std::vector<std::pair<std::string, int64_t>> record_fields(
        const runner::Shape& shape) const override {
        return {{"rows", slices(shape)}, {"cols", Shape(shape).cols}};
    }

    // ---- operands

    std::vector<Operand> operands(const runner::Shape& shape, DType dtype) const override {
        const std::vector<int64_t>& dims = shape.sizes();
        const runner::ElementType type = runner::element_type(dtype);
        switch (kind_) {
            case Kind::scale_mask_softmax:
                return {{"x", Role::in, type, dims},
                        {"mask", Role::in, runner::ElementType::boolean, dims, {}, "x"},
                        {"y", Role::out, type, dims, {"x"}}};
            case Kind::softmax_backward:
            case Kind::log_softmax_backward:
                return {{"y", Role::in, type, dims},
                        {"dy", Role::in, type, dims, {}, "y"},
                        {"dx", Role::out, type, dims, {"y", "dy"}}};
            case Kind::log_sum_exp: {
                std::vector<int64_t> without = dims;
                without.erase(without.begin() + 1);
                return {{"x", Role::in, type, dims}, {"y", Role::out, type, without}};
            }
            default:
                return {{"x", Role::in, type, dims}, {"y", Role::out, type, dims, {"x"}}};
        }
    }
    std::vector<runner::NamedInput> inputs() const override {
        std::vector<runner::NamedInput> inputs;
        for (const Input input : all_inputs())
            inputs.push_back({name_of(input), summary_of(input)});
        return inputs;
    }
    std::string usual_input() const override { return name_of(Input::normal); }
    void fill(const runner::Shape& shape, DType dtype, const std::string& input, uint64_t seed,
              const View& inputs) const override {
        const Inputs in = inputs_in(inputs);
        softmax::fill(const_cast<void*>(in.x), dtype, shape, input_named(input), seed);
        complete(shape, dtype, seed, inputs);
    }
    void complete(const runner::Shape& shape, DType dtype, uint64_t seed,
                  const View& inputs) const override {
        const Inputs in = inputs_in(inputs);
        apply_forward(const_cast<void*>(in.x), kind_, dtype, shape);
        fill_x2(const_cast<void*>(in.x2), kind_, dtype, shape, seed);
    }

    // ---- the reference

    runner::Report check(const runner::Shape& shape, DType dtype, const View& inputs,
                         const runner::Result& ours) const override {
        const bool by_design = ours.arithmetic.overflows;
        return explained(softmax::check(inputs_in(inputs), shape, result_of(ours, dtype)),
                         by_design ? "exp(x), or the sum of a row, is at the border of the type's "
                                     "range, where it may overflow or lose digits"
                                   : "the result, or a sum on its way, may overflow");
    }
    bool is_comparable(const runner::Operation& other) const override {
        const auto* of_family = dynamic_cast<const SoftmaxOperation*>(&other);
        return of_family != nullptr && are_comparable(kind_, of_family->kind_);
    }
    runner::Report compare(const runner::Shape& shape, DType dtype, const View& inputs,
                           const runner::Result& ours,
                           const runner::Result& previous) const override {
        const Result before = result_of(previous, dtype);
        return softmax::check(inputs_in(inputs), shape, result_of(ours, dtype), &before);
    }

    // ---- cost

    Cost cost(const runner::Shape& shape, DType dtype) const override {
        const Footprint footprint = footprint_of(kind_, shape, dtype);
        Cost cost{{footprint.x_bytes}, {footprint.y_bytes}};
        if (x2_size(kind_, dtype) > 0) cost.read.push_back(footprint.x2_bytes);
        return cost;
    }
    Roof roof() const override {
        if (kind_ == Kind::log_sum_exp) return Roof::read;
        return is_plain(kind_) ? Roof::copy : Roof::join;
    }
    // Loads are of the elements that a row sees; of a mask, a byte for each of x.
    Traffic counted(const Traffic& declared, const runner::Shape& shape,
                    DType dtype) const override {
        const auto visible = static_cast<double>(visible_elements(kind_, shape));
        const double mask = kind_ == Kind::scale_mask_softmax
                                ? declared.loads / static_cast<double>(size_of(dtype))
                                : 0;
        return {declared.loads * visible / static_cast<double>(elements(shape)) + mask,
                declared.stores};
    }
    // A result per row is declared as no store at all, and what lies behind the diagonal in its pack as no
    // load.
    Traffic tolerance(const runner::Shape& shape, DType dtype) const override {
        const auto rows = static_cast<double>(Shape(shape).rows);
        const auto all = static_cast<double>(elements(shape));
        const double in_pack = 16 / static_cast<double>(size_of(dtype));
        return {kind_ == Kind::causal_softmax ? rows * (in_pack - 1) / all : 0,
                kind_ == Kind::log_sum_exp ? rows / all : 0};
    }
    int64_t parts(const runner::Shape& shape) const override { return Shape(shape).rows; }

    // ---- which problems

    std::vector<runner::Shape> validated_at(Extent extent) const override {
        std::vector<runner::Shape> shapes;
        const int64_t rows = extent.gpu ? 300 : 3;
        for (const int64_t cols : extent.quick ? kQuickWidths : kWidths)
            shapes.push_back({rows, cols});
        if (!extent.quick) {
            shapes.push_back({2, 70001});  // long enough to be split
            shapes.push_back({130, 65});   // two matrices for a causal softmax
        }
        shapes.insert(shapes.end(), kInnerShapes.begin(), kInnerShapes.end());
        return shapes;
    }
    std::vector<runner::Shape> measured_at(Extent extent) const override {
        if (!extent.gpu) return {kUsualShape};
        if (extent.quick) return {{4000, 4000}};
        std::vector<runner::Shape> shapes;
        for (const int64_t rows : {int64_t{4000}, int64_t{10}}) {  // the paper's two batches
            std::vector<int64_t> widths = {10,    100,    1000,   4000,   10000,  // round ones, and
                                           32000, 100000, 128256, 1000000};       // vocabularies
            const int64_t widest = rows == 4000 ? 129024 : 1032192;
            for (int64_t cols = 63; cols <= widest; cols *= 2) widths.push_back(cols);  // its own
            std::sort(widths.begin(), widths.end());
            for (const int64_t cols : widths) shapes.push_back({rows, cols});
        }
        return shapes;
    }
    std::vector<runner::Shape> grid(int64_t bytes, DType dtype) const override {
        const int64_t all = bytes / 2 / static_cast<int64_t>(size_of(dtype));
        std::vector<runner::Shape> shapes;
        for (const int64_t cols : grid_of_widths()) {
            if (cols <= all) shapes.push_back({all / cols, cols});
        }
        return shapes;
    }
    runner::Shape usual_shape() const override { return kUsualShape; }
    // Evenly divided: many rows, and few long ones, which may be shared between blocks. Then odd ones: a prime
    // width, a tail shorter than any pack, fewer columns than a block has threads; rows that fill shared
    // memory, and rows that only several blocks hold; the same along another axis.
    std::vector<runner::Shape> held_at() const override {
        return {kUsualShape, {10, 128256}, {61, 777},  {50, 1002},
                {33, 61},    {5, 20011},   {3, 70001}, {3, 53, 77}};
    }
    // Beside those, what shows in DRAM what caches keep: rows that fit them until they are read again, and rows
    // that do not.
    std::vector<runner::Shape> profiled_at() const override {
        return {kUsualShape, {4000, 4000}, {4000, 32000}, {4000, 128256}, {10, 128256}};
    }
    runner::Shape draw(runner::Draws& draws, int64_t elements,
                       const std::function<bool(const std::string&)>& takes) const override {
        Shape shape;
        if (takes(kInner) && draws.below(4) > 0) shape.inner = draws.width_up_to(elements);
        const int64_t left = std::max<int64_t>(1, elements / shape.inner);
        shape.cols = draws.width_up_to(left);
        shape.rows = draws.size_up_to(std::max<int64_t>(1, left / shape.cols));
        const bool square =
            kind_ == Kind::causal_softmax && shape.cols <= left / shape.cols && draws.below(2) == 0;
        if (square)  // one matrix or several
            shape.rows = std::max<int64_t>(1, shape.rows / shape.cols) * shape.cols;
        return shape;
    }

private:
    static Result result_of(const runner::Result& result, DType dtype) {
        const auto& of = dynamic_cast<const SoftmaxOperation&>(*result.operation);
        return {result.outputs.operands().front().data,
                {of.kind_, result.arithmetic.overflows, result.arithmetic.partial_sums, dtype}};
    }

    Kind kind_;
};

// The one object for each.
const auto& objects() {
    static const std::array<SoftmaxOperation, 7> objects = {
        SoftmaxOperation(Kind::softmax),
        SoftmaxOperation(Kind::log_softmax),
        SoftmaxOperation(Kind::log_sum_exp),
        SoftmaxOperation(Kind::scale_mask_softmax),
        SoftmaxOperation(Kind::causal_softmax),
        SoftmaxOperation(Kind::softmax_backward),
        SoftmaxOperation(Kind::log_softmax_backward)};
    return objects;
}

}  // namespace

const runner::Operation* operation_of(Kind kind) {
    for (const SoftmaxOperation& each : objects()) {
        if (each.kind() == kind) return &each;
    }
    throw std::invalid_argument("there is no such kind of softmax");
}

Kind kind_of(const runner::Operation& operation) {
    const auto* of_family = dynamic_cast<const SoftmaxOperation*>(&operation);
    if (of_family == nullptr) throw std::invalid_argument(operation.name() + " is no softmax");
    return of_family->kind();
}

Call::Call(const runner::Call& call)
    : dtype(call.dtype),
      workspace(call.workspace),
      workspace_bytes(call.workspace_bytes),
      stream(call.stream) {
    const std::vector<runner::Placed>& all = call.operands.operands();
    x = all.front().data;
    y = all.back().data;
    if (all.size() > 2) x2 = all[1].data;
    x_stride = all.front().stride;
    y_stride = all.back().stride;
    const Shape shape = call.shape;
    rows = shape.rows;
    cols = shape.cols;
    inner = shape.inner;
}

runner::Call runner_call(Kind kind, const Call& call) {
    const Shape shape{call.rows, call.cols, call.inner};
    runner::Call runners{shape, call.dtype, {}, call.workspace, call.workspace_bytes, call.stream};
    const std::vector<Operand> operands = operation_of(kind)->operands(shape, call.dtype);
    runners.operands.add({operands.front().name, const_cast<void*>(call.x), call.x_stride});
    if (operands.size() > 2)
        runners.operands.add({operands[1].name, const_cast<void*>(call.x2), call.x_stride});
    runners.operands.add({operands.back().name, call.y, call.y_stride});
    return runners;
}

std::vector<const runner::Operation*> all() {
    std::vector<const runner::Operation*> all;
    for (const SoftmaxOperation& each : objects()) all.push_back(&each);
    return all;
}

}  // namespace operations::softmax
