// SPDX-License-Identifier: MIT
// What this program was built from and with. Defined by common/cmake/build_info.cpp.in.
#pragma once
#include <string>

namespace runner {

struct BuildInfo {
    std::string commit;    // with "-dirty" where the tree had changes
    std::string backend;   // "cpu" or "cuda"
    std::string compiler;  // "GNU 12.2.0"
    std::string nvcc;      // "13.0.88", empty for the cpu backend
};
BuildInfo build_info();

// Whether it was built for a GPU. Otherwise kernels run on the CPU device.
inline bool on_gpu() {
    return build_info().backend == "cuda";
}

}  // namespace runner
