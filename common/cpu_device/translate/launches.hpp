// SPDX-License-Identifier: MIT
#pragma once
#include "common/cpu_device/translate/edits.hpp"
#include "common/cpu_device/translate/lexer.hpp"

namespace translate {

// Each K<<<a, b>>> becomes ::cpu_device::kernel("K", how to call K, how to get its address).on(a,
// b). Every piece keeps its place, hence every token its line; the arguments behind stay as they
// are.
void rewrite_launches(const Region& region, Edits& edits);

}  // namespace translate
