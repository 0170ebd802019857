// SPDX-License-Identifier: MIT
#include "common/peers/cub_topk.cuh"

#include <cub/device/device_segmented_reduce.cuh>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

namespace peers {
namespace {

using operations::topk::Shape;

struct StartOfRow {
    int64_t cols;
    __host__ __device__ int64_t operator()(int64_t row) const { return row * cols; }
};

// As CUB has it: without a workspace it only says how large that has to be.
template <class T>
cudaError_t sum(const T* x, T* sums, const Shape& shape, void* workspace, size_t& bytes,
                cudaStream_t stream) {
    const auto starts = thrust::make_transform_iterator(thrust::make_counting_iterator(int64_t{0}),
                                                        StartOfRow{shape.cols});
    return cub::DeviceSegmentedReduce::Sum(workspace, bytes, x, sums, shape.rows, starts,
                                           starts + 1, stream);
}

}  // namespace

size_t row_sum_bytes(const Shape& shape, runner::DType dtype) {
    size_t bytes = 0;
    runner::visit_but_double(dtype, [&](auto of) {
        using T = typename decltype(of)::type;
        return sum<T>(nullptr, nullptr, shape, nullptr, bytes, nullptr);
    });
    return bytes;
}

cudaError_t sum_rows(const runner::Call& call) {
    size_t bytes = call.workspace_bytes;
    const cudaError_t error = runner::visit_but_double(call.dtype, [&](auto of) {
        using T = typename decltype(of)::type;
        return sum<T>(call.input<T>("x"), call.output<T>("values"), call.shape, call.workspace,
                      bytes, call.stream);
    });
    if (error != cudaSuccess) cudaGetLastError();  // said here, not to be found again later
    return error;
}

}  // namespace peers
