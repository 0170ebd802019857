// SPDX-License-Identifier: MIT
//
// For a GPU: the kernel that tells one case from the next in Nsight Compute's table.
#include "common/runner/device.hpp"

namespace xray {
namespace {

__global__ void mark_of_a_case() {}

}  // namespace

void launch_mark(unsigned blocks) {
    mark_of_a_case<<<blocks, 1>>>();
    runner::check_cuda(cudaDeviceSynchronize(), "marking a case");
}

}  // namespace xray
