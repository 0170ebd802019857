// SPDX-License-Identifier: MIT
// The toolkit's own 16-bit floats, computed on the host: compiled only where there is a toolkit,
// with its headers in place of the stand-ins.
#define HALF_FUNCTIONS toolkit
#include "common/cpu_device/tests/half_functions.hpp"

namespace half_test {

Functions toolkit_half() {
    return toolkit::half_functions();
}
Functions toolkit_bfloat16() {
    return toolkit::bfloat16_functions();
}

}  // namespace half_test
