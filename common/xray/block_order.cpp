// SPDX-License-Identifier: MIT
#include "block_order.hpp"

#include <algorithm>

namespace xray {

void BlockOrder::warp_sync(unsigned warp, unsigned lanes) {
    WarpClock& known = known_[warp];
    std::array<uint32_t, 32> together{};
    for (unsigned left = lanes; left != 0; left &= left - 1) {
        const auto lane = static_cast<unsigned>(__builtin_ctz(left));
        known[lane][lane]++;
        for (unsigned i = 0; i < 32; i++) together[i] = std::max(together[i], known[lane][i]);
    }
    for (unsigned left = lanes; left != 0; left &= left - 1) {
        known[static_cast<unsigned>(__builtin_ctz(left))] = together;
    }
}

}  // namespace xray
