// SPDX-License-Identifier: MIT
// cub::DeviceSelect and cub::DevicePartition, on the host.
#pragma once
#include <algorithm>

#include "cub/device/staged.cuh"
#include "cub/operators.cuh"

namespace cub {
namespace detail {

// Which elements are taken: by flags, or by an operator.
template <class Flags>
struct ByFlags {
    Flags flags;
    template <class Values>
    std::vector<bool> operator()(Transfer& transfer, const Values& values) {
        const auto read = transfer.read(flags, values.size());
        std::vector<bool> taken;
        for (const auto& flag : read) taken.push_back(static_cast<bool>(flag));
        return taken;
    }
};
template <class Select>
struct ByOperator {
    Select select;
    template <class Values>
    std::vector<bool> operator()(Transfer&, const Values& values) {
        std::vector<bool> taken;
        for (const auto& value : values) taken.push_back(static_cast<bool>(select(value)));
        return taken;
    }
};
template <class Flags, class Select>
struct ByFlagsAndOperator {
    Flags flags;
    Select select;
    template <class Values>
    std::vector<bool> operator()(Transfer& transfer, const Values& values) {
        const auto read = transfer.read(flags, values.size());
        std::vector<bool> taken;
        for (const auto& flag : read) taken.push_back(static_cast<bool>(select(flag)));
        return taken;
    }
};
// The first of each run of equal elements.
template <class Equal>
struct FirstOfRuns {
    Equal equal;
    template <class Values>
    std::vector<bool> operator()(Transfer&, const Values& values) {
        std::vector<bool> taken;
        for (size_t i = 0; i < values.size(); ++i) {
            taken.push_back(i == 0 || !equal(values[i - 1], values[i]));
        }
        return taken;
    }
};

// The selected elements in order; behind them, where the others are kept, those from last to first.
template <bool keeps_others, class In, class Out, class Selected, class Count, class Choice>
cudaError_t select(const char* call, void* scratch, size_t& bytes, In in, Out out,
                   Selected selected, Count count, Choice choice, cudaStream_t stream) {
    return run(call, scratch, bytes, stream, [=](Transfer& transfer) mutable {
        const auto values = transfer.read(in, static_cast<size_t>(count));
        const std::vector<bool> taken = choice(transfer, values);
        auto first = values, others = values;
        first.clear();
        others.clear();
        for (size_t i = 0; i < taken.size(); ++i) (taken[i] ? first : others).push_back(values[i]);
        const size_t found = first.size();
        if (keeps_others) first.insert(first.end(), others.rbegin(), others.rend());
        transfer.write(out, first);
        transfer.write_one(selected, found);
    });
}

}  // namespace detail

struct DeviceSelect {
    template <class In, class Flags, class Out, class Selected, class Count,
              detail::IfCount<Count> = 0>
    static cudaError_t Flagged(void* scratch, size_t& bytes, In in, Flags flags, Out out,
                               Selected selected, Count count, cudaStream_t stream = nullptr) {
        return detail::select<false>("cub::DeviceSelect::Flagged", scratch, bytes, in, out,
                                     selected, count, detail::ByFlags<Flags>{flags}, stream);
    }
    template <class Data, class Flags, class Selected, class Count, detail::IfCount<Count> = 0>
    static cudaError_t Flagged(void* scratch, size_t& bytes, Data data, Flags flags,
                               Selected selected, Count count, cudaStream_t stream = nullptr) {
        return Flagged(scratch, bytes, data, flags, data, selected, count, stream);
    }
    template <class In, class Out, class Selected, class Count, class Select>
    static cudaError_t If(void* scratch, size_t& bytes, In in, Out out, Selected selected,
                          Count count, Select select, cudaStream_t stream = nullptr) {
        return detail::select<false>("cub::DeviceSelect::If", scratch, bytes, in, out, selected,
                                     count, detail::ByOperator<Select>{select}, stream);
    }
    template <class Data, class Selected, class Count, class Select, detail::IfCount<Count> = 0>
    static cudaError_t If(void* scratch, size_t& bytes, Data data, Selected selected, Count count,
                          Select select, cudaStream_t stream = nullptr) {
        return detail::select<false>("cub::DeviceSelect::If", scratch, bytes, data, data, selected,
                                     count, detail::ByOperator<Select>{select}, stream);
    }
    template <class In, class Flags, class Out, class Selected, class Count, class Select>
    static cudaError_t FlaggedIf(void* scratch, size_t& bytes, In in, Flags flags, Out out,
                                 Selected selected, Count count, Select select,
                                 cudaStream_t stream = nullptr) {
        return detail::select<false>(
            "cub::DeviceSelect::FlaggedIf", scratch, bytes, in, out, selected, count,
            detail::ByFlagsAndOperator<Flags, Select>{flags, select}, stream);
    }
    template <class In, class Out, class Selected, class Count>
    static cudaError_t Unique(void* scratch, size_t& bytes, In in, Out out, Selected selected,
                              Count count, cudaStream_t stream = nullptr) {
        return detail::select<false>("cub::DeviceSelect::Unique", scratch, bytes, in, out, selected,
                                     count, detail::FirstOfRuns<Equality>{}, stream);
    }
    template <class Keys, class Values, class UniqueKeys, class UniqueValues, class Selected,
              class Count, class Equal = Equality>
    static cudaError_t UniqueByKey(void* scratch, size_t& bytes, Keys keys, Values values,
                                   UniqueKeys unique_keys, UniqueValues unique_values,
                                   Selected selected, Count count, Equal equal = {},
                                   cudaStream_t stream = nullptr) {
        return detail::run(
            "cub::DeviceSelect::UniqueByKey", scratch, bytes, stream,
            [=](detail::Transfer& transfer) mutable {
                const auto all_keys = transfer.read(keys, static_cast<size_t>(count));
                const auto all_values = transfer.read(values, static_cast<size_t>(count));
                const std::vector<bool> taken =
                    detail::FirstOfRuns<Equal>{equal}(transfer, all_keys);
                auto found_keys = all_keys;
                auto found_values = all_values;
                found_keys.clear();
                found_values.clear();
                for (size_t i = 0; i < all_values.size(); ++i) {
                    if (!taken[i]) continue;
                    found_keys.push_back(all_keys[i]);
                    found_values.push_back(all_values[i]);
                }
                transfer.write(unique_keys, found_keys);
                transfer.write(unique_values, found_values);
                transfer.write_one(selected, found_keys.size());
            });
    }
};

struct DevicePartition {
    template <class In, class Flags, class Out, class Selected, class Count>
    static cudaError_t Flagged(void* scratch, size_t& bytes, In in, Flags flags, Out out,
                               Selected selected, Count count, cudaStream_t stream = nullptr) {
        return detail::select<true>("cub::DevicePartition::Flagged", scratch, bytes, in, out,
                                    selected, count, detail::ByFlags<Flags>{flags}, stream);
    }
    template <class In, class Out, class Selected, class Count, class Select,
              detail::IfCount<Count> = 0>
    static cudaError_t If(void* scratch, size_t& bytes, In in, Out out, Selected selected,
                          Count count, Select select, cudaStream_t stream = nullptr) {
        return detail::select<true>("cub::DevicePartition::If", scratch, bytes, in, out, selected,
                                    count, detail::ByOperator<Select>{select}, stream);
    }
    // Three parts, each in order: `selected` gets the sizes of two.
    template <class In, class First, class Second, class Others, class Selected, class Count,
              class SelectFirst, class SelectSecond>
    static cudaError_t If(void* scratch, size_t& bytes, In in, First first, Second second,
                          Others others, Selected selected, Count count, SelectFirst select_first,
                          SelectSecond select_second, cudaStream_t stream = nullptr) {
        return detail::run(
            "cub::DevicePartition::If", scratch, bytes, stream,
            [=](detail::Transfer& transfer) mutable {
                const auto values = transfer.read(in, static_cast<size_t>(count));
                auto one = values, two = values, three = values;
                one.clear();
                two.clear();
                three.clear();
                for (const auto& value : values) {
                    (select_first(value)    ? one
                     : select_second(value) ? two
                                            : three)
                        .push_back(value);
                }
                transfer.write(first, one);
                transfer.write(second, two);
                transfer.write(others, three);
                transfer.write(selected, std::vector<size_t>{one.size(), two.size()});
            });
    }
};

}  // namespace cub
