// SPDX-License-Identifier: MIT
// Which instructions and special registers of PTX the CPU device has: what cpu_device/ptx.h defines.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

namespace translate {

// The longest known name that the opcode begins with: of {"cp", "async", "wait_group"} all three, of
// {"add", "rn", "f32"} the first. 0 where there is none.
size_t parts_of_name(const std::vector<std::string>& opcode);

// Whether PTX has a special register of that name ("tid.x") and the CPU device knows it.
bool is_special_register(const std::string& name);

// Whether the instruction's sources are integers with or without a sign, so that no float may stand for one.
bool reads_integers(const std::vector<std::string>& opcode);

// Whether ptxas asks for immediates that the compiler judges: those of wgmma and setmaxnreg.
bool takes_constants(const std::vector<std::string>& opcode);

// Whether the carry of one instruction is an operand of the next: add.cc, addc.
bool uses_carry(const std::vector<std::string>& opcode);

}  // namespace translate
