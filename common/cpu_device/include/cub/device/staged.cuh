// SPDX-License-Identifier: MIT
// What CUB's device-wide algorithms have in common here: they are no kernels, but plain loops of the host, so that
// nothing of them is counted. A plain array is copied to the host and back; elements of any other iterator are
// read one by one, and checked as accesses of the host's.
#pragma once
#include <cstddef>
#include <functional>
#include <iterator>
#include <type_traits>
#include <utility>
#include <vector>

#include "cpu_device/runtime_api.h"

namespace cpu_device {

// Whether the host may look at so many bytes: not where only the ends of grids run (launch.hpp), on more than there is.
cudaError_t work_on_host(size_t bytes);

// See library_work.hpp.
cudaError_t submit_library_work(const char* call, cudaStream_t stream,
                                std::function<cudaError_t()> work);

}  // namespace cpu_device

namespace cub::detail {

template <class Iterator>
using ElementOf = typename std::iterator_traits<Iterator>::value_type;

// What an output iterator takes; `Otherwise` where it takes anything.
template <class Iterator, class Otherwise>
using ElementOr =
    std::conditional_t<std::is_void_v<ElementOf<Iterator>>, Otherwise, ElementOf<Iterator>>;

// Elements on the host. (A vector of bool's elements have no addresses.)
template <class T>
using Elements = std::vector<std::conditional_t<std::is_same_v<T, bool>, unsigned char, T>>;

// Moves elements between the host and iterators of the device's, until something fails.
class Transfer {
public:
    template <class Iterator>
    auto read(Iterator from, size_t count) {
        using T = ElementOf<Iterator>;
        Elements<T> values;
        if (error_ == cudaSuccess) error_ = cpu_device::work_on_host(count * sizeof(T));
        if (error_ != cudaSuccess || count == 0) return values;
        if constexpr (std::is_pointer_v<Iterator> && std::is_default_constructible_v<T>) {
            values.resize(count);
            error_ = cudaMemcpy(values.data(), from, count * sizeof(T), cudaMemcpyDefault);
        } else {
            values.reserve(count);
            for (size_t i = 0; i < count; ++i) values.push_back(from[static_cast<ptrdiff_t>(i)]);
        }
        if (error_ != cudaSuccess) values.clear();
        return values;
    }
    template <class Iterator, class Values>
    void write(Iterator to, const Values& values) {
        using T = ElementOf<Iterator>;
        if (error_ != cudaSuccess || values.empty()) return;
        if constexpr (std::is_pointer_v<Iterator>) {
            const Elements<T> converted(values.begin(), values.end());
            error_ =
                cudaMemcpy(to, converted.data(), converted.size() * sizeof(T), cudaMemcpyDefault);
        } else {
            for (size_t i = 0; i < values.size(); ++i) to[static_cast<ptrdiff_t>(i)] = values[i];
        }
    }
    template <class Iterator, class T>
    void write_one(Iterator to, const T& value) {
        write(to, std::vector<ElementOr<Iterator, T>>{static_cast<ElementOr<Iterator, T>>(value)});
    }

    cudaError_t error() const { return error_; }

private:
    cudaError_t error_ = cudaSuccess;
};

// The first call of the two asks how much scratch memory there has to be; the second does `work(Transfer&)`.
template <class Work>
cudaError_t run(const char* call, const void* scratch, size_t& bytes, cudaStream_t stream,
                Work work) {
    if (scratch == nullptr) {
        bytes = 1;
        return cudaSuccess;
    }
    return cpu_device::submit_library_work(call, stream, [work = std::move(work)]() mutable {
        Transfer transfer;
        work(transfer);
        return transfer.error();
    });
}

template <class T>
using IfCount = std::enable_if_t<std::is_integral_v<T>, int>;

// Neighbours first, as a GPU's tree does: a sum of many floats loses little. `first` < `last`.
template <class T, class Values, class Operation>
T fold(const Values& values, size_t first, size_t last, Operation& operation) {
    if (last - first == 1) return static_cast<T>(values[first]);
    const size_t middle = first + (last - first) / 2;
    return static_cast<T>(operation(fold<T>(values, first, middle, operation),
                                    fold<T>(values, middle, last, operation)));
}

// Calls of_segment with the elements of each segment, which reach from begins[i] to ends[i].
template <class In, class Begins, class Ends, class OfSegment>
void for_each_segment(Transfer& transfer, In in, long long segments, Begins begins, Ends ends,
                      OfSegment of_segment) {
    const auto firsts = transfer.read(begins, static_cast<size_t>(segments));
    const auto lasts = transfer.read(ends, static_cast<size_t>(segments));
    for (size_t i = 0; i < lasts.size() && transfer.error() == cudaSuccess; ++i) {
        const auto first = static_cast<ptrdiff_t>(firsts[i]),
                   last = static_cast<ptrdiff_t>(lasts[i]);
        of_segment(transfer.read(in + first, last > first ? static_cast<size_t>(last - first) : 0));
    }
}

}  // namespace cub::detail
