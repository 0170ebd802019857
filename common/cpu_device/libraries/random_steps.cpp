// SPDX-License-Identifier: MIT
//
// Many steps of cuRAND's generators at once. A step is linear, so that 2^n of them are a matrix, the square of that for
// 2^(n-1).
#include <array>
#include <cstdint>
#include <vector>

#include "curand_kernel.h"

namespace cpu_device {
namespace {

// ---------------------------------------------------------------- XORWOW: bits, added modulo 2

constexpr unsigned kBits = 160;
using Words = std::array<uint32_t, kBits / 32>;
using BitMatrix = std::array<Words, kBits>;  // what becomes of each bit

Words step(const Words& v) {
    const uint32_t t = v[0] ^ v[0] >> 2;
    return {v[1], v[2], v[3], v[4], v[4] ^ v[4] << 4 ^ t ^ t << 1};
}

Words applied(const BitMatrix& matrix, const Words& to) {
    Words sum{};
    for (unsigned bit = 0; bit < kBits; ++bit) {
        if ((to[bit / 32] >> bit % 32 & 1) == 0) continue;
        for (size_t i = 0; i < sum.size(); ++i) sum[i] ^= matrix[bit][i];
    }
    return sum;
}

// [n]: 2^n steps.
const std::vector<BitMatrix>& xorwow_powers() {
    constexpr size_t kPowers = 67 + 64;
    static const std::vector<BitMatrix>& powers = *new std::vector<BitMatrix>([] {
        std::vector<BitMatrix> made(kPowers);
        for (unsigned bit = 0; bit < kBits; ++bit) {
            Words one{};
            one[bit / 32] = uint32_t{1} << bit % 32;
            made[0][bit] = step(one);
        }
        for (size_t n = 1; n < kPowers; ++n) {
            for (unsigned bit = 0; bit < kBits; ++bit) {
                made[n][bit] = applied(made[n - 1], made[n - 1][bit]);
            }
        }
        return made;
    }());
    return powers;
}

// ---------------------------------------------------------------- MRG32k3a: two recurrences modulo primes

using Matrix = std::array<std::array<uint64_t, 3>, 3>;

Matrix product(const Matrix& a, const Matrix& b, uint64_t modulus) {
    Matrix c{};
    for (size_t i = 0; i < 3; ++i) {
        for (size_t j = 0; j < 3; ++j) {
            for (size_t k = 0; k < 3; ++k) {
                c[i][j] = (c[i][j] + a[i][k] * b[k][j] % modulus) % modulus;
            }
        }
    }
    return c;
}

void skip(unsigned (&state)[3], Matrix step, uint64_t modulus, unsigned long long count,
          unsigned log2_step) {
    for (unsigned i = 0; i < log2_step; ++i) step = product(step, step, modulus);
    for (; count != 0; count >>= 1) {
        if ((count & 1) != 0) {
            uint64_t next[3] = {};
            for (size_t i = 0; i < 3; ++i) {
                for (size_t k = 0; k < 3; ++k) {
                    next[i] = (next[i] + step[i][k] * state[k] % modulus) % modulus;
                }
            }
            for (size_t i = 0; i < 3; ++i) state[i] = static_cast<unsigned>(next[i]);
        }
        step = product(step, step, modulus);
    }
}

}  // namespace

void skip_xorwow(unsigned (&words)[5], unsigned long long count, unsigned log2_step) {
    if (count == 0) return;
    Words at{words[0], words[1], words[2], words[3], words[4]};
    for (size_t n = log2_step; count != 0; count >>= 1, ++n) {
        if ((count & 1) != 0) at = applied(xorwow_powers()[n], at);
    }
    for (size_t i = 0; i < at.size(); ++i) words[i] = at[i];
}

void skip_mrg32k3a(unsigned (&first)[3], unsigned (&second)[3], unsigned long long count,
                   unsigned log2_step) {
    if (count == 0) return;
    constexpr uint64_t kFirst = 4294967087, kSecond = 4294944443;
    skip(first, {{{0, 1, 0}, {0, 0, 1}, {kFirst - 810728, 1403580, 0}}}, kFirst, count, log2_step);
    skip(second, {{{0, 1, 0}, {0, 0, 1}, {kSecond - 1370589, 0, 527612}}}, kSecond, count,
         log2_step);
}

}  // namespace cpu_device
