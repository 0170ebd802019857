// SPDX-License-Identifier: MIT
//
// For tests: runs something under the x-ray and gives what was counted.
#pragma once

#include <cuda_runtime.h>

#include <vector>

#include "common/testing/catch.hpp"
#include "common/xray/counter.hpp"

namespace xray {

template <class Function>
std::vector<KernelCounts> counted(Function launch) {
    Counter counter;
    {
        const Counting counting(counter);
        launch();
    }
    REQUIRE(cudaGetLastError() == cudaSuccess);
    return counter.kernels();
}

inline int64_t requests(const std::vector<KernelCounts>& kernels, AccessKind kind) {
    return total(kernels, kind).requests;
}
inline int64_t sectors(const std::vector<KernelCounts>& kernels, AccessKind kind) {
    return total(kernels, kind).sectors;
}
inline int64_t conflicts(const std::vector<KernelCounts>& kernels) {
    return total(kernels, AccessKind::shared_load).conflicts +
           total(kernels, AccessKind::shared_store).conflicts;
}

}  // namespace xray
