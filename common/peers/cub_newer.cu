// SPDX-License-Identifier: MIT
#include "common/peers/cub_topk.cuh"

// All of CUB, Thrust and libcu++ here is of that CCCL, whose folder is to be searched before the toolkit's.
#include <cub/device/device_batched_topk.cuh>
#include <cub/device/device_segmented_reduce.cuh>
#include <cub/device/device_topk.cuh>
#include <cuda/iterator>
#include <cuda/stream_ref>

static_assert(CCCL_VERSION >= 3005000, "the headers around this one are an older CCCL's");

namespace peers {
namespace {

using operations::topk::Shape;

// Row i of a matrix, as CUB asks for it.
template <class T>
struct Row {
    T* first;
    int64_t cols;
    __host__ __device__ T* operator()(int64_t i) const { return first + i * cols; }
};

template <class T>
auto rows_of(T* first, int64_t cols) {
    return cuda::transform_iterator(cuda::counting_iterator<int64_t>(0), Row<T>{first, cols});
}

auto in_no_order(cudaStream_t stream) {
    using namespace cuda::execution;
    return cuda::std::execution::env{
        cuda::stream_ref{stream},
        require(determinism::not_guaranteed, tie_break::unspecified, output_ordering::unsorted)};
}

// Rows of at most so many columns: that bound chooses among the kernels.
template <int kMostCols, class T>
cudaError_t select_up_to(const T* x, T* values, int32_t* indices, const Shape& shape,
                         void* workspace, size_t& bytes, cudaStream_t stream) {
    const auto columns = cuda::constant_iterator(cuda::counting_iterator<int32_t>(0));
    constexpr auto kBounds = cuda::args::bounds<1, kMostCols>();
    return cub::DeviceBatchedTopK::MaxPairs(
        workspace, bytes, rows_of(x, shape.cols), rows_of(values, shape.k), columns,
        rows_of(indices, shape.k), cuda::args::immediate{static_cast<int>(shape.cols), kBounds},
        cuda::args::immediate{static_cast<int>(shape.k), kBounds},
        cuda::args::immediate{static_cast<int>(shape.rows)}, in_no_order(stream));
}

// As CUB has it: without a workspace it only says how large that has to be. The limits are those of CUB's
// own kernels.
template <class T>
cudaError_t select_batched(const T* x, T* values, int32_t* indices, const Shape& shape,
                           void* workspace, size_t& bytes, cudaStream_t stream) {
    const auto launch = [&](auto function) {
        return function(x, values, indices, shape, workspace, bytes, stream);
    };
    if (shape.cols <= 256) return launch(select_up_to<256, T>);
    if (shape.cols <= 1024) return launch(select_up_to<1024, T>);
    if (shape.cols <= 2048) return launch(select_up_to<2048, T>);
    if (shape.cols <= 4096) return launch(select_up_to<4096, T>);
    return launch(select_up_to<kMostColsOfBatchedTopk, T>);
}

// A call for each row, one behind the other.
template <class T>
cudaError_t select_row_by_row(const T* x, T* values, int32_t* indices, const Shape& shape,
                              void* workspace, size_t& bytes, cudaStream_t stream) {
    const auto columns = cuda::counting_iterator<int32_t>(0);
    cudaError_t error = cudaSuccess;
    for (int64_t row = 0; row < shape.rows && error == cudaSuccess; ++row) {
        error = cub::DeviceTopK::MaxPairs(workspace, bytes, x + row * shape.cols,
                                          values + row * shape.k, columns, indices + row * shape.k,
                                          static_cast<int>(shape.cols), static_cast<int>(shape.k),
                                          in_no_order(stream));
        if (workspace == nullptr) break;  // the same for all
    }
    return error;
}

template <class T>
cudaError_t sum(const T* x, T* sums, const Shape& shape, void* workspace, size_t& bytes,
                cudaStream_t stream) {
    return cub::DeviceSegmentedReduce::Sum(workspace, bytes, x, sums, shape.rows,
                                           static_cast<int>(shape.cols), stream);
}

// What `ask` says, with a pointer to elements of the type, of the size of a workspace.
template <class Ask>
size_t bytes_of(runner::DType dtype, Ask ask) {
    size_t bytes = 0;
    runner::visit_but_double(dtype, [&](auto of) {
        using T = typename decltype(of)::type;
        return ask(static_cast<T*>(nullptr), bytes);
    });
    return bytes;
}

// launch(x, values, indices, shape, workspace, bytes, stream), with pointers of the call's type.
template <class Launch>
cudaError_t with_pointers(const runner::Call& call, Launch launch) {
    const Shape shape = call.shape;
    if (shape.rows * shape.k == 0) return cudaSuccess;
    size_t bytes = call.workspace_bytes;
    const cudaError_t error = runner::visit_but_double(call.dtype, [&](auto of) {
        using T = typename decltype(of)::type;
        return launch(call.input<T>("x"), call.output<T>("values"), call.output<int32_t>("indices"),
                      shape, call.workspace, bytes, call.stream);
    });
    if (error != cudaSuccess) cudaGetLastError();  // said here, not to be found again later
    return error;
}

}  // namespace

size_t batched_topk_bytes(const Shape& shape, runner::DType dtype) {
    return bytes_of(dtype, [&](auto* x, size_t& bytes) {
        return select_batched(x, x, nullptr, shape, nullptr, bytes, nullptr);
    });
}
cudaError_t select_by_batched_topk(const runner::Call& call) {
    return with_pointers(call, [](auto... all) { return select_batched(all...); });
}

size_t topk_bytes(const Shape& shape, runner::DType dtype) {
    return bytes_of(dtype, [&](auto* x, size_t& bytes) {
        return select_row_by_row(x, x, nullptr, shape, nullptr, bytes, nullptr);
    });
}
cudaError_t select_by_topk(const runner::Call& call) {
    return with_pointers(call, [](auto... all) { return select_row_by_row(all...); });
}

size_t row_sum_of_fixed_size_bytes(const Shape& shape, runner::DType dtype) {
    return bytes_of(
        dtype, [&](auto* x, size_t& bytes) { return sum(x, x, shape, nullptr, bytes, nullptr); });
}
cudaError_t sum_rows_of_fixed_size(const runner::Call& call) {
    return with_pointers(
        call, [](auto x, auto sums, auto, auto... rest) { return sum(x, sums, rest...); });
}

}  // namespace peers
