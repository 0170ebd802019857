// SPDX-License-Identifier: MIT
//
// Work that is kept: a captured graph is a list, in the order in which it was captured. Other
// orders that its dependencies might allow are not tried.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "cpu_device/types.h"

namespace cpu_device {

// Does it, and returns what the call would have returned that asked for it.
using Work = std::function<cudaError_t()>;

// The program's graph from here on, until cudaGraphDestroy.
cudaGraph_t hand_out(std::unique_ptr<CUgraph_st> graph);

}  // namespace cpu_device

struct CUgraphNode_st {
    cudaGraphNodeType type;
    cpu_device::Work work;
};

// Executable graphs share the nodes, which do not change once captured.
struct CUgraph_st {
    std::vector<std::shared_ptr<CUgraphNode_st>> nodes;
};
