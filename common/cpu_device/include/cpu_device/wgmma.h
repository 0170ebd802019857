// SPDX-License-Identifier: MIT
// What wgmma and setmaxnreg ask of the CPU device: four warps multiply matrices together while their threads continue.
#pragma once
#include "cpu_device/integers.h"
#include <cstddef>

#include "cpu_device/matrix_instructions.h"

namespace cpu_device {

// The type of the accumulators. A register holds one, or two of f16.
enum class Sums : uint8_t { f32, f16, s32 };

// D = A B, or A B + D: A has 64 rows and k columns, B k rows and n columns.
struct WarpgroupProduct {
    uint16_t n, k;
    Element of_a, of_b;
    Sums sums;
    bool a_is_in_registers;
    bool a_is_transposed, b_is_transposed;  // MN-major: in memory k is the slower index
    bool is_negative;                       // -A B
    bool saturates;

    constexpr unsigned accumulators() const { return n / (sums == Sums::f16 ? 4u : 2u); }
    constexpr bool operator==(const WarpgroupProduct& other) const {
        return n == other.n && k == other.k && of_a == other.of_a && of_b == other.of_b &&
               sums == other.sums && a_is_in_registers == other.a_is_in_registers &&
               a_is_transposed == other.a_is_transposed &&
               b_is_transposed == other.b_is_transposed && is_negative == other.is_negative &&
               saturates == other.saturates;
    }
};

// wgmma.mma_async. `a` is a descriptor or, together with `more_of_a`, the lane's four registers. The variadic arguments
// are pointers to the lane's accumulators, which the covering wait_for_products() writes.
void multiply_warpgroup(const WarpgroupProduct* product, int adds, uint64_t b, uint64_t a,
                        uint64_t more_of_a, ...);
void fence_products();
void commit_products();
// Waits for all but the warp's latest `but` groups of products.
void wait_for_products(size_t but);

// setmaxnreg.inc, .dec
void set_most_registers(unsigned registers, bool increases);

}  // namespace cpu_device
