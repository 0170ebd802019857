// SPDX-License-Identifier: MIT
// Whether a launch has left its inputs alone. A check that computes the reference from what a launcher left of
// them judges another problem.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "common/runner/operand.hpp"

namespace runner {

// What has become of an input.
struct Overwritten {
    std::string operand;
    int64_t elements = 0;  // that differ, bit by bit
    int64_t first = 0;     // the first of them
    std::string
        text;  // "x was overwritten: 3 of 132 elements, first at (1, 7): 0.25 before, 0.5 now"
};

// The operand as it was and as it is, both in device memory, rows close together.
std::optional<Overwritten> overwritten(const Operand& operand, const void* before, const void* now);

// 64 bits that differ, but for one case in 2^64, where the bytes do: for a comparison without a copy. Waits for the
// device.
uint64_t digest_of(const void* device, size_t bytes);

}  // namespace runner
