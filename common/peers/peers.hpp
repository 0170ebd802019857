// SPDX-License-Identifier: MIT
// Softmax, products, selections and moves as others wrote them, described like a stage: the same code runs and checks
// them.
#pragma once
#include <string>
#include <vector>

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "common/operations/softmax/call.hpp"

namespace peers {

// launch(x, y) with pointers of the call's type: of those that peers take, which is all but double.
template <class Launch>
cudaError_t with_pointers(const operations::softmax::Call& call, Launch launch) {
    using runner::DType;
    if (call.dtype == DType::float16) return launch(call.input<__half>(), call.output<__half>());
    if (call.dtype == DType::bfloat16)
        return launch(call.input<__nv_bfloat16>(), call.output<__nv_bfloat16>());
    return launch(call.input<float>(), call.output<float>());
}

struct Peer {
    runner::Stage stage = {};   // its name and variants; its bounds are nobody's promise
    std::string obstacle = {};  // why it cannot run on this machine; empty where it can

    // Computes something else than it should: timed to be shown beside those that are right, checked
    // to be wrong, and compared with by nobody.
    bool invalid = false;

    // Does this part of the work alone, "selection": timed to show what that part takes, held to nothing here, and
    // compared with by nobody. Empty where it does all of it.
    std::string part = {};
};

Peer nvidia_online_softmax();      // nvidia_online_softmax.cuh
Peer oneflow_warp_softmax();       // oneflow_warp_softmax.cuh
Peer oneflow_block_softmax();      // oneflow_block_softmax.cuh
Peer paddle_any_axis();            // paddle_any_axis.cuh
Peer fastertransformer_softmax();  // fastertransformer_softmax.cuh
Peer fastertransformer_heads();    // fastertransformer_heads.cuh
Peer fastertransformer_padding();
Peer invalid_fastertransformer();  // invalid_fastertransformer.cuh
Peer cudnn();                      // cudnn.cpp
Peer cublas();                     // cublas.cpp
Peer cublas_lt();
Peer cutlass();             // cutlass.cpp
Peer cub_segmented_sort();  // cub.cpp
Peer cub_batched_topk();
Peer cub_topk();
Peer row_sum();
Peer row_sum_of_fixed_size();

// All of them, in the order in which they are listed.
inline std::vector<Peer> all_peers() {
    return {nvidia_online_softmax(),
            oneflow_warp_softmax(),
            oneflow_block_softmax(),
            paddle_any_axis(),
            fastertransformer_softmax(),
            fastertransformer_heads(),
            fastertransformer_padding(),
            invalid_fastertransformer(),
            cudnn(),
            cublas(),
            cublas_lt(),
            cutlass(),
            cub_segmented_sort(),
            cub_batched_topk(),
            cub_topk(),
            row_sum(),
            row_sum_of_fixed_size()};
}

}  // namespace peers
