// SPDX-License-Identifier: MIT
//
// Graphs that were captured: their nodes, and running them.
#include <algorithm>
#include <mutex>
#include <set>
#include <utility>

#include "api.hpp"
#include "capture.hpp"
#include "cpu_device/runtime_api.h"
#include "graph.hpp"
#include "launch.hpp"

struct CUgraphExec_st {
    std::mutex one_launch;  // a launch is ordered behind earlier ones of the same graph
    std::vector<std::shared_ptr<CUgraphNode_st>> nodes;
};

namespace cpu_device {
namespace {

// What the program holds, so that a handle that it has given back is an error and no crash.
struct Handles {
    std::mutex mutex;
    std::set<cudaGraph_t> graphs;
    std::set<cudaGraphExec_t> execs;
};

Handles& handles() {
    static Handles* const instance = new Handles;  // alive until the very end of the process
    return *instance;
}

bool is_graph(cudaGraph_t graph) {
    Handles& all = handles();
    const std::lock_guard<std::mutex> lock(all.mutex);
    return all.graphs.count(graph) != 0;
}

bool is_exec(cudaGraphExec_t exec) {
    Handles& all = handles();
    const std::lock_guard<std::mutex> lock(all.mutex);
    return all.execs.count(exec) != 0;
}

}  // namespace

cudaGraph_t hand_out(std::unique_ptr<CUgraph_st> graph) {
    Handles& all = handles();
    const std::lock_guard<std::mutex> lock(all.mutex);
    return *all.graphs.insert(graph.release()).first;
}

}  // namespace cpu_device

using namespace cpu_device;

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
    if (!is_graph(graph) || count == nullptr) return remembered(cudaErrorInvalidValue);
    const size_t present = graph->nodes.size();
    if (nodes == nullptr) {
        *count = present;
        return cudaSuccess;
    }
    for (size_t i = 0; i < *count; i++) nodes[i] = i < present ? graph->nodes[i].get() : nullptr;
    *count = std::min(*count, present);
    return cudaSuccess;
}

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType* type) {
    if (node == nullptr || type == nullptr) return remembered(cudaErrorInvalidValue);
    *type = node->type;
    return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
    Handles& all = handles();
    {
        const std::lock_guard<std::mutex> lock(all.mutex);
        if (all.graphs.erase(graph) == 0) return remembered(cudaErrorInvalidValue);
    }
    delete graph;
    return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph,
                                 unsigned long long flags) {
    if (const cudaError_t refusal = refusal_of_unsafe_call()) return refusal;
    constexpr unsigned long long kNothingToDo =
        cudaGraphInstantiateFlagAutoFreeOnLaunch | cudaGraphInstantiateFlagUseNodePriority;
    if (exec == nullptr || !is_graph(graph)) return remembered(cudaErrorInvalidValue);
    if (flags == cudaGraphInstantiateFlagDeviceLaunch) {
        tell("a graph that kernels launch: the CPU device does not support launches by a kernel");
        return remembered(cudaErrorNotSupported);
    }
    if ((flags & ~kNothingToDo) != 0) return remembered(cudaErrorInvalidValue);
    *exec = new CUgraphExec_st;
    (*exec)->nodes = graph->nodes;
    Handles& all = handles();
    const std::lock_guard<std::mutex> lock(all.mutex);
    all.execs.insert(*exec);
    return cudaSuccess;
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* exec, cudaGraph_t graph,
                                          unsigned long long flags) {
    return cudaGraphInstantiate(exec, graph, flags);
}

// Ends with the first node that fails: what comes after it builds on it.
cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
    if (!is_exec(exec)) return remembered(cudaErrorInvalidValue);
    if (!is_stream(stream)) return remembered(cudaErrorInvalidResourceHandle);
    const Admission admission = admit(stream);
    if (admission.refusal != cudaSuccess) return admission.refusal;
    if (admission.capture != 0) {
        invalidate(admission.capture);
        return remembered(cudaErrorStreamCaptureUnsupported);
    }
    const std::lock_guard<std::mutex> lock(exec->one_launch);
    for (const auto& node : exec->nodes) {
        if (const cudaError_t error = node->work()) return error;
    }
    return cudaSuccess;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
    if (const cudaError_t refusal = refusal_of_unsafe_call()) return refusal;
    Handles& all = handles();
    {
        const std::lock_guard<std::mutex> lock(all.mutex);
        if (all.execs.erase(exec) == 0) return remembered(cudaErrorInvalidValue);
    }
    delete exec;
    return cudaSuccess;
}
