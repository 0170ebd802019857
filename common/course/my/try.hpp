// SPDX-License-Identifier: MIT
//
// A learner's launcher as a stage of one variant, so that the course checks, counts and fuzzes it as it does
// its own. The launcher is the function `launch` of a header in my/: it takes the operation's operands in
// their order, then its sizes, then options that it knows (as k of top-k), then the stream.
#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "common/runner/stage.hpp"

namespace my {

// What is said of a launcher's parameter, to be held against what the operation has.
enum class Parameter {
    float32,
    float16,
    bfloat16,
    float64,
    int32,
    int64,
    boolean,
    size,
    number,
    stream
};

template <class T>
constexpr Parameter parameter_of() {
    using Element = std::remove_cv_t<std::remove_pointer_t<T>>;
    if constexpr (std::is_same_v<T, cudaStream_t>) {
        return Parameter::stream;
    } else if constexpr (!std::is_pointer_v<T>) {
        static_assert(std::is_arithmetic_v<T>,
                      "launch() takes pointers to elements, sizes, numbers and a cudaStream_t");
        return std::is_integral_v<T> ? Parameter::size : Parameter::number;
    } else if constexpr (std::is_same_v<Element, float>) {
        return Parameter::float32;
    } else if constexpr (std::is_same_v<Element, __half>) {
        return Parameter::float16;
    } else if constexpr (std::is_same_v<Element, __nv_bfloat16>) {
        return Parameter::bfloat16;
    } else if constexpr (std::is_same_v<Element, double>) {
        return Parameter::float64;
    } else if constexpr (std::is_same_v<Element, bool>) {
        return Parameter::boolean;
    } else {
        static_assert(std::is_integral_v<Element>, "launch() takes pointers to numbers");
        return sizeof(Element) == 8 ? Parameter::int64 : Parameter::int32;
    }
}

// The stage and its one variant, without the launch, of the operation that STAGES_MY_OPERATION names.
// UsageError, with the signature that is wanted, where these parameters are not it.
runner::Stage stage_of(const std::string& name, const std::vector<Parameter>& parameters);

// A launcher's arguments, one after the other.
class Arguments {
public:
    Arguments(const runner::Call& call, const runner::Variant& variant)
        : call_(call), variant_(variant) {}

    template <class T>
    T next() {
        if constexpr (std::is_same_v<T, cudaStream_t>) {
            return call_.stream;
        } else if constexpr (std::is_pointer_v<T>) {
            return static_cast<T>(call_.operands.operands()[operand_++].data);
        } else {
            return static_cast<T>(next_number());
        }
    }

private:
    double next_number();  // sizes are below 2^53

    const runner::Call& call_;
    const runner::Variant& variant_;
    size_t operand_ = 0;
    size_t size_ = 0;
};

template <class... Parameters>
runner::Stage tried(const std::string& name, cudaError_t (*launch)(Parameters...)) {
    runner::Stage stage = stage_of(name, {parameter_of<Parameters>()...});
    runner::Variant& variant = stage.variants.front();
    variant.launch = [launch, known = variant](const runner::Call& call) {
        Arguments arguments(call, known);
        // In braces they are taken from left to right.
        const std::tuple<Parameters...> values{arguments.next<Parameters>()...};
        return std::apply(launch, values);
    };
    return stage;
}

}  // namespace my
