// SPDX-License-Identifier: MIT
#pragma once
#include "common/cpu_device/translate/edits.hpp"
#include "common/cpu_device/translate/lexer.hpp"

namespace translate {

// Inline PTX becomes C++ on the line of its `asm`: one call of a function of cpu_device/ptx.h for each instruction.
//   asm volatile("add.s32 %0, %1, 1;" : "=r"(sum) : "r"(x[i]));
// becomes
//   do { auto&& cpu_device_o0 = (sum); auto cpu_device_r0 = ::cpu_device::ptx::fresh<'r'>(cpu_device_o0);
//        const auto cpu_device_r1 = ::cpu_device::ptx::take<'r'>(x[i]);
//        ::cpu_device::ptx::op_add<::cpu_device::ptx::mods<::cpu_device::ptx::dot_s32>>(
//            cpu_device_r0, cpu_device_r1, ::cpu_device::ptx::Integer{1});
//        ::cpu_device::ptx::give<'r'>(cpu_device_o0, cpu_device_r0); } while (0);
// What cannot be translated stops the compiler, unless an #if takes it away. asm of the host's functions stays as it is.
// all: the regions of the file, for macros that stand for a part of a text.
// Returns whether there was any.
bool translate_assembly(const Region& region, const std::vector<Region>& all, Edits& edits);

}  // namespace translate
