// SPDX-License-Identifier: MIT
#include "common/operations/transpose/operation.hpp"

#include <algorithm>

namespace operations::transpose {

using runner::DType;
using runner::Extent;
using runner::Operand;
using runner::Role;
using runner::Shape;
using runner::View;

namespace {

class TransposeOperation : public runner::Operation {
public:
    std::string name() const override { return "matrix_transpose"; }
    std::string family() const override { return "transpose"; }

    std::vector<std::string> size_names(const Shape&) const override {
        return {"batch", "rows", "cols"};
    }
    std::string shape_help() const override {
        return "BATCHxROWSxCOLS is wanted, as in 16x512x384";
    }
    bool has_shape(const Shape& shape) const override {
        return shape.rank() == 3 && shape.options().empty() &&
               std::all_of(shape.sizes().begin(), shape.sizes().end(),
                           [](int64_t size) { return size >= 0; });
    }
    Shape shape_of_array(const std::vector<int64_t>& dims,
                         const runner::Words& said) const override {
        return with_words(*this, dims.size() == 2 ? Shape{1, dims[0], dims[1]} : Shape(dims), said);
    }
    std::string array_help() const override { return "[rows, cols] or [batch, rows, cols]"; }
    int64_t elements(const Shape& shape) const override { return shape[0] * shape[1] * shape[2]; }

    std::vector<Operand> operands(const Shape& shape, DType dtype) const override {
        const runner::ElementType type = runner::element_type(dtype);
        return {{"x", Role::in, type, {shape[0], shape[1], shape[2]}},
                {"y", Role::out, type, {shape[0], shape[2], shape[1]}}};
    }
    std::vector<runner::NamedInput> inputs() const override { return all_inputs(); }
    std::string usual_input() const override { return "normal"; }
    void fill(const Shape& shape, DType dtype, const std::string& input, uint64_t seed,
              const View& inputs) const override {
        transpose::fill(inputs["x"].data, dtype, shape, input, seed);
    }
    void complete(const Shape&, DType, uint64_t, const View&) const override {}

    runner::Report check(const Shape& shape, DType dtype, const View& inputs,
                         const runner::Result& ours) const override {
        return transpose::check(inputs["x"].data, ours.outputs["y"].data, shape, dtype);
    }
    // What is exact is compared by what both must be.
    runner::Report compare(const Shape& shape, DType dtype, const View& inputs,
                           const runner::Result& ours,
                           const runner::Result& previous) const override {
        return joined(check(shape, dtype, inputs, ours), check(shape, dtype, inputs, previous));
    }

    runner::Roof roof() const override { return runner::Roof::copy; }

    std::vector<Shape> validated_at(Extent extent) const override {
        std::vector<Shape> shapes = {{1, 1, 1}, {2, 3, 5}, {1, 64, 64}, {3, 66, 130}, {2, 63, 65}};
        if (extent.quick) return shapes;
        for (const Shape& more : {Shape{1, 1, 1000},
                                  {1, 1000, 1},
                                  {5, 2, 62},
                                  {1, 129, 128},
                                  {1, 128, 129},
                                  {70, 8, 8}})
            shapes.push_back(more);
        if (extent.gpu) shapes.push_back({3, 1023, 4098});
        return shapes;
    }
    std::vector<Shape> measured_at(Extent extent) const override {
        if (!extent.gpu) return {usual_shape()};
        if (extent.quick) return {{1, 32768, 1024}};
        return {
            {1, 32768, 1024}, {1, 12288, 768}, {1, 4096, 4096}, {384, 512, 64}, {1, 8191, 4097}};
    }
    Shape usual_shape() const override { return {1, 256, 512}; }
    std::vector<Shape> held_at() const override {
        return {{1, 256, 512}, {2, 66, 130}, {1, 61, 77}, {3, 40, 24}};
    }
    std::vector<Shape> profiled_at() const override { return {{1, 256, 512}, {1, 32768, 1024}}; }
    Shape draw(runner::Draws& draws, int64_t elements,
               const std::function<bool(const std::string&)>&) const override {
        const int64_t cols = draws.width_up_to(elements);
        const int64_t rows = draws.width_up_to(std::max<int64_t>(1, elements / cols));
        return {draws.size_up_to(std::max<int64_t>(1, elements / cols / rows)), rows, cols};
    }
};

}  // namespace

const runner::Operation* operation() {
    static const TransposeOperation transpose;
    return &transpose;
}

std::vector<const runner::Operation*> all() {
    return {operation()};
}

}  // namespace operations::transpose
