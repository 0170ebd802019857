// SPDX-License-Identifier: MIT
// What `fuzz` chooses by.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "common/runner/random.cuh"

namespace runner {

// Draws that depend on how many were made before: enough for one case.
class Draws {
public:
    Draws(uint64_t seed, int64_t number) : state_(mix(seed) ^ static_cast<uint64_t>(number)) {}
    uint64_t bits() { return state_ = mix(state_); }
    int64_t below(int64_t limit) {
        return static_cast<int64_t>(bits() % static_cast<uint64_t>(limit));
    }
    template <class T>
    const T& one_of(const std::vector<T>& choices) {
        return choices[static_cast<size_t>(below(static_cast<int64_t>(choices.size())))];
    }
    // 1 to limit, each order of magnitude as likely as another.
    int64_t size_up_to(int64_t limit) {
        const double exponent = unit(bits(), true) * std::log2(static_cast<double>(limit) + 1);
        return std::clamp<int64_t>(static_cast<int64_t>(std::exp2(exponent)), 1, limit);
    }
    // The same; half of them lie at, just below or just above a multiple of a power of two.
    int64_t width_up_to(int64_t limit) {
        const int64_t width = size_up_to(limit);
        if (below(2) == 0) return width;
        const int64_t step = int64_t{1} << below(11);
        const int64_t near = (width + step / 2) / step * step + below(3) - 1;
        return std::clamp<int64_t>(near, 1, limit);
    }

private:
    uint64_t state_;
};

}  // namespace runner
