// SPDX-License-Identifier: MIT
//
// Some of many: the first ones, and a few of those that follow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace xray {

template <class Example>
struct Examples {
    static constexpr size_t kMost = 256;

    int64_t times = 0;
    std::vector<Example> kept;

    void add(const Example& example) {
        times++;
        if (kept.size() < kMost) {
            kept.push_back(example);
            return;
        }
        // Each of all is kept as likely as any other, but for the first half.
        const uint64_t drawn = static_cast<uint64_t>(times) * 0x9E3779B97F4A7C15u >> 32;
        const uint64_t slot = drawn % static_cast<uint64_t>(times);
        if (slot >= kMost / 2 && slot < kMost) kept[slot] = example;
    }

    // How often, to judge by those that are kept, of which so many are not of the kind.
    int64_t times_but(size_t not_of_it) const {
        if (not_of_it == 0) return times;
        return static_cast<int64_t>(kept.size() - not_of_it);
    }
};

}  // namespace xray
