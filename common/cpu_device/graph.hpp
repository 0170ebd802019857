// SPDX-License-Identifier: MIT
//
// Work that is kept: a graph's nodes, in the order in which they were captured or added, and what each depends on.
// Other orders that the dependencies might allow are not tried.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "cpu_device/types.h"

namespace cpu_device {

// Does it, and returns what the call would have returned that asked for it.
using Work = std::function<cudaError_t()>;

// What a node does. Never changes once made: a node that is to do something else gets another one, and executable
// graphs keep theirs.
struct NodeBody {
    cudaGraphNodeParams of{};  // its type; of what was captured no more
    bool is_captured = false;
    Work work;                                             // none of nodes that run graphs
    std::vector<std::vector<char>> values;                 // of a kernel's parameters,
    std::vector<void*> pointers;                           // where they lie
    std::vector<std::shared_ptr<CUgraph_st>> graphs;       // of a child or conditional node
    std::map<int, cudaLaunchAttributeValue> attributes{};  // of a kernel, by their ids
};

// The program's graph from here on, until cudaGraphDestroy.
cudaGraph_t hand_out(std::unique_ptr<CUgraph_st> graph);

// The nodes after which comes what is captured next.
using Frontier = std::vector<CUgraphNode_st*>;

// Adds work that comes after the frontier, and is the frontier from then on.
void append(CUgraph_st& graph, cudaGraphNodeType type, Work work, Frontier& frontier);

}  // namespace cpu_device

struct CUgraphNode_st {
    std::shared_ptr<const cpu_device::NodeBody> body;
    CUgraph_st* graph;
    std::vector<CUgraphNode_st*> dependencies;
    CUgraphNode_st* original = nullptr;  // whose clone it is
};

struct CUgraph_st {
    std::vector<std::shared_ptr<CUgraphNode_st>> nodes;
    std::map<cudaUserObject_t, unsigned> objects;              // and how often it holds each
    std::map<cudaGraphConditionalHandle, unsigned> at_launch;  // values that a launch begins with
};
