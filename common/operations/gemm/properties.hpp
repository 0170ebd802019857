// SPDX-License-Identifier: MIT
// What every matrix product of the course must hold, whatever its kernel: one call per variant in a stage's
// test.
#pragma once
#include <cstring>
#include <string>
#include <vector>

#include "common/operations/gemm/check.hpp"
#include "common/operations/gemm/inputs.hpp"
#include "common/runner/launcher.hpp"
#include "common/runner/memory_needed.hpp"
#include "common/runner/tensors.hpp"
#include "common/testing/catch.hpp"
#include "common/testing/outcome.hpp"

namespace testing {

using operations::gemm::Shape;
using runner::DType;
using runner::Variant;

// What a variant makes of these operands.
struct Product {
    std::vector<double> c;
    runner::Report report;  // against the reference

    bool has_bits_of(const Product& other) const {
        return c.size() == other.c.size() &&
               std::memcmp(c.data(), other.c.data(), c.size() * sizeof(double)) == 0;
    }
};

inline Product product_of(const Variant& variant, const runner::Tensors& inputs, const Shape& shape,
                          DType dtype) {
    const Outcome outcome = outcome_of(variant, inputs, shape, dtype);
    return {outcome.outputs.values("c"), outcome.report};
}

inline Product product_of(const Variant& variant, const std::string& input, const Shape& shape,
                          DType dtype) {
    return product_of(variant, filled_inputs(*variant.operation, shape, dtype, input, 1), shape,
                      dtype);
}

// Every named input, at sizes around those of tiles, transposed and not, with scales and without.
inline void matches_reference_on_named_inputs(const Variant& variant, DType dtype) {
    const std::vector<Shape> shapes = {
        Shape(2, 1, 1, 1), Shape(1, 17, 9, 40),
        Shape(2, 33, 31, 65).with_transposed(true, false).with_scales(-2, 0.5),
        Shape(1, 40, 72, 32).with_transposed(false, true).with_scales(0.3, 0.7),
        Shape(1, 130, 136, 24).with_transposed(true, true)};
    for (const Shape& shape : shapes) {
        for (const runner::NamedInput& input : variant.operation->inputs())
            matches_reference(variant, input.name, shape, dtype);
    }
}

// Whole numbers, whose sums are exact: the reference admits no error at all. One row of many columns, one
// column of many rows, and a depth of many tiles.
inline void is_exact_where_sums_are(const Variant& variant, DType dtype) {
    for (const Shape& shape : {Shape(1, 1, 300, 7), Shape(1, 300, 1, 7), Shape(2, 20, 24, 1000)}) {
        INFO(text_of(runner::Shape(shape)));
        const runner::Report report =
            product_of(variant, operations::gemm::kIntegers, shape, dtype).report;
        INFO(describe(report));
        CHECK(report.good());
        CHECK(report.worst_share == 0);
    }
}

// The product with the unit matrix is the other one, bit by bit. (Of whole numbers where others lose digits.)
inline void keeps_what_is_multiplied_by_one(const Variant& variant, DType dtype) {
    using operations::gemm::Kind;
    const bool drops_digits = variant.operation == operations::gemm::operation(Kind::tf32);
    for (const int64_t size : {70, 72}) {  // single elements, and packs
        const Shape shape(1, size, size, size);
        runner::Tensors inputs = filled_inputs(
            *variant.operation, shape, dtype,
            drops_digits ? operations::gemm::kIntegers : operations::gemm::kNormal, 1);
        std::vector<double> unit(static_cast<size_t>(size * size));
        for (int64_t i = 0; i < size; ++i) unit[static_cast<size_t>(i * size + i)] = 1;
        const std::vector<double> b = inputs.values("b");
        inputs.upload("a", unit);
        CHECK(product_of(variant, inputs, shape, dtype).c == b);
        inputs.upload("a", b);
        inputs.upload("b", unit);
        CHECK(product_of(variant, inputs, shape, dtype).c == b);
    }
}

// A transposed operand holds the same numbers in another place: the same bits come of them.
inline void takes_transposed_operands_alike(const Variant& variant, DType dtype) {
    const Shape straight(2, 45, 67, 50);
    const Product once = product_of(variant, operations::gemm::kNormal, straight, dtype);
    for (const Shape& shape :
         {straight.with_transposed(true, false), straight.with_transposed(false, true),
          straight.with_transposed(true, true)}) {
        INFO(text_of(runner::Shape(shape)));
        CHECK(once.has_bits_of(product_of(variant, operations::gemm::kNormal, shape, dtype)));
    }
}

// Without products C is scaled, or zero; c that counts for nothing is not looked at, though it is all NaN.
inline void scales_c_where_there_are_no_products(const Variant& variant, DType dtype) {
    const Shape shape(2, 19, 35, 0);
    // Kernels for packs pass this shape to another kernel. Those for 8 bits need products.
    if (!obstacle_of(variant, Shape(2, 16, 32, 0), dtype).empty()) return;
    const Product zero = product_of(variant, operations::gemm::kNormal, shape, dtype);
    CHECK(zero.c == std::vector<double>(zero.c.size(), 0));
    const Shape scaled = shape.with_scales(3, 0.5);
    const runner::Tensors inputs =
        filled_inputs(*variant.operation, scaled, dtype, operations::gemm::kIntegers, 1);
    std::vector<double> half = inputs.values("c");
    for (double& each : half) each /= 2;
    CHECK(product_of(variant, inputs, scaled, dtype).c == half);
}

// The same bits again.
inline void repeats_itself(const Variant& variant, DType dtype) {
    const Shape shape(2, 100, 140, 90);
    const Product once = product_of(variant, operations::gemm::kNormal, shape, dtype);
    CHECK(once.has_bits_of(product_of(variant, operations::gemm::kNormal, shape, dtype)));
}

inline void holds_every_gemm_property(const Variant& variant, DType dtype) {
    INFO(variant.name << ", " << name_of(dtype));
    matches_reference_on_named_inputs(variant, dtype);
    is_exact_where_sums_are(variant, dtype);
    keeps_what_is_multiplied_by_one(variant, dtype);
    takes_transposed_operands_alike(variant, dtype);
    scales_c_where_there_are_no_products(variant, dtype);
    repeats_itself(variant, dtype);
}

// A problem too large for most machines: left out where memory is short.
inline void multiplies_where_it_fits(const Variant& variant, const Shape& shape, DType dtype) {
    const std::string shortage =
        runner::shortage(memory_needed(*variant.operation, 0, shape, dtype));
    if (!shortage.empty()) {
        WARN(variant.name << ", " << text_of(runner::Shape(shape)) << ": left out, " << shortage);
        return;
    }
    INFO(variant.name);
    matches_reference(variant, operations::gemm::kIntegers, shape, dtype);
}

}  // namespace testing
