// SPDX-License-Identifier: MIT
//
// What all functions of softmax_stages.h share: the element type as a template argument, and the sentence that says what
// was wrong.
#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdarg>
#include <cstdint>
#include <new>
#include <type_traits>

#include "softmax_stages.h"

namespace library {

// Looks for the argument that made a call fail and keeps a sentence about the first one that it finds.
class Findings {
public:
    // Stores the sentence (as printf) unless an argument is good.
    [[gnu::format(printf, 3, 4)]] void need(bool good, const char* format, ...);
    bool found_nothing() const { return text_[0] == '\0'; }
    const char* text() const { return text_; }

    void size(const char* name, int64_t value, int64_t most = INT64_MAX);
    void element_type(int type, bool takes_doubles = false);
    void index_type(const char* name, int type);
    // alignment: in bytes, a power of two.
    void address(const char* name, const void* address, size_t alignment, bool is_optional = false);

private:
    char text_[400] = "";
};

// Bytes of an element; 1 if there is no such type.
size_t bytes_of_type(int type);
// Bytes of a sum: 8 for doubles, otherwise 4.
inline size_t bytes_of_sum(int type) {
    return type == SOFTMAX_STAGES_FLOAT64 ? sizeof(double) : sizeof(float);
}

template <class T>
using SumOf = std::conditional_t<std::is_same_v<T, double>, double, float>;

// Remembers a sentence for softmax_stages_message() and returns the error.
int failed(const char* call, cudaError_t error, const Findings& findings) noexcept;

// The CPU device waits for a call's kernels; a GPU's runtime does not. prepare_device() returns false, and finds why, if no
// kernel can run in this process.
bool prepare_device(Findings& findings);
cudaError_t finish_call();
// Returns what the device says of an error beyond CUDA's name for it; may be empty.
const char* words_of_device();

// Returns the result of `call`, a function that returns a cudaError_t. If it is an error, explain(Findings&) looks for the
// argument that is wrong.
template <class Call, class Explain>
int answer(const char* name, const Call& call, const Explain& explain) noexcept {
    Findings findings;
    cudaError_t error = cudaErrorMemoryAllocation;
    try {
        if (!prepare_device(findings)) return failed(name, cudaErrorNotSupported, findings);
        error = call();
        if (error == cudaSuccess) error = finish_call();
        if (error == cudaSuccess) return 0;
        if (error == cudaErrorInvalidValue) explain(findings);
    } catch (const std::bad_alloc&) {
    }
    return failed(name, error, findings);
}

// Calls use(T{}) with the C++ type of `type`.
template <bool kDoubles = false, class Use>
cudaError_t with_type(int type, const Use& use) {
    if constexpr (kDoubles) {
        if (type == SOFTMAX_STAGES_FLOAT64) return use(double{});
    }
    switch (type) {
        case SOFTMAX_STAGES_FLOAT32:
            return use(float{});
        case SOFTMAX_STAGES_FLOAT16:
            return use(__half{});
        case SOFTMAX_STAGES_BFLOAT16:
            return use(__nv_bfloat16{});
        default:
            return cudaErrorInvalidValue;
    }
}

// Calls use(Index*) with the C++ type of an index type: columns and targets.
template <class Use>
cudaError_t with_index(int type, const void* data, const Use& use) {
    auto* const writable = const_cast<void*>(data);
    if (type == SOFTMAX_STAGES_INT32) return use(static_cast<int32_t*>(writable));
    if (type == SOFTMAX_STAGES_INT64) return use(static_cast<int64_t*>(writable));
    return cudaErrorInvalidValue;
}

// Stores a front call's plan as the C interface has it.
template <class Plan>
cudaError_t store(softmax_stages_plan* to, const Plan& plan) {
    *to = {plan.reason, plan.workspace_bytes, plan.more_workspace_bytes};
    return cudaSuccess;
}

// The three functions of a call. A Problem has the call's sizes and options as its base, and
//   static constexpr bool kDoubles            true if the call takes doubles
//   bool is_empty()                           true if there is nothing to compute
//   bytes<T>(size_t*), plan<T>(size_t)        as the front call's NAME_workspace_bytes and NAME_plan
//   explain(Findings&, int type)              looks at sizes and options
template <class Problem>
int workspace_bytes(const char* name, int type, size_t* bytes, const Problem& problem) {
    return answer(
        name,
        [&] {
            return with_type<Problem::kDoubles>(
                type, [&](auto zero) { return problem.template bytes<decltype(zero)>(bytes); });
        },
        [&](Findings& findings) {
            findings.need(bytes != nullptr, "bytes is NULL; it must point to a size_t");
            findings.element_type(type, Problem::kDoubles);
            problem.explain(findings, type);
        });
}

template <class Problem>
int plan(const char* name, int type, softmax_stages_plan* plan, size_t bytes,
         const Problem& problem) {
    return answer(
        name,
        [&] {
            return with_type<Problem::kDoubles>(type, [&](auto zero) {
                using T = decltype(zero);
                size_t most = 0;
                const cudaError_t error = problem.template bytes<T>(&most);
                if (error != cudaSuccess) return error;
                if (plan == nullptr) return cudaErrorInvalidValue;
                if (problem.is_empty()) {
                    *plan = {"the result is empty: nothing to do", 0, 0};
                    return cudaSuccess;
                }
                return store(plan, problem.template plan<T>(bytes));
            });
        },
        [&](Findings& findings) {
            findings.need(plan != nullptr, "plan is NULL; it must point to a softmax_stages_plan");
            findings.element_type(type, Problem::kDoubles);
            problem.explain(findings, type);
        });
}

// launch: calls the front call, launch(T{}). explain: looks at the operands.
template <class Problem, class Launch, class Explain>
int call(const char* name, int type, const Problem& problem, const Launch& launch,
         const Explain& explain) {
    return answer(
        name, [&] { return with_type<Problem::kDoubles>(type, launch); },
        [&](Findings& findings) {
            findings.element_type(type, Problem::kDoubles);
            problem.explain(findings, type);
            explain(findings);
        });
}

}  // namespace library
