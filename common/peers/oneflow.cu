// SPDX-License-Identifier: MIT
// OneFlow's softmax behind C functions, for peers.py. Compiled by it, against a checkout of the
// user's own: nvcc -I ONEFLOW ... No code of OneFlow is in this repository.
#include <algorithm>
#include <cassert>
#include <cstdint>
#include <cstdlib>
#include <type_traits>

#include <cuda_fp16.h>
#include <cuda_runtime.h>

// Until 2021 the header took these two from the rest of OneFlow.
#ifndef OF_CUDA_CHECK
#define OF_CUDA_CHECK(call) (void)(call)
#endif
#ifndef UNIMPLEMENTED
#define UNIMPLEMENTED() std::abort()
#endif

#include "oneflow/core/cuda/softmax.cuh"

namespace {

using oneflow::cuda::softmax::DirectLoad;
using oneflow::cuda::softmax::DirectStore;

// Early versions of the dispatch return nothing, later ones cudaError_t.
template <class Dispatch>
int status_of(Dispatch dispatch) {
    if constexpr (std::is_void_v<decltype(dispatch())>) {
        dispatch();
        return cudaGetLastError();
    } else {
        return dispatch();
    }
}

}  // namespace

extern "C" int oneflow_softmax(const float* x, float* y, int64_t rows, int64_t cols, void* stream) {
    const DirectLoad<float, float> load(x, cols);
    const DirectStore<float, float> store(y, cols);
    return status_of([&] {
        return oneflow::cuda::softmax::DispatchSoftmax<DirectLoad<float, float>,
                                                       DirectStore<float, float>, float>(
            static_cast<cudaStream_t>(stream), load, store, rows, cols);
    });
}
