// SPDX-License-Identifier: MIT
//
// A learner's launcher as a stage of one variant, so that the course checks, counts and fuzzes it as it does
// its own. The launcher is a function of a header in my/, `launch` unless told: it takes the operation's operands in
// their order, then its sizes, then options that it knows (as k of top-k), then a workspace perhaps, then the
// stream. ./stages writes a program that wraps the call of it, so that it may be overloaded, a template, or lie in
// a namespace.
#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>
#include <functional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/course/my/operations.hpp"
#include "common/runner/stage.hpp"

namespace my {

// What a launcher is tried as.
struct Asked {
    const runner::Operation* operation = nullptr;
    std::string takes;       // its limits: see limits.hpp
    bool overflows = false;  // see runner::Variant
};

// As the environment says: STAGES_MY_OPERATION, STAGES_MY_TAKES, STAGES_MY_OVERFLOWS.
Asked asked_for();

// A size's or an option's value, which becomes whatever number the launcher takes.
class Number {
public:
    explicit Number(double value) : value_(value) {}
    template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
    operator T() const {
        return static_cast<T>(value_);
    }

private:
    double value_;
};

// What the launcher takes beside operands, sizes and stream.
struct Taken {
    size_t options = 0;  // so many of the operation's, in their order
    bool workspace = false;
};

// One way to call the launcher, with elements of one type.
struct Way {
    runner::DType dtype = runner::DType::float32;
    Taken taken;
    const char* returns = "something else";
    std::function<cudaError_t(const runner::Call&)> call = {};  // empty: it returns something else
};

// A launcher's arguments, one after the other.
class Arguments {
public:
    Arguments(const runner::Call& call, const runner::Operation& operation)
        : call_(call), operation_(operation) {}

    template <class T>
    T next() {
        if constexpr (std::is_same_v<T, cudaStream_t>) {
            return call_.stream;
        } else if constexpr (std::is_same_v<T, void*>) {
            return call_.workspace;
        } else if constexpr (std::is_same_v<T, size_t>) {
            return call_.workspace_bytes;
        } else if constexpr (std::is_pointer_v<T>) {
            return static_cast<T>(call_.operands.operands()[operand_++].data);
        } else if constexpr (std::is_same_v<T, Number>) {
            return Number(next_number());
        } else {
            return static_cast<T>(next_number());
        }
    }

private:
    double next_number();  // sizes are below 2^53

    const runner::Call& call_;
    const runner::Operation& operation_;
    size_t operand_ = 0;
    size_t size_ = 0;
};

template <class... T>
struct Types {
    template <class... More>
    Types<T..., More...> operator+(Types<More...>) const {
        return {};
    }
};

template <class T, size_t kCount>
struct Repeated {
    using type = decltype(Types<T>{} + typename Repeated<T, kCount - 1>::type{});
};
template <class T>
struct Repeated<T, 0> {
    using type = Types<>;
};

template <class Launcher, class Arguments>
struct IsCallable;
template <class Launcher, class... Arguments>
struct IsCallable<Launcher, Types<Arguments...>> : std::is_invocable<Launcher, Arguments...> {};

// The arguments with kOptions options, before them those that are always there.
template <class Before, size_t kOptions, class... Workspace>
using With = decltype(Before{} + typename Repeated<Number, kOptions>::type{} +
                      Types<Workspace..., cudaStream_t>{});

// With how many options the launcher can be called, the most that it takes, and whether it needs a workspace; kNever
// where it cannot be called.
constexpr size_t kNever = SIZE_MAX;
template <class Launcher, class Before, size_t kOptions>
constexpr std::pair<size_t, bool> way_to_call() {
    if constexpr (IsCallable<Launcher, With<Before, kOptions>>::value) {
        return {kOptions, false};
    } else if constexpr (IsCallable<Launcher, With<Before, kOptions, void*, size_t>>::value) {
        return {kOptions, true};
    } else if constexpr (kOptions > 0) {
        return way_to_call<Launcher, Before, kOptions - 1>();
    } else {
        return {kNever, false};
    }
}

template <class Launcher, class... Arguments_>
void set_call(Way& way, const runner::Operation& operation, Types<Arguments_...>) {
    using Result = std::invoke_result_t<Launcher, Arguments_...>;
    if constexpr (std::is_void_v<Result>) way.returns = "nothing";
    if constexpr (std::is_same_v<Result, int>) way.returns = "int";
    if constexpr (std::is_same_v<Result, cudaError_t>) {
        way.call = [&operation](const runner::Call& call) {
            Arguments arguments(call, operation);
            // In braces they are taken from left to right.
            const std::tuple<Arguments_...> values{arguments.next<Arguments_>()...};
            return std::apply(Launcher{}, values);
        };
    }
}

template <class T>
constexpr runner::DType dtype_of() {
    return std::is_same_v<T, __half>          ? runner::DType::float16
           : std::is_same_v<T, __nv_bfloat16> ? runner::DType::bfloat16
           : std::is_same_v<T, double>        ? runner::DType::float64
                                              : runner::DType::float32;
}

// Adds the ways of these element types; where kFirst is true, that of the first which the launcher takes: a template
// need not compile for others.
template <bool kFirst, class Launcher, class Signature, class T, class... More>
void find_ways(std::vector<Way>& ways, const runner::Operation& operation) {
    using Before = decltype(typename Signature::template Operands<T>{} +
                            typename Repeated<int64_t, Signature::kSizes>::type{});
    constexpr auto kWay = way_to_call<Launcher, Before, Signature::kOptions>();
    constexpr bool kFound = kWay.first != kNever;
    if constexpr (kFound) {
        Way way;
        way.dtype = dtype_of<T>();
        way.taken = {kWay.first, kWay.second};
        if constexpr (kWay.second) {
            set_call<Launcher>(way, operation, With<Before, kWay.first, void*, size_t>{});
        } else {
            set_call<Launcher>(way, operation, With<Before, kWay.first>{});
        }
        ways.push_back(way);
    }
    if constexpr (sizeof...(More) > 0 && !(kFirst && kFound))
        find_ways<kFirst, Launcher, Signature, More...>(ways, operation);
}

// The stage of these ways. UsageError where there are none, where the launcher returns no cudaError_t, or where the
// header declares limits (see limits.hpp) that make no sense.
runner::Stage stage_of(const std::string& name, const std::vector<Way>& ways, const Asked& asked);

// Of the types that the launcher takes, the first.
template <class Launcher, class Signature>
runner::Stage tried(const std::string& name, const Asked& asked = asked_for()) {
    std::vector<Way> ways;
    find_ways<true, Launcher, Signature, float, __half, __nv_bfloat16, double>(ways,
                                                                               *asked.operation);
    return stage_of(name, ways, asked);
}

// Those types, all of which the launcher has to take.
template <class Launcher, class Signature, class First, class... T>
runner::Stage tried(const std::string& name, const Asked& asked = asked_for()) {
    std::vector<Way> ways;
    find_ways<false, Launcher, Signature, First, T...>(ways, *asked.operation);
    return stage_of(name, ways, asked);
}

}  // namespace my
