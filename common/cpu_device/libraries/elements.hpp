// SPDX-License-Identifier: MIT
//
// Elements whose type is known at run time alone, as cuBLAS's calls have them.
#pragma once

#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "library_types.h"

namespace cpu_device::blas {

template <class T>
inline constexpr bool is_complex = false;
template <class Real>
inline constexpr bool is_complex<std::complex<Real>> = true;

template <class T>
inline constexpr bool is_small_float =
    std::is_same_v<T, __half> || std::is_same_v<T, __nv_bfloat16>;

// An element as a number to compute with: float, double, std::complex of them, or int64_t for integers.
template <class Compute, class Element>
Compute number_of(const Element& element) {
    if constexpr (is_complex<Element>) {
        if constexpr (is_complex<Compute>) {
            return Compute(element);
        } else {
            return static_cast<Compute>(element.real());
        }
    } else if constexpr (is_small_float<Element>) {
        return Compute(static_cast<float>(element));
    } else if constexpr (is_complex<Compute>) {
        return Compute(static_cast<typename Compute::value_type>(element));
    } else {
        return static_cast<Compute>(element);
    }
}

// The number as an element: rounded, and of 8 bits held within their range.
template <class Element, class Compute>
Element element_of(const Compute& number) {
    if constexpr (is_complex<Element>) {
        return Element(number);
    } else if constexpr (is_complex<Compute>) {
        return element_of<Element>(number.real());
    } else if constexpr (is_small_float<Element>) {
        return Element(static_cast<float>(number));
    } else if constexpr (std::is_integral_v<Element> && std::is_floating_point_v<Compute>) {
        constexpr auto kLow = static_cast<Compute>(std::numeric_limits<Element>::lowest());
        constexpr auto kHigh = static_cast<Compute>(std::numeric_limits<Element>::max());
        const Compute whole = std::nearbyint(number);
        return whole <= kLow    ? std::numeric_limits<Element>::lowest()
               : whole >= kHigh ? std::numeric_limits<Element>::max()
                                : static_cast<Element>(whole);
    } else {
        return static_cast<Element>(number);
    }
}

// Calls f with a null pointer to the element's type; false where the type is none of these.
template <class Function>
bool with_type(cudaDataType type, Function f) {
    switch (type) {
        case CUDA_R_32F:
            f(static_cast<float*>(nullptr));
            return true;
        case CUDA_R_64F:
            f(static_cast<double*>(nullptr));
            return true;
        case CUDA_R_16F:
            f(static_cast<__half*>(nullptr));
            return true;
        case CUDA_R_16BF:
            f(static_cast<__nv_bfloat16*>(nullptr));
            return true;
        case CUDA_R_8I:
            f(static_cast<int8_t*>(nullptr));
            return true;
        case CUDA_R_8U:
            f(static_cast<uint8_t*>(nullptr));
            return true;
        case CUDA_R_32I:
            f(static_cast<int32_t*>(nullptr));
            return true;
        case CUDA_C_32F:
            f(static_cast<std::complex<float>*>(nullptr));
            return true;
        case CUDA_C_64F:
            f(static_cast<std::complex<double>*>(nullptr));
            return true;
        default:
            return false;
    }
}

// 0 where it is none of with_type()'s.
inline size_t bytes_of(cudaDataType type) {
    size_t bytes = 0;
    with_type(type, [&](auto* element) { bytes = sizeof *element; });
    return bytes;
}

template <class T>
constexpr cudaDataType type_of() {
    return std::is_same_v<T, float>     ? CUDA_R_32F
           : std::is_same_v<T, double>  ? CUDA_R_64F
           : std::is_same_v<T, __half>  ? CUDA_R_16F
           : std::is_same_v<T, float2>  ? CUDA_C_32F
           : std::is_same_v<T, double2> ? CUDA_C_64F
                                        : CUDA_R_32I;
}

// Of an element at that address.
using Number = std::complex<double>;
inline Number number_at(cudaDataType type, const void* address) {
    Number number;
    with_type(type, [&](auto* element) {
        number = number_of<Number>(*static_cast<decltype(element)>(const_cast<void*>(address)));
    });
    return number;
}
inline void set_number(cudaDataType type, void* address, const Number& number) {
    with_type(type, [&](auto* element) {
        using Element = std::remove_reference_t<decltype(*element)>;
        *static_cast<Element*>(address) = element_of<Element>(number);
    });
}

}  // namespace cpu_device::blas
