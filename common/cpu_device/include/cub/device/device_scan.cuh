// SPDX-License-Identifier: MIT
// cub::DeviceScan, on the host.
#pragma once
#include "cub/device/staged.cuh"
#include "cub/operators.cuh"

namespace cub {

struct DeviceScan {
    template <class In, class Out, class Operation, class T, class Count,
              detail::IfCount<Count> = 0>
    static cudaError_t ExclusiveScan(void* scratch, size_t& bytes, In in, Out out,
                                     Operation operation, T initial, Count count,
                                     cudaStream_t stream = nullptr) {
        return scan<true, true>("cub::DeviceScan::ExclusiveScan", scratch, bytes, in, out,
                                operation, initial, nullptr, Equality{}, count, stream);
    }
    template <class In, class Out, class Operation, class Count, detail::IfCount<Count> = 0>
    static cudaError_t InclusiveScan(void* scratch, size_t& bytes, In in, Out out,
                                     Operation operation, Count count,
                                     cudaStream_t stream = nullptr) {
        return scan<false, false>("cub::DeviceScan::InclusiveScan", scratch, bytes, in, out,
                                  operation, 0, nullptr, Equality{}, count, stream);
    }
    template <class In, class Out, class Operation, class T, class Count,
              detail::IfCount<Count> = 0>
    static cudaError_t InclusiveScanInit(void* scratch, size_t& bytes, In in, Out out,
                                         Operation operation, T initial, Count count,
                                         cudaStream_t stream = nullptr) {
        return scan<false, true>("cub::DeviceScan::InclusiveScanInit", scratch, bytes, in, out,
                                 operation, initial, nullptr, Equality{}, count, stream);
    }
    template <class In, class Out, class Count, detail::IfCount<Count> = 0>
    static cudaError_t ExclusiveSum(void* scratch, size_t& bytes, In in, Out out, Count count,
                                    cudaStream_t stream = nullptr) {
        return scan<true, true>("cub::DeviceScan::ExclusiveSum", scratch, bytes, in, out,
                                cuda::std::plus<>{}, detail::ElementOf<In>{}, nullptr, Equality{},
                                count, stream);
    }
    template <class In, class Out, class Count, detail::IfCount<Count> = 0>
    static cudaError_t InclusiveSum(void* scratch, size_t& bytes, In in, Out out, Count count,
                                    cudaStream_t stream = nullptr) {
        return scan<false, false>("cub::DeviceScan::InclusiveSum", scratch, bytes, in, out,
                                  cuda::std::plus<>{}, 0, nullptr, Equality{}, count, stream);
    }

    // In place.
    template <class Data, class Operation, class T, class Count, detail::IfCount<Count> = 0>
    static cudaError_t ExclusiveScan(void* scratch, size_t& bytes, Data data, Operation operation,
                                     T initial, Count count, cudaStream_t stream = nullptr) {
        return ExclusiveScan(scratch, bytes, data, data, operation, initial, count, stream);
    }
    template <class Data, class Operation, class Count, detail::IfCount<Count> = 0>
    static cudaError_t InclusiveScan(void* scratch, size_t& bytes, Data data, Operation operation,
                                     Count count, cudaStream_t stream = nullptr) {
        return InclusiveScan(scratch, bytes, data, data, operation, count, stream);
    }
    template <class Data, class Count, detail::IfCount<Count> = 0>
    static cudaError_t ExclusiveSum(void* scratch, size_t& bytes, Data data, Count count,
                                    cudaStream_t stream = nullptr) {
        return ExclusiveSum(scratch, bytes, data, data, count, stream);
    }
    template <class Data, class Count, detail::IfCount<Count> = 0>
    static cudaError_t InclusiveSum(void* scratch, size_t& bytes, Data data, Count count,
                                    cudaStream_t stream = nullptr) {
        return InclusiveSum(scratch, bytes, data, data, count, stream);
    }

    // Each run of equal keys by itself.
    template <class Keys, class In, class Out, class Operation, class T, class Count,
              class Equal = Equality, detail::IfCount<Count> = 0>
    static cudaError_t ExclusiveScanByKey(void* scratch, size_t& bytes, Keys keys, In in, Out out,
                                          Operation operation, T initial, Count count,
                                          Equal equal = {}, cudaStream_t stream = nullptr) {
        return scan<true, true>("cub::DeviceScan::ExclusiveScanByKey", scratch, bytes, in, out,
                                operation, initial, keys, equal, count, stream);
    }
    template <class Keys, class In, class Out, class Operation, class Count, class Equal = Equality,
              detail::IfCount<Count> = 0>
    static cudaError_t InclusiveScanByKey(void* scratch, size_t& bytes, Keys keys, In in, Out out,
                                          Operation operation, Count count, Equal equal = {},
                                          cudaStream_t stream = nullptr) {
        return scan<false, false>("cub::DeviceScan::InclusiveScanByKey", scratch, bytes, in, out,
                                  operation, 0, keys, equal, count, stream);
    }
    template <class Keys, class In, class Out, class Count, class Equal = Equality,
              detail::IfCount<Count> = 0>
    static cudaError_t ExclusiveSumByKey(void* scratch, size_t& bytes, Keys keys, In in, Out out,
                                         Count count, Equal equal = {},
                                         cudaStream_t stream = nullptr) {
        return scan<true, true>("cub::DeviceScan::ExclusiveSumByKey", scratch, bytes, in, out,
                                cuda::std::plus<>{}, detail::ElementOf<In>{}, keys, equal, count,
                                stream);
    }
    template <class Keys, class In, class Out, class Count, class Equal = Equality,
              detail::IfCount<Count> = 0>
    static cudaError_t InclusiveSumByKey(void* scratch, size_t& bytes, Keys keys, In in, Out out,
                                         Count count, Equal equal = {},
                                         cudaStream_t stream = nullptr) {
        return scan<false, false>("cub::DeviceScan::InclusiveSumByKey", scratch, bytes, in, out,
                                  cuda::std::plus<>{}, 0, keys, equal, count, stream);
    }

private:
    // Keys may be none: nullptr.
    template <bool is_exclusive, bool has_initial, class In, class Out, class Operation, class T,
              class Keys, class Equal, class Count>
    static cudaError_t scan(const char* call, void* scratch, size_t& bytes, In in, Out out,
                            Operation operation, T initial, Keys keys, Equal equal, Count count,
                            cudaStream_t stream) {
        return detail::run(call, scratch, bytes, stream, [=](detail::Transfer& transfer) mutable {
            using Value = detail::ElementOf<In>;
            using First = std::conditional_t<has_initial, T, Value>;
            using Sum = std::decay_t<std::invoke_result_t<Operation&, First, Value>>;
            const auto size = static_cast<size_t>(count);
            const auto values = transfer.read(in, size);
            detail::Elements<Sum> sums;
            sums.reserve(values.size());
            const auto scan_run = [&](size_t first, size_t last) {
                Sum sum = [&] {
                    if constexpr (has_initial) {
                        return static_cast<Sum>(initial);
                    } else {
                        return static_cast<Sum>(values[first]);
                    }
                }();
                for (size_t i = first; i < last; ++i) {
                    if constexpr (is_exclusive) sums.push_back(sum);
                    if (has_initial || i > first) sum = operation(sum, values[i]);
                    if constexpr (!is_exclusive) sums.push_back(sum);
                }
            };
            if constexpr (std::is_same_v<Keys, std::nullptr_t>) {
                if (!values.empty()) scan_run(0, values.size());
            } else {
                const auto all_keys = transfer.read(keys, size);
                for (size_t first = 0, last = 0; first < all_keys.size(); first = last) {
                    while (last < all_keys.size() &&
                           (last == first || equal(all_keys[last - 1], all_keys[last])))
                        ++last;
                    scan_run(first, last);
                }
            }
            transfer.write(out, sums);
        });
    }
};

}  // namespace cub
