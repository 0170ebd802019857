// SPDX-License-Identifier: MIT
// What an operation reads and writes: named arrays with element types of their own.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <cuda_fp8.h>

#include "common/runner/dtype.hpp"

namespace runner {

// The type of one operand's elements. DType, in which a variant is asked to compute, is one of the first
// four.
enum class ElementType {
    float32,
    float16,
    bfloat16,
    float64,
    int32,
    int64,
    boolean,
    int8,
    float8_e4m3
};

inline ElementType element_type(DType dtype) {
    switch (dtype) {
        case DType::float16:
            return ElementType::float16;
        case DType::bfloat16:
            return ElementType::bfloat16;
        case DType::float64:
            return ElementType::float64;
        case DType::float32:
            break;
    }
    return ElementType::float32;
}

inline const char* name_of(ElementType type) {
    constexpr const char* kNames[] = {"float32", "float16", "bfloat16", "float64",    "int32",
                                      "int64",   "bool",    "int8",     "float8_e4m3"};
    return kNames[static_cast<size_t>(type)];
}

inline size_t size_of(ElementType type) {
    constexpr size_t kSizes[] = {4, 2, 2, 8, 4, 8, 1, 1, 1};
    return kSizes[static_cast<size_t>(type)];
}

// visit(type, [](auto of) { using T = typename decltype(of)::type; ... }). Booleans are bytes.
template <class Visitor>
auto visit(ElementType type, Visitor visitor) {
    switch (type) {
        case ElementType::float16:
            return visitor(Type<__half>{});
        case ElementType::bfloat16:
            return visitor(Type<__nv_bfloat16>{});
        case ElementType::float64:
            return visitor(Type<double>{});
        case ElementType::int32:
            return visitor(Type<int32_t>{});
        case ElementType::int64:
            return visitor(Type<int64_t>{});
        case ElementType::boolean:
            return visitor(Type<unsigned char>{});
        case ElementType::int8:
            return visitor(Type<int8_t>{});
        case ElementType::float8_e4m3:
            return visitor(Type<__nv_fp8_e4m3>{});
        case ElementType::float32:
            break;
    }
    return visitor(Type<float>{});
}

enum class Role { in, out, in_out };

inline const char* name_of(Role role) {
    constexpr const char* kNames[] = {"in", "out", "in_out"};
    return kNames[static_cast<size_t>(role)];
}

// Row-major; its rows lie along the last dimension.
struct Operand {
    std::string name;
    Role role = Role::in;
    ElementType type = ElementType::float32;
    std::vector<int64_t> dims;

    // Of an output: the inputs of the same type and dimensions over which it may be written.
    std::vector<std::string> may_lie_over = {};

    // Where rows may lie apart: the operand whose distance between rows this one shares; empty for a
    // distance of its own.
    std::string strides_with = {};

    bool is_input() const { return role != Role::out; }
    bool is_output() const { return role != Role::in; }
    int64_t elements() const {
        int64_t product = 1;
        for (const int64_t dim : dims) product *= dim;
        return product;
    }
    int64_t bytes() const { return elements() * static_cast<int64_t>(size_of(type)); }
    int64_t row_elements() const { return dims.empty() ? 1 : dims.back(); }
    int64_t rows() const { return row_elements() == 0 ? 0 : elements() / row_elements(); }
};

}  // namespace runner
