// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 08_encoder_fusions/further/layernorm, version 1.0
//
// The front call: y = layernorm(x + bias + residual), of those that there are, and their sum on request.
//   call       layernorm: see front_call.cuh
//   timed      layernorm
//   new here   nothing: the lesson's kernel, with or without what is added first
//   traffic    1 read + 1 write per element; 2 + 1 with a residual, 1 write more for the sum
//   accepts    float, __half, __nv_bfloat16; up to 16384 columns; y may be x or residual, sum may be residual
//   rows       as in the lesson
#pragma once
#include "../../04_warp_softmax/front_call.cuh"
#include "unfused.cuh"

namespace softmax_stages {

template <class T>
struct LayernormOptions {
    float epsilon = 1e-5f;        // is added to the variance
    const T* bias = nullptr;      // cols numbers that are added to x; nullptr: none
    const T* residual = nullptr;  // rows x cols that are; nullptr: none
    T* sum = nullptr;             // rows x cols: x + bias + residual, where it is not nullptr
};

struct LayernormPlan {
    bool adds;  // whether anything is added to x
    const char* reason;
    size_t workspace_bytes;       // none is ever needed, or of use
    size_t more_workspace_bytes;  // none
};

// What is normalised where one of the two that are added may be missing.
template <class Pack_>
struct SumOfSome {
    using Pack = Pack_;
    const Pack* x;
    const Pack* bias;
    const Pack* residual;

    struct Fetched {
        Pack x, residual;
    };
    __device__ Fetched fetch(int64_t at) const {
        return {x[at], residual == nullptr ? Pack{} : residual[at]};
    }
    __device__ void add_up(float (&held)[Pack::kSize], const Fetched& fetched, int p) const {
        const Pack row_bias = bias == nullptr ? Pack{} : bias[p];
#pragma unroll
        for (int j = 0; j < Pack::kSize; ++j) {
            held[j] = static_cast<float>(fetched.x.element[j]) +
                      static_cast<float>(row_bias.element[j]) +
                      static_cast<float>(fetched.residual.element[j]);
        }
    }
};

template <class T>
LayernormPlan layernorm_plan(int64_t, int64_t, const LayernormOptions<T>& options, const Chip&,
                             size_t = 0) {
    return options.bias != nullptr || options.residual != nullptr
               ? LayernormPlan{true, "a row stays in registers from its sum to its norm", 0, 0}
               : LayernormPlan{false, "a row stays in registers", 0, 0};
}

// 0: no way needs one.
template <class T>
cudaError_t layernorm_workspace_bytes(size_t* bytes, int64_t rows, int64_t cols,
                                      const LayernormOptions<T>& options) {
    if (bytes == nullptr) return cudaErrorInvalidValue;
    *bytes = 0;
    const bool is_possible =
        rows >= 0 && cols >= 0 && cols <= encoder_fusions::kMaxNormCols && options.epsilon >= 0.f;
    return is_possible ? cudaSuccess : cudaErrorInvalidValue;
}

// y = (s - mean) / sqrt(variance + epsilon) * gamma + beta of each row of s = x + bias + residual. gamma and beta have cols
// numbers.
template <class T>
cudaError_t layernorm(const T* x, const T* gamma, const T* beta, T* y, int64_t rows, int64_t cols,
                      const LayernormOptions<T>& options, void*, size_t, cudaStream_t stream) {
    using encoder_fusions::packs;
    size_t none = 0;
    const cudaError_t possible = layernorm_workspace_bytes<T>(&none, rows, cols, options);
    if (possible != cudaSuccess || rows == 0 || cols == 0) return possible;
    const encoder_fusions::Norm<T> norm{gamma, beta, options.epsilon};
    const T* const bias = options.bias;
    const T* const residual = options.residual;
    T* const sum = options.sum;
    const auto launch = [&](auto from, auto pack) {
        using Pack = typename decltype(from)::Pack;
        constexpr int kPack = decltype(pack)::value;
        return encoder_fusions::launch_norm<encoder_fusions::Most<Pack>::kStep, 1>(
            from, packs<kPack>(norm), packs<kPack>(sum), packs<kPack>(y), rows, cols / kPack,
            stream);
    };
    const auto or_x = [&](const T* optional) { return optional == nullptr ? x : optional; };
    return encoder_fusions::with_widest_pack<T>(
        {x, gamma, beta, y, or_x(bias), or_x(residual), or_x(sum)}, cols, [&](auto pack) {
            constexpr int kPack = pack.value;
            using Packs = encoder_fusions::Pack<T, kPack>;
            if (bias == nullptr && residual == nullptr)
                return launch(encoder_fusions::Alone<Packs>{packs<kPack>(x)}, pack);
            return launch(
                SumOfSome<Packs>{packs<kPack>(x), packs<kPack>(bias), packs<kPack>(residual)},
                pack);
        });
}

}  // namespace softmax_stages
