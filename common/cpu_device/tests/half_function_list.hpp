// SPDX-License-Identifier: MIT
// Functions of 16-bit floats as functions from bits to bits, so that two implementations can be
// compared without knowing each other's types.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace half_test {

// name, and what it makes of the bits of one or two arguments.
struct Unary {
    std::string name;
    uint64_t (*call)(uint16_t);
};
struct Binary {
    std::string name;
    uint64_t (*call)(uint16_t, uint16_t);
};
struct FromFloat {
    std::string name;
    uint64_t (*call)(float);
};
struct FromInteger {
    std::string name;
    uint64_t (*call)(long long);
};

struct Functions {
    std::vector<Unary> unary;
    std::vector<Binary> binary;  // also of pairs: (a, b) with (b, a)
    std::vector<FromFloat> from_float;
    std::vector<FromInteger> from_integer;
};

// What the toolkit's own headers make of them.
Functions toolkit_half();
Functions toolkit_bfloat16();

}  // namespace half_test
