// SPDX-License-Identifier: MIT
// The element types of the course: their names, their sizes, and the way from a type that is known
// when the program runs to one that the compiler knows.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

namespace runner {

enum class DType { float32, float16, bfloat16, float64 };

inline const std::vector<DType>& all_dtypes() {
    static const std::vector<DType> all = {DType::float32, DType::float16, DType::bfloat16,
                                           DType::float64};
    return all;
}

inline const char* name_of(DType dtype) {
    switch (dtype) {
        case DType::float32:
            return "float32";
        case DType::float16:
            return "float16";
        case DType::bfloat16:
            return "bfloat16";
        case DType::float64:
            return "float64";
    }
    return "?";
}

// "float16 bfloat16".
inline std::string names_of(const std::vector<DType>& dtypes) {
    std::string names;
    for (const DType dtype : dtypes)
        names += (names.empty() ? "" : " ") + std::string(name_of(dtype));
    return names;
}

inline std::optional<DType> dtype_named(const std::string& name) {
    for (const DType dtype : all_dtypes()) {
        if (name == name_of(dtype)) return dtype;
    }
    return std::nullopt;
}

// A type as a value: decltype(of)::type.
template <class T>
struct Type {
    using type = T;
};

// visit(dtype, [](auto of) { using T = typename decltype(of)::type; ... })
template <class Visitor>
auto visit(DType dtype, Visitor visitor) {
    switch (dtype) {
        case DType::float16:
            return visitor(Type<__half>{});
        case DType::bfloat16:
            return visitor(Type<__nv_bfloat16>{});
        case DType::float64:
            return visitor(Type<double>{});
        case DType::float32:
            break;
    }
    return visitor(Type<float>{});
}

// The same for a launcher that takes all types but double.
template <class Launcher>
cudaError_t visit_but_double(DType dtype, Launcher launcher) {
    return visit(dtype, [&](auto of) -> cudaError_t {
        if constexpr (std::is_same_v<typename decltype(of)::type, double>) {
            return cudaErrorInvalidValue;
        } else {
            return launcher(of);
        }
    });
}

template <class T>
constexpr DType dtype_of = std::is_same_v<T, __half>          ? DType::float16
                           : std::is_same_v<T, __nv_bfloat16> ? DType::bfloat16
                           : std::is_same_v<T, double>        ? DType::float64
                                                              : DType::float32;

inline size_t size_of(DType dtype) {
    return visit(dtype, [](auto of) { return sizeof(typename decltype(of)::type); });
}

// Exactly, whatever T is; by way of float, because half has no conversion to double of its own.
template <class T>
__host__ __device__ double to_double(T value) {
    if constexpr (std::is_same_v<T, double>) {
        return value;
    } else {
        return static_cast<float>(value);
    }
}

}  // namespace runner
