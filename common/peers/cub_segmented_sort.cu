// SPDX-License-Identifier: MIT
#include "common/peers/cub_topk.cuh"

#include <cub/device/device_segmented_radix_sort.cuh>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

namespace peers {
namespace {

using operations::topk::Shape;

constexpr int kThreads = 256;

// CUB counts elements in int.
__global__ void number_columns(int32_t* columns, int count, int cols) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
    if (i < count) columns[i] = static_cast<int>(i) % cols;
}

template <class T>
__global__ void take_first(const T* sorted, const int32_t* columns, T* values, int32_t* indices,
                           int count, int cols, int k) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
    if (i >= count) return;
    const int from = static_cast<int>(i) / k * cols + static_cast<int>(i) % k;
    values[i] = sorted[from];
    indices[i] = columns[from];
}

unsigned blocks_for(int count) {
    return (static_cast<unsigned>(count) + kThreads - 1) / kThreads;
}

struct StartOfRow {
    int cols;
    __host__ __device__ int operator()(int row) const { return row * cols; }
};

size_t padded(size_t bytes) {
    return (bytes + 255) / 256 * 256;
}

// Where the parts of a workspace begin.
struct Parts {
    Parts(int count, size_t size)
        : columns(padded(static_cast<size_t>(count) * size)),
          sorted_columns(columns + padded(static_cast<size_t>(count) * sizeof(int32_t))),
          scratch(sorted_columns + padded(static_cast<size_t>(count) * sizeof(int32_t))) {}

    size_t columns, sorted_columns, scratch;  // the sorted elements lie before all of them
};

template <class T>
cudaError_t sort_rows(void* scratch, size_t& bytes, const T* x, T* sorted, const int32_t* columns,
                      int32_t* sorted_columns, const Shape& shape, cudaStream_t stream) {
    const int rows = static_cast<int>(shape.rows), cols = static_cast<int>(shape.cols);
    const auto starts =
        thrust::make_transform_iterator(thrust::make_counting_iterator(0), StartOfRow{cols});
    return cub::DeviceSegmentedRadixSort::SortPairsDescending(
        scratch, bytes, x, sorted, columns, sorted_columns, rows * cols, rows, starts, starts + 1,
        0, static_cast<int>(sizeof(T) * 8), stream);
}

template <class T>
cudaError_t select(const runner::Call& call) {
    const Shape shape = call.shape;
    const int count = static_cast<int>(shape.rows * shape.cols);
    const int cols = static_cast<int>(shape.cols), k = static_cast<int>(shape.k);
    const int kept = static_cast<int>(shape.rows * shape.k);
    if (kept == 0) return cudaSuccess;
    const Parts parts(count, sizeof(T));
    auto* const bytes = static_cast<unsigned char*>(call.workspace);
    auto* const sorted = reinterpret_cast<T*>(bytes);
    auto* const columns = reinterpret_cast<int32_t*>(bytes + parts.columns);
    auto* const sorted_columns = reinterpret_cast<int32_t*>(bytes + parts.sorted_columns);
    size_t left = call.workspace_bytes - parts.scratch;

    number_columns<<<blocks_for(count), kThreads, 0, call.stream>>>(columns, count, cols);
    const cudaError_t error = sort_rows(bytes + parts.scratch, left, call.input<T>("x"), sorted,
                                        columns, sorted_columns, shape, call.stream);
    if (error != cudaSuccess) {
        cudaGetLastError();  // said here, not to be found again later
        return error;
    }
    take_first<<<blocks_for(kept), kThreads, 0, call.stream>>>(
        sorted, sorted_columns, call.output<T>("values"), call.output<int32_t>("indices"), kept,
        cols, k);
    return cudaGetLastError();
}

}  // namespace

size_t segmented_sort_bytes(const Shape& shape, runner::DType dtype) {
    size_t scratch = 0;
    runner::visit_but_double(dtype, [&](auto of) {
        using T = typename decltype(of)::type;
        return sort_rows<T>(nullptr, scratch, nullptr, nullptr, nullptr, nullptr, shape, nullptr);
    });
    return Parts(static_cast<int>(shape.rows * shape.cols), size_of(dtype)).scratch + scratch;
}

cudaError_t select_by_segmented_sort(const runner::Call& call) {
    return runner::visit_but_double(
        call.dtype, [&](auto of) { return select<typename decltype(of)::type>(call); });
}

}  // namespace peers
