// SPDX-License-Identifier: MIT
// cub::DeviceFor, cub::DeviceTransform and cub::DeviceAdjacentDifference, on the host.
#pragma once
#include "cub/device/staged.cuh"
#include "cub/operators.cuh"

namespace cub {

struct DeviceFor {
    template <class Count, class Operation, detail::IfCount<Count> = 0>
    static cudaError_t Bulk(void* scratch, size_t& bytes, Count count, Operation operation,
                            cudaStream_t stream = nullptr) {
        return detail::run("cub::DeviceFor::Bulk", scratch, bytes, stream,
                           [=](detail::Transfer&) mutable {
                               for (Count i = 0; i < count; ++i) operation(i);
                           });
    }
    template <class Count, class Operation, detail::IfCount<Count> = 0>
    static cudaError_t Bulk(Count count, Operation operation, cudaStream_t stream = nullptr) {
        size_t bytes = 1;
        return Bulk(&bytes, bytes, count, operation, stream);
    }
    template <class Iterator, class Count, class Operation, detail::IfCount<Count> = 0>
    static cudaError_t ForEachN(void* scratch, size_t& bytes, Iterator first, Count count,
                                Operation operation, cudaStream_t stream = nullptr) {
        return detail::run("cub::DeviceFor::ForEach", scratch, bytes, stream,
                           [=](detail::Transfer&) mutable {
                               for (Count i = 0; i < count; ++i) operation(first[i]);
                           });
    }
    template <class Iterator, class Count, class Operation, detail::IfCount<Count> = 0>
    static cudaError_t ForEachN(Iterator first, Count count, Operation operation,
                                cudaStream_t stream = nullptr) {
        size_t bytes = 1;
        return ForEachN(&bytes, bytes, first, count, operation, stream);
    }
    template <class Iterator, class Operation>
    static cudaError_t ForEach(void* scratch, size_t& bytes, Iterator first, Iterator last,
                               Operation operation, cudaStream_t stream = nullptr) {
        return ForEachN(scratch, bytes, first, last - first, operation, stream);
    }
    template <class Iterator, class Operation>
    static cudaError_t ForEach(Iterator first, Iterator last, Operation operation,
                               cudaStream_t stream = nullptr) {
        return ForEachN(first, last - first, operation, stream);
    }
};

struct DeviceTransform {
    template <class In, class Out, class Count, class Operation, detail::IfCount<Count> = 0>
    static cudaError_t Transform(In in, Out out, Count count, Operation operation,
                                 cudaStream_t stream = nullptr) {
        size_t bytes = 1;
        return detail::run(
            "cub::DeviceTransform::Transform", &bytes, bytes, stream,
            [=](detail::Transfer& transfer) mutable {
                detail::Elements<
                    std::decay_t<std::invoke_result_t<Operation&, detail::ElementOf<In>>>>
                    results;
                for (const auto& value : transfer.read(in, static_cast<size_t>(count))) {
                    results.push_back(operation(value));
                }
                transfer.write(out, results);
            });
    }
};

struct DeviceAdjacentDifference {
    template <class In, class Out, class Operation = cuda::std::minus<>>
    static cudaError_t SubtractLeftCopy(void* scratch, size_t& bytes, In in, Out out,
                                        long long count, Operation operation = {},
                                        cudaStream_t stream = nullptr) {
        return subtract<-1>("cub::DeviceAdjacentDifference::SubtractLeftCopy", scratch, bytes, in,
                            out, count, operation, stream);
    }
    template <class In, class Out, class Operation = cuda::std::minus<>>
    static cudaError_t SubtractRightCopy(void* scratch, size_t& bytes, In in, Out out,
                                         long long count, Operation operation = {},
                                         cudaStream_t stream = nullptr) {
        return subtract<1>("cub::DeviceAdjacentDifference::SubtractRightCopy", scratch, bytes, in,
                           out, count, operation, stream);
    }
    template <class Data, class Operation = cuda::std::minus<>>
    static cudaError_t SubtractLeft(void* scratch, size_t& bytes, Data data, long long count,
                                    Operation operation = {}, cudaStream_t stream = nullptr) {
        return subtract<-1>("cub::DeviceAdjacentDifference::SubtractLeft", scratch, bytes, data,
                            data, count, operation, stream);
    }
    template <class Data, class Operation = cuda::std::minus<>>
    static cudaError_t SubtractRight(void* scratch, size_t& bytes, Data data, long long count,
                                     Operation operation = {}, cudaStream_t stream = nullptr) {
        return subtract<1>("cub::DeviceAdjacentDifference::SubtractRight", scratch, bytes, data,
                           data, count, operation, stream);
    }

private:
    template <int side, class In, class Out, class Operation>
    static cudaError_t subtract(const char* call, void* scratch, size_t& bytes, In in, Out out,
                                long long count, Operation operation, cudaStream_t stream) {
        return detail::run(call, scratch, bytes, stream, [=](detail::Transfer& transfer) mutable {
            const auto values = transfer.read(in, static_cast<size_t>(count));
            auto differences = values;
            for (size_t i = side < 0 ? 1 : 0; i + (side > 0) < values.size(); ++i) {
                differences[i] = operation(values[i], values[side < 0 ? i - 1 : i + 1]);
            }
            transfer.write(out, differences);
        });
    }
};

}  // namespace cub
