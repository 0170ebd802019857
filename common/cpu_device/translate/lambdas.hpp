// SPDX-License-Identifier: MIT
#pragma once
#include "common/cpu_device/translate/edits.hpp"
#include "common/cpu_device/translate/lexer.hpp"

namespace translate {

// Lambdas in device functions are always inlined, as those functions are: g++ counts no access that is
// an argument of a call, `f(x[i])` of a float4, nor one that takes its result. (Not those that call
// themselves, nor those in a constructor with braces in its list of initializers.)
void inline_lambdas(const Region& region, Edits& edits);

}  // namespace translate
