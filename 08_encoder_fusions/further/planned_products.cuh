// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 08_encoder_fusions/further/planned_products, version 1.0
//
// An encoder's products by the plan of 07's front call. The call encoder() uses them.
//   new here   each product has the kernel that suits its sizes, with bias and activation in its epilogue; kernels begin early, and
//              weights load while the kernel before still runs
//   accepts    as forward.cuh; there are plans for __half and __nv_bfloat16
//   needs      compute capability 9.0, compiled for sm_90a; elsewhere forward.cuh's own kernels run
#pragma once
#include <utility>

#include "../../07_batched_gemm/further/gemm.cuh"
#include "early_kernels.cuh"

namespace encoder_layers {

// Computes a product with weights by the plan of gemm(). Returns cudaErrorNotSupported where the plan names neither few_rows nor
// hopper, and where these were not compiled.
template <class T, class Epilogue>
cudaError_t product_by_plan(const batched_gemm::Problem<T>& g, const Epilogue& epilogue,
                            batched_gemm::Begin begin, cudaStream_t stream) {
    using batched_gemm::Begin;
    using softmax_stages::GemmWay;
    const softmax_stages::Chip chip = softmax_stages::this_chip();
    const softmax_stages::GemmPlan plan = softmax_stages::plan_of(g, chip, 0);
    if (plan.way == GemmWay::few_rows)
        return batched_gemm::few_rows_with(g, plan.of_few_rows, epilogue, stream,
                                           begin == Begin::with_b);
    if (plan.way == GemmWay::hopper)
        return batched_gemm::launch_hopper(g, plan.of_hopper, chip.multiprocessors, epilogue,
                                           stream, begin);
    return cudaErrorNotSupported;
}

// For one call of forward().
class PlannedKernels : public EarlyBetween {
public:
    static constexpr bool kOnlyFused = true;

    template <class T>
    cudaError_t product(const batched_gemm::Problem<T>& g, cudaStream_t stream) const {
        if constexpr (sizeof(T) == 2) {
            const cudaError_t status = product_by_plan(g, batched_gemm::Plain{}, begin(), stream);
            if (status != cudaErrorNotSupported) return status;
        }
        return FusedProducts{}.product(g, stream);
    }
    template <class T, class Activation>
    cudaError_t product(const batched_gemm::Problem<T>& g, const T* bias, Activation activation,
                        cudaStream_t stream) const {
        if constexpr (sizeof(T) == 2 && FusedProducts::kIsFused<Activation>) {
            const cudaError_t status =
                product_by_plan(g, batched_gemm::BiasActivation<T, Activation>{{bias}, activation},
                                begin(), stream);
            if (status != cudaErrorNotSupported) return status;
        }
        return FusedProducts{}.product(g, bias, activation, stream);
    }

protected:
    // The first product waits for all earlier kernels of the stream, which may write weights. All later kernels begin after it.
    batched_gemm::Begin begin() const {
        using batched_gemm::Begin;
        return std::exchange(is_first_, false) ? Begin::after : Begin::with_b;
    }

private:
    mutable bool is_first_ = true;
};

}  // namespace encoder_layers
