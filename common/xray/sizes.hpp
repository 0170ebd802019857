// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>

namespace xray {

constexpr unsigned kWarpSize = 32;
constexpr uintptr_t kWordBytes = 4;  // of shared memory, and what races are told apart by

}  // namespace xray
