// SPDX-License-Identifier: MIT
// What is C++ for nvcc alone as C++: everything else of a device file stays as it is, byte for byte and
// line for line.
#pragma once
#include <cstddef>
#include <stdexcept>
#include <string>

#include "common/cpu_device/translate/functions.hpp"

namespace translate {

// What cannot be translated, and what would work instead.
class TranslationError : public std::runtime_error {
public:
    TranslationError(size_t line, const std::string& message)
        : std::runtime_error(message), line_(line) {}
    size_t line() const { return line_; }

private:
    size_t line_;
};

// The translation of `source`. It begins with a #line that makes compiler and debugger speak of the
// file at `path`.
//   K<<<grid, block>>>(a)          ->  ::cpu_device::named_kernel("K", ...).configured(grid, block)(a)
//   extern __shared__ T tile[];    ->  an alias of the CPU device's one dynamic shared array
//   [&](float4 x) { ... }          ->  the same, always inlined, in a device function
//   __global__ void K() { ... }    ->  its body begins with a call that tells a launch from a call
// and what else the other headers of this folder say.
// included: the functions of the program's own headers that the file includes. Code that asks for __CUDA_ARCH__ gets its
// side's answer, host or device (architecture.hpp).
std::string translate(const std::string& source, const std::string& path,
                      const Functions& included = {});

}  // namespace translate
