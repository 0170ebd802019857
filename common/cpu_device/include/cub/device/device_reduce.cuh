// SPDX-License-Identifier: MIT
// cub::DeviceReduce and cub::DeviceSegmentedReduce, on the host.
#pragma once
#include <limits>

#include "cub/device/staged.cuh"
#include "cub/operators.cuh"

namespace cub {
namespace detail {

template <class T, class Initial, class Operation>
using AccumulatorOf = std::decay_t<std::invoke_result_t<Operation&, Initial, T>>;

// The first of the best elements, by its place in the segment.
template <class Values, class IsBetter>
size_t best_of(const Values& values, size_t first, size_t last, IsBetter is_better) {
    size_t best = first;
    for (size_t i = first + 1; i < last; ++i) {
        if (is_better(values[i], values[best])) best = i;
    }
    return best;
}

struct IsLess {
    template <class T>
    bool operator()(const T& a, const T& b) const {
        return a < b;
    }
};
struct IsGreater {
    template <class T>
    bool operator()(const T& a, const T& b) const {
        return b < a;
    }
};

template <class T>
T least() {
    return std::numeric_limits<T>::lowest();
}
template <class T>
T greatest() {
    return std::numeric_limits<T>::max();
}

}  // namespace detail

struct DeviceReduce {
    template <class In, class Out, class Count, class Operation, class T>
    static cudaError_t Reduce(void* scratch, size_t& bytes, In in, Out out, Count count,
                              Operation operation, T initial, cudaStream_t stream = nullptr) {
        return run("cub::DeviceReduce::Reduce", scratch, bytes, in, out, count, operation, initial,
                   stream);
    }
    template <class In, class Out, class Count>
    static cudaError_t Sum(void* scratch, size_t& bytes, In in, Out out, Count count,
                           cudaStream_t stream = nullptr) {
        return run("cub::DeviceReduce::Sum", scratch, bytes, in, out, count, cuda::std::plus<>{},
                   detail::ElementOr<Out, detail::ElementOf<In>>{}, stream);
    }
    template <class In, class Out, class Count>
    static cudaError_t Min(void* scratch, size_t& bytes, In in, Out out, Count count,
                           cudaStream_t stream = nullptr) {
        return run("cub::DeviceReduce::Min", scratch, bytes, in, out, count, cuda::minimum<>{},
                   detail::greatest<detail::ElementOf<In>>(), stream);
    }
    template <class In, class Out, class Count>
    static cudaError_t Max(void* scratch, size_t& bytes, In in, Out out, Count count,
                           cudaStream_t stream = nullptr) {
        return run("cub::DeviceReduce::Max", scratch, bytes, in, out, count, cuda::maximum<>{},
                   detail::least<detail::ElementOf<In>>(), stream);
    }
    // CUB 2's, into a KeyValuePair, and CUB 3's, into two places.
    template <class In, class Out, class Count, detail::IfCount<Count> = 0>
    static cudaError_t ArgMin(void* scratch, size_t& bytes, In in, Out out, Count count,
                              cudaStream_t stream = nullptr) {
        return best_pair("cub::DeviceReduce::ArgMin", scratch, bytes, in, out, count,
                         detail::greatest<detail::ElementOf<In>>(), detail::IsLess{}, stream);
    }
    template <class In, class Out, class Count, detail::IfCount<Count> = 0>
    static cudaError_t ArgMax(void* scratch, size_t& bytes, In in, Out out, Count count,
                              cudaStream_t stream = nullptr) {
        return best_pair("cub::DeviceReduce::ArgMax", scratch, bytes, in, out, count,
                         detail::least<detail::ElementOf<In>>(), detail::IsGreater{}, stream);
    }
    template <class In, class Out, class Place, class Count, detail::IfCount<Count> = 0>
    static cudaError_t ArgMin(void* scratch, size_t& bytes, In in, Out out, Place place,
                              Count count, cudaStream_t stream = nullptr) {
        return best("cub::DeviceReduce::ArgMin", scratch, bytes, in, out, place, count,
                    detail::IsLess{}, stream);
    }
    template <class In, class Out, class Place, class Count, detail::IfCount<Count> = 0>
    static cudaError_t ArgMax(void* scratch, size_t& bytes, In in, Out out, Place place,
                              Count count, cudaStream_t stream = nullptr) {
        return best("cub::DeviceReduce::ArgMax", scratch, bytes, in, out, place, count,
                    detail::IsGreater{}, stream);
    }
    template <class In, class Out, class Count, class Operation, class Transform, class T>
    static cudaError_t TransformReduce(void* scratch, size_t& bytes, In in, Out out, Count count,
                                       Operation operation, Transform transform, T initial,
                                       cudaStream_t stream = nullptr) {
        return detail::run(
            "cub::DeviceReduce::TransformReduce", scratch, bytes, stream,
            [=](detail::Transfer& transfer) mutable {
                using Value = std::decay_t<std::invoke_result_t<Transform&, detail::ElementOf<In>>>;
                detail::Elements<Value> values;
                for (const auto& value : transfer.read(in, static_cast<size_t>(count))) {
                    values.push_back(transform(value));
                }
                transfer.write_one(out, total_of<Value>(values, operation, initial));
            });
    }
    // Of each run of equal keys: the key, and what its values amount to.
    template <class Keys, class UniqueKeys, class Values, class Sums, class Runs, class Operation,
              class Count>
    static cudaError_t ReduceByKey(void* scratch, size_t& bytes, Keys keys, UniqueKeys unique_keys,
                                   Values values, Sums sums, Runs runs, Operation operation,
                                   Count count, cudaStream_t stream = nullptr) {
        return detail::run(
            "cub::DeviceReduce::ReduceByKey", scratch, bytes, stream,
            [=](detail::Transfer& transfer) mutable {
                const auto all_keys = transfer.read(keys, static_cast<size_t>(count));
                const auto all_values = transfer.read(values, static_cast<size_t>(count));
                using T = detail::ElementOf<Values>;
                using Sum = detail::AccumulatorOf<T, T, Operation>;
                detail::Elements<detail::ElementOf<Keys>> found;
                detail::Elements<Sum> totals;
                const size_t size = transfer.error() == cudaSuccess ? all_keys.size() : 0;
                for (size_t first = 0, last = 0; first < size; first = last) {
                    while (last < size && all_keys[last] == all_keys[first]) ++last;
                    found.push_back(all_keys[first]);
                    totals.push_back(detail::fold<Sum>(all_values, first, last, operation));
                }
                transfer.write(unique_keys, found);
                transfer.write(sums, totals);
                transfer.write_one(runs, found.size());
            });
    }

private:
    template <class Value, class Values, class Operation, class T>
    static auto total_of(const Values& values, Operation& operation, const T& initial) {
        using Sum = detail::AccumulatorOf<Value, T, Operation>;
        if (values.empty()) return static_cast<Sum>(initial);
        return static_cast<Sum>(
            operation(initial, detail::fold<Sum>(values, 0, values.size(), operation)));
    }
    template <class In, class Out, class Count, class Operation, class T>
    static cudaError_t run(const char* call, void* scratch, size_t& bytes, In in, Out out,
                           Count count, Operation operation, T initial, cudaStream_t stream) {
        return detail::run(call, scratch, bytes, stream, [=](detail::Transfer& transfer) mutable {
            const auto values = transfer.read(in, static_cast<size_t>(count));
            transfer.write_one(out, total_of<detail::ElementOf<In>>(values, operation, initial));
        });
    }
    template <class In, class Out, class Count, class T, class IsBetter>
    static cudaError_t best_pair(const char* call, void* scratch, size_t& bytes, In in, Out out,
                                 Count count, T of_none, IsBetter is_better, cudaStream_t stream) {
        return detail::run(call, scratch, bytes, stream, [=](detail::Transfer& transfer) {
            const auto values = transfer.read(in, static_cast<size_t>(count));
            using Pair = detail::ElementOr<Out, KeyValuePair<int, T>>;
            Pair pair;
            const size_t place = detail::best_of(values, 0, values.size(), is_better);
            pair.key = values.empty() ? 1 : static_cast<decltype(pair.key)>(place);
            pair.value = values.empty() ? of_none : values[place];
            transfer.write(out, std::vector<Pair>{pair});
        });
    }
    template <class In, class Out, class Place, class Count, class IsBetter>
    static cudaError_t best(const char* call, void* scratch, size_t& bytes, In in, Out out,
                            Place place, Count count, IsBetter is_better, cudaStream_t stream) {
        return detail::run(call, scratch, bytes, stream, [=](detail::Transfer& transfer) {
            const auto values = transfer.read(in, static_cast<size_t>(count));
            if (values.empty()) return;
            const size_t found = detail::best_of(values, 0, values.size(), is_better);
            transfer.write_one(out, values[found]);
            transfer.write_one(place, found);
        });
    }
};

// Segment i is the elements from begins[i] on, before ends[i].
struct DeviceSegmentedReduce {
    template <class In, class Out, class Begins, class Ends, class Operation, class T>
    static cudaError_t Reduce(void* scratch, size_t& bytes, In in, Out out, long long segments,
                              Begins begins, Ends ends, Operation operation, T initial,
                              cudaStream_t stream = nullptr) {
        return run("cub::DeviceSegmentedReduce::Reduce", scratch, bytes, in, out, segments, begins,
                   ends, operation, initial, stream);
    }
    template <class In, class Out, class Begins, class Ends>
    static cudaError_t Sum(void* scratch, size_t& bytes, In in, Out out, long long segments,
                           Begins begins, Ends ends, cudaStream_t stream = nullptr) {
        return run("cub::DeviceSegmentedReduce::Sum", scratch, bytes, in, out, segments, begins,
                   ends, cuda::std::plus<>{}, detail::ElementOr<Out, detail::ElementOf<In>>{},
                   stream);
    }
    template <class In, class Out, class Begins, class Ends>
    static cudaError_t Min(void* scratch, size_t& bytes, In in, Out out, long long segments,
                           Begins begins, Ends ends, cudaStream_t stream = nullptr) {
        return run("cub::DeviceSegmentedReduce::Min", scratch, bytes, in, out, segments, begins,
                   ends, cuda::minimum<>{}, detail::greatest<detail::ElementOf<In>>(), stream);
    }
    template <class In, class Out, class Begins, class Ends>
    static cudaError_t Max(void* scratch, size_t& bytes, In in, Out out, long long segments,
                           Begins begins, Ends ends, cudaStream_t stream = nullptr) {
        return run("cub::DeviceSegmentedReduce::Max", scratch, bytes, in, out, segments, begins,
                   ends, cuda::maximum<>{}, detail::least<detail::ElementOf<In>>(), stream);
    }
    template <class In, class Out, class Begins, class Ends>
    static cudaError_t ArgMin(void* scratch, size_t& bytes, In in, Out out, long long segments,
                              Begins begins, Ends ends, cudaStream_t stream = nullptr) {
        return best("cub::DeviceSegmentedReduce::ArgMin", scratch, bytes, in, out, segments, begins,
                    ends, detail::greatest<detail::ElementOf<In>>(), detail::IsLess{}, stream);
    }
    template <class In, class Out, class Begins, class Ends>
    static cudaError_t ArgMax(void* scratch, size_t& bytes, In in, Out out, long long segments,
                              Begins begins, Ends ends, cudaStream_t stream = nullptr) {
        return best("cub::DeviceSegmentedReduce::ArgMax", scratch, bytes, in, out, segments, begins,
                    ends, detail::least<detail::ElementOf<In>>(), detail::IsGreater{}, stream);
    }

private:
    template <class In, class Out, class Begins, class Ends, class Operation, class T>
    static cudaError_t run(const char* call, void* scratch, size_t& bytes, In in, Out out,
                           long long segments, Begins begins, Ends ends, Operation operation,
                           T initial, cudaStream_t stream) {
        return detail::run(call, scratch, bytes, stream, [=](detail::Transfer& transfer) mutable {
            using Sum = detail::AccumulatorOf<detail::ElementOf<In>, T, Operation>;
            detail::Elements<Sum> sums;
            detail::for_each_segment(transfer, in, segments, begins, ends, [&](const auto& values) {
                sums.push_back(
                    values.empty()
                        ? static_cast<Sum>(initial)
                        : static_cast<Sum>(operation(
                              initial, detail::fold<Sum>(values, 0, values.size(), operation))));
            });
            transfer.write(out, sums);
        });
    }
    template <class In, class Out, class Begins, class Ends, class T, class IsBetter>
    static cudaError_t best(const char* call, void* scratch, size_t& bytes, In in, Out out,
                            long long segments, Begins begins, Ends ends, T of_none,
                            IsBetter is_better, cudaStream_t stream) {
        return detail::run(call, scratch, bytes, stream, [=](detail::Transfer& transfer) {
            using Pair = detail::ElementOr<Out, KeyValuePair<int, T>>;
            std::vector<Pair> pairs;
            detail::for_each_segment(transfer, in, segments, begins, ends, [&](const auto& values) {
                const size_t place = detail::best_of(values, 0, values.size(), is_better);
                Pair pair;
                pair.key = values.empty() ? 1 : static_cast<decltype(pair.key)>(place);
                pair.value = values.empty() ? of_none : values[place];
                pairs.push_back(pair);
            });
            transfer.write(out, pairs);
        });
    }
};

}  // namespace cub
