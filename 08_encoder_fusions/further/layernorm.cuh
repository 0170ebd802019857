// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 08_encoder_fusions/further/layernorm, version 1.0
//
// The front call: y = layernorm(x + bias + residual) with optional bias and residual; returns the sum on request.
//   call       layernorm: see front_call.cuh
//   timed      layernorm
//   new here   nothing: tuned_layernorm.cuh, with or without a bias and a residual
//   traffic    1 read + 1 write per element; 2 + 1 with a residual, 1 write more for the sum
//   accepts    float, __half, __nv_bfloat16; up to 16384 columns; y may be x or residual, sum may be residual
//   rows       as in the lesson
#pragma once
#include "../../04_warp_softmax/front_call.cuh"
#include "unfused.cuh"

namespace softmax_stages {

template <class T>
struct LayernormOptions {
    float epsilon = 1e-5f;        // added to the variance
    const T* bias = nullptr;      // cols numbers, added to each row of x; nullptr: none
    const T* residual = nullptr;  // rows x cols, added to x; nullptr: none
    T* sum = nullptr;  // rows x cols: receives x + bias + residual; nullptr: not returned
};

constexpr int64_t kMostLayernormCols = encoder_fusions::kMaxNormCols;

struct LayernormPlan {
    bool adds;  // true if anything is added to x
    const char* reason;
    size_t workspace_bytes;       // 0: the call needs none
    size_t more_workspace_bytes;  // 0
};

// Loads the sum of x, bias and residual; bias or residual may be missing. See SumOfThree.
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

// Sets *bytes to 0: the norm needs no workspace.
template <class T>
cudaError_t layernorm_workspace_bytes(size_t* bytes, int64_t rows, int64_t cols,
                                      const LayernormOptions<T>& options) {
    if (bytes == nullptr) return cudaErrorInvalidValue;
    *bytes = 0;
    const bool is_possible =
        rows >= 0 && cols >= 0 && cols <= encoder_fusions::kMaxNormCols && options.epsilon >= 0.f;
    return is_possible ? cudaSuccess : cudaErrorInvalidValue;
}

// y = (s - mean) / sqrt(variance + epsilon) * gamma + beta for each row of s = x + bias + residual. gamma and beta have
// cols numbers.
template <class T>
cudaError_t layernorm(const T* x, const T* gamma, const T* beta, T* y, int64_t rows, int64_t cols,
                      const LayernormOptions<T>& options, void*, size_t, cudaStream_t stream) {
    using encoder_fusions::as_packs;
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
            from, as_packs<kPack>(norm), as_packs<kPack>(sum), as_packs<kPack>(y), rows,
            cols / kPack, stream);
    };
    const auto or_x = [&](const T* optional) { return optional == nullptr ? x : optional; };
    return encoder_fusions::with_widest_pack<T>(
        {x, gamma, beta, y, or_x(bias), or_x(residual), or_x(sum)}, cols, [&](auto pack) {
            constexpr int kPack = pack.value;
            using Pack = encoder_fusions::Pack<T, kPack>;
            if (bias == nullptr && residual == nullptr)
                return launch(encoder_fusions::Alone<Pack>{as_packs<kPack>(x)}, pack);
            return launch(SumOfSome<Pack>{as_packs<kPack>(x), as_packs<kPack>(bias),
                                          as_packs<kPack>(residual)},
                          pack);
        });
}

}  // namespace softmax_stages
