// SPDX-License-Identifier: MIT
//
// What nodes of a graph do, and the changes to graphs that the calls for each type of node come down to.
#pragma once

#include "graph.hpp"

namespace cpu_device {

// What a node with these parameters does, or why there is none.
cudaError_t make_body(const cudaGraphNodeParams& of, std::shared_ptr<const NodeBody>& body);

// What the kernels have set, or the launch.
unsigned conditional_value(cudaGraphConditionalHandle handle);

// In graphs.cpp.
std::shared_ptr<CUgraph_st> graph_of(cudaGraph_t graph);  // null: the program has none of that name
std::unique_ptr<CUgraph_st> clone_of(const CUgraph_st& original);
cudaError_t add_node(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                     size_t count, const cudaGraphNodeParams& of);
cudaError_t change_node(cudaGraphNode_t node, const cudaGraphNodeParams& of);
cudaError_t change_step(cudaGraphExec_t exec, cudaGraphNode_t node, const cudaGraphNodeParams& of);

// Of a node of that type which the program made itself.
cudaError_t body_of(cudaGraphNode_t node, cudaGraphNodeType type,
                    std::shared_ptr<const NodeBody>& body);
void replace_body(cudaGraphNode_t node, std::shared_ptr<const NodeBody> body);

}  // namespace cpu_device
