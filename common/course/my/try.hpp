// SPDX-License-Identifier: MIT
//
// A learner's launcher as a stage of one variant, so that the course checks, counts and fuzzes it as it does
// its own. The launcher is the function `launch` of a header in my/: it takes the operation's operands in
// their order, then its sizes, then options that it knows (as k of top-k), then the stream.
#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>
#include <functional>
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
    stream,
    other  // what no launcher takes
};

template <class T>
constexpr Parameter parameter_of() {
    using Element = std::remove_cv_t<std::remove_pointer_t<T>>;
    if constexpr (std::is_same_v<T, cudaStream_t>) {
        return Parameter::stream;
    } else if constexpr (!std::is_pointer_v<T>) {
        return std::is_integral_v<T>         ? Parameter::size
               : std::is_floating_point_v<T> ? Parameter::number
                                             : Parameter::other;
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
    } else if constexpr (std::is_integral_v<Element> && sizeof(Element) >= 4) {
        return sizeof(Element) == 8 ? Parameter::int64 : Parameter::int32;
    } else {
        return Parameter::other;
    }
}

// The stage and its one variant, without the launch, of the operation that STAGES_MY_OPERATION names.
// UsageError, with the signature that is wanted, where these parameters are not it.
runner::Stage stage_of(const std::string& name, const std::vector<Parameter>& parameters);

// What a launcher that fits looks like.
std::string wanted_signature();

// Calls a launcher and, on the CPU device, watches what it does itself: see runner::Probe.
cudaError_t watched(const runner::Call& call,
                    const std::function<cudaError_t(const runner::Call&)>& launch);

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

// Stands beside the learner's launch(), in its place where a header has none.
struct NoLauncher {};
[[noreturn]] runner::Stage refuse_without_launcher();
[[noreturn]] runner::Stage refuse_result(const char* result);

// `&launch` names both, and the results tell which of these is meant; int goes before long.
template <class... Parameters>
runner::Stage tried(const std::string& name, cudaError_t (*launch)(Parameters...), int) {
    runner::Stage stage = stage_of(name, {parameter_of<Parameters>()...});
    if constexpr (((parameter_of<Parameters>() != Parameter::other) && ...)) {
        runner::Variant& variant = stage.variants.front();
        variant.launch = [launch, known = variant](const runner::Call& call) {
            return watched(call, [&](const runner::Call& given) {
                Arguments arguments(given, known);
                // In braces they are taken from left to right.
                const std::tuple<Parameters...> values{arguments.next<Parameters>()...};
                return std::apply(launch, values);
            });
        };
    }
    return stage;
}
template <class... Parameters>
runner::Stage tried(const std::string& /*name*/, void (*)(Parameters...), int) {
    return refuse_result("nothing");
}
template <class... Parameters>
runner::Stage tried(const std::string& /*name*/, int (*)(Parameters...), int) {
    return refuse_result("int");
}
inline runner::Stage tried(const std::string& /*name*/, NoLauncher (*)(NoLauncher), long) {
    return refuse_without_launcher();
}

}  // namespace my
