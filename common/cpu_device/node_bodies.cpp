// SPDX-License-Identifier: MIT
#include "node_bodies.hpp"

#include <cstring>
#include <mutex>
#include <set>
#include <utility>

#include "api.hpp"
#include "cpu_device/graph_api.h"
#include "cpu_device/launch.h"
#include "cpu_device/runtime_api.h"
#include "devices.hpp"
#include "graph_memory.hpp"
#include "memory.hpp"
#include "strict.hpp"

namespace cpu_device {
namespace {

struct Conditions {
    std::mutex mutex;
    std::map<cudaGraphConditionalHandle, unsigned> values;
};

Conditions& conditions() {
    static Conditions* const instance = new Conditions;  // alive until the very end of the process
    return *instance;
}

cudaError_t make_kernel(NodeBody& body) {
    cudaKernelNodeParams& of = body.of.kernel;
    const KnownKernel* const known = known_kernel_at(of.func);
    if (known == nullptr) return explain_unknown_kernel("a kernel node");
    if (of.extra != nullptr)
        return refused("kernel node with its parameters in one buffer (extra)");
    if (!known->parameter_bytes.empty() && of.kernelParams == nullptr) return cudaErrorInvalidValue;
    for (size_t i = 0; i < known->parameter_bytes.size(); i++) {
        const auto* const value = static_cast<const char*>(of.kernelParams[i]);
        body.values.emplace_back(value, value + known->parameter_bytes[i]);
    }
    for (auto& value : body.values) body.pointers.push_back(value.data());
    of.kernelParams = body.pointers.data();
    return cudaSuccess;
}

Work kernel_work(const NodeBody& body) {
    return [&body] {
        const cudaKernelNodeParams& of = body.of.kernel;
        cudaLaunchAttribute attributes[4];
        cudaLaunchConfig_t how{of.gridDim, of.blockDim, of.sharedMemBytes, nullptr, attributes, 0};
        for (const auto& [id, value] : body.attributes) {
            const auto attribute = static_cast<cudaLaunchAttributeID>(id);
            const bool counts =
                attribute == cudaLaunchAttributeCooperative ||
                (attribute == cudaLaunchAttributeClusterDimension && value.clusterDim.x != 0);
            if (counts) attributes[how.numAttrs++] = {attribute, value};
        }
        return cudaLaunchKernelExC(&how, of.func, of.kernelParams);
    };
}

cudaError_t copy_graph(cudaGraph_t graph, NodeBody& body) {
    const auto held = graph_of(graph);
    if (held == nullptr) return cudaErrorInvalidValue;
    body.graphs.emplace_back(clone_of(*held));
    body.of.graph.graph = body.graphs.back().get();
    return cudaSuccess;
}

cudaError_t make_conditional(NodeBody& body) {
    cudaConditionalNodeParams& of = body.of.conditional;
    const unsigned most = of.type == cudaGraphCondTypeWhile ? 1
                          : of.type == cudaGraphCondTypeIf  ? 2
                                                            : ~0u;
    if (of.size == 0 || of.size > most) return cudaErrorInvalidValue;
    body.values.emplace_back(of.size * sizeof(cudaGraph_t));
    of.phGraph_out = reinterpret_cast<cudaGraph_t*>(body.values.back().data());
    for (unsigned i = 0; i < of.size; i++) {
        body.graphs.push_back(std::make_shared<CUgraph_st>());
        of.phGraph_out[i] = body.graphs.back().get();
    }
    return cudaSuccess;
}

cudaError_t make_allocation(NodeBody& body) {
    cudaMemAllocNodeParams& of = body.of.alloc;
    if (of.poolProps.allocType != cudaMemAllocationTypePinned ||
        of.poolProps.location.type != cudaMemLocationTypeDevice) {
        return cudaErrorInvalidValue;
    }
    if (!is_device(of.poolProps.location.id)) return cudaErrorInvalidDevice;
    if (const cudaError_t error =
            reserve_for_graph(of.poolProps.location.id, of.bytesize, &of.dptr)) {
        return error;
    }
    body.work = [memory = of.dptr] { return allocate_for_graph(memory); };
    return cudaSuccess;
}

cudaError_t make(NodeBody& body) {
    switch (body.of.type) {
        case cudaGraphNodeTypeKernel:
            if (const cudaError_t error = make_kernel(body)) return error;
            body.work = kernel_work(body);
            return cudaSuccess;
        case cudaGraphNodeTypeMemcpy:
            body.work = [of = body.of.memcpy.copyParams] { return cudaMemcpy3DAsync(&of); };
            return cudaSuccess;
        case cudaGraphNodeTypeMemset:
            body.work = [of = body.of.memset] { return fill_elements(of); };
            return cudaSuccess;
        case cudaGraphNodeTypeHost:
            if (body.of.host.fn == nullptr) return cudaErrorInvalidValue;
            body.work = [of = body.of.host] {
                return cudaLaunchHostFunc(nullptr, of.fn, of.userData);
            };
            return cudaSuccess;
        case cudaGraphNodeTypeGraph:
            return copy_graph(body.of.graph.graph, body);
        case cudaGraphNodeTypeEmpty:
            body.work = [] { return cudaSuccess; };
            return cudaSuccess;
        case cudaGraphNodeTypeEventRecord:
            body.work = [event = body.of.eventRecord.event] { return cudaEventRecord(event); };
            return cudaSuccess;
        case cudaGraphNodeTypeWaitEvent:
            body.work = [event = body.of.eventWait.event] {
                return cudaStreamWaitEvent(nullptr, event);
            };
            return cudaSuccess;
        case cudaGraphNodeTypeConditional:
            return make_conditional(body);
        case cudaGraphNodeTypeMemAlloc:
            return make_allocation(body);
        case cudaGraphNodeTypeMemFree:
            if (!is_graph_memory(body.of.free.dptr)) return cudaErrorInvalidValue;
            body.work = [memory = body.of.free.dptr] { return free_for_graph(memory); };
            return cudaSuccess;
        case cudaGraphNodeTypeExtSemaphoreSignal:
        case cudaGraphNodeTypeExtSemaphoreWait:
            return refused("node of a graph with an external semaphore");
        case cudaGraphNodeTypeCount:
            break;
    }
    return cudaErrorInvalidValue;
}

// ---------------------------------------------------------------- parameters by type

template <class Set>
cudaGraphNodeParams params(cudaGraphNodeType type, Set set) {
    cudaGraphNodeParams of{};
    of.type = type;
    set(of);
    return of;
}

cudaGraphNodeParams of_kernel(const cudaKernelNodeParams& kernel) {
    return params(cudaGraphNodeTypeKernel, [&](auto& of) { of.kernel = kernel; });
}
cudaGraphNodeParams of_copy(const cudaMemcpy3DParms& copy) {
    return params(cudaGraphNodeTypeMemcpy, [&](auto& of) { of.memcpy.copyParams = copy; });
}
cudaGraphNodeParams of_fill(const cudaMemsetParams& fill) {
    return params(cudaGraphNodeTypeMemset, [&](auto& of) { of.memset = fill; });
}
cudaGraphNodeParams of_host(const cudaHostNodeParams& host) {
    return params(cudaGraphNodeTypeHost, [&](auto& of) { of.host = host; });
}
cudaGraphNodeParams of_child(cudaGraph_t graph) {
    return params(cudaGraphNodeTypeGraph, [&](auto& of) { of.graph.graph = graph; });
}
cudaGraphNodeParams of_record(cudaEvent_t event) {
    return params(cudaGraphNodeTypeEventRecord, [&](auto& of) { of.eventRecord.event = event; });
}
cudaGraphNodeParams of_wait(cudaEvent_t event) {
    return params(cudaGraphNodeTypeWaitEvent, [&](auto& of) { of.eventWait.event = event; });
}

// A row of bytes.
cudaGraphNodeParams of_bytes(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
    cudaMemcpy3DParms copy{};
    copy.srcPtr = make_cudaPitchedPtr(const_cast<void*>(from), bytes, bytes, 1);
    copy.dstPtr = make_cudaPitchedPtr(to, bytes, bytes, 1);
    copy.extent = make_cudaExtent(bytes, 1, 1);
    copy.kind = kind;
    return of_copy(copy);
}

// Calls `use` with the place in the variable, where it is one and has that many bytes there.
template <class Use>
cudaError_t at_symbol(const void* symbol, size_t bytes, size_t offset, Use use) {
    size_t size = 0;
    void* address = nullptr;
    if (const cudaError_t error = cudaGetSymbolSize(&size, symbol)) return error;
    if (offset > size || bytes > size - offset) return remembered(cudaErrorInvalidValue);
    if (const cudaError_t error = cudaGetSymbolAddress(&address, symbol)) return error;
    return use(static_cast<char*>(address) + offset);
}

// Calls `use` with the parameters if there are any.
template <class Params, class Use>
cudaError_t given(const Params* of, Use use) {
    return of == nullptr ? remembered(cudaErrorInvalidValue) : use(*of);
}

template <class Params, class Read>
cudaError_t get(cudaGraphNode_t node, cudaGraphNodeType type, Params* to, Read read) {
    if (to == nullptr) return remembered(cudaErrorInvalidValue);
    std::shared_ptr<const NodeBody> body;
    if (const cudaError_t error = body_of(node, type, body)) return error;
    *to = read(body->of);
    return cudaSuccess;
}

// A kernel node with other attributes: work that reads its body needs one of its own.
cudaError_t give_attributes(cudaGraphNode_t node,
                            std::map<int, cudaLaunchAttributeValue> attributes) {
    std::shared_ptr<const NodeBody> before;
    if (const cudaError_t error = body_of(node, cudaGraphNodeTypeKernel, before)) return error;
    auto after = std::make_shared<NodeBody>();
    after->of = before->of;
    after->attributes = std::move(attributes);
    if (const cudaError_t error = make(*after)) return remembered(error);
    replace_body(node, std::move(after));
    return cudaSuccess;
}

}  // namespace

cudaError_t make_body(const cudaGraphNodeParams& of, std::shared_ptr<const NodeBody>& body) {
    auto made = std::make_shared<NodeBody>();
    made->of = of;
    if (const cudaError_t error = make(*made)) return error;
    body = std::move(made);
    return cudaSuccess;
}

unsigned conditional_value(cudaGraphConditionalHandle handle) {
    Conditions& all = conditions();
    const std::lock_guard<std::mutex> lock(all.mutex);
    return all.values[handle];
}

}  // namespace cpu_device

using namespace cpu_device;

cudaError_t cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle* handle, cudaGraph_t graph,
                                             unsigned default_value, unsigned flags) {
    const auto held = graph_of(graph);
    if (handle == nullptr || held == nullptr || flags > cudaGraphCondAssignDefault) {
        return remembered(cudaErrorInvalidValue);
    }
    Conditions& all = conditions();
    const std::lock_guard<std::mutex> lock(all.mutex);
    *handle = all.values.size() + 1;
    all.values[*handle] = default_value;
    if (flags == cudaGraphCondAssignDefault) held->at_launch[*handle] = default_value;
    return cudaSuccess;
}

void cudaGraphSetConditional(cudaGraphConditionalHandle handle, unsigned value) {
    Conditions& all = conditions();
    const std::lock_guard<std::mutex> lock(all.mutex);
    all.values[handle] = value;
}

cudaError_t cudaGraphAddNode(cudaGraphNode_t* node, cudaGraph_t graph,
                             const cudaGraphNode_t* dependencies, const cudaGraphEdgeData*,
                             size_t count, cudaGraphNodeParams* of) {
    if (of == nullptr) return remembered(cudaErrorInvalidValue);
    const cudaError_t error = add_node(node, graph, dependencies, count, *of);
    if (error != cudaSuccess) return error;
    // What the node has made for the program: memory, graphs to fill.
    const cudaGraphNodeParams& made = (*node)->body->of;
    if (of->type == cudaGraphNodeTypeMemAlloc) of->alloc.dptr = made.alloc.dptr;
    if (of->type == cudaGraphNodeTypeConditional) {
        of->conditional.phGraph_out = made.conditional.phGraph_out;
    }
    return cudaSuccess;
}
cudaError_t cudaGraphNodeSetParams(cudaGraphNode_t node, cudaGraphNodeParams* of) {
    return given(of, [&](const auto& p) { return change_node(node, p); });
}
cudaError_t cudaGraphExecNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                       cudaGraphNodeParams* of) {
    return given(of, [&](const auto& p) { return change_step(exec, node, p); });
}

// ---------------------------------------------------------------- kernels

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* dependencies, size_t count,
                                   const cudaKernelNodeParams* of) {
    return given(of, [&](const auto& kernel) {
        return add_node(node, graph, dependencies, count, of_kernel(kernel));
    });
}
cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, cudaKernelNodeParams* to) {
    return get(node, cudaGraphNodeTypeKernel, to, [](const auto& of) { return of.kernel; });
}
cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const cudaKernelNodeParams* of) {
    return given(of, [&](const auto& kernel) { return change_node(node, of_kernel(kernel)); });
}
cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const cudaKernelNodeParams* of) {
    return given(of,
                 [&](const auto& kernel) { return change_step(exec, node, of_kernel(kernel)); });
}
cudaError_t cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t to, cudaGraphNode_t from) {
    std::shared_ptr<const NodeBody> body;
    if (const cudaError_t error = body_of(from, cudaGraphNodeTypeKernel, body)) return error;
    return give_attributes(to, body->attributes);
}
cudaError_t cudaGraphKernelNodeGetAttribute(cudaGraphNode_t node, cudaKernelNodeAttrID attribute,
                                            cudaKernelNodeAttrValue* value) {
    if (value == nullptr) return remembered(cudaErrorInvalidValue);
    std::shared_ptr<const NodeBody> body;
    if (const cudaError_t error = body_of(node, cudaGraphNodeTypeKernel, body)) return error;
    const auto found = body->attributes.find(attribute);
    *value = found == body->attributes.end() ? cudaKernelNodeAttrValue{} : found->second;
    return cudaSuccess;
}
cudaError_t cudaGraphKernelNodeSetAttribute(cudaGraphNode_t node, cudaKernelNodeAttrID attribute,
                                            const cudaKernelNodeAttrValue* value) {
    if (value == nullptr) return remembered(cudaErrorInvalidValue);
    std::shared_ptr<const NodeBody> body;
    if (const cudaError_t error = body_of(node, cudaGraphNodeTypeKernel, body)) return error;
    auto attributes = body->attributes;
    attributes[attribute] = *value;
    return give_attributes(node, std::move(attributes));
}

// ---------------------------------------------------------------- copies

cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* dependencies, size_t count,
                                   const cudaMemcpy3DParms* of) {
    return given(of, [&](const auto& copy) {
        return add_node(node, graph, dependencies, count, of_copy(copy));
    });
}
cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* node, cudaGraph_t graph,
                                     const cudaGraphNode_t* dependencies, size_t count, void* to,
                                     const void* from, size_t bytes, cudaMemcpyKind kind) {
    return add_node(node, graph, dependencies, count, of_bytes(to, from, bytes, kind));
}
cudaError_t cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t* node, cudaGraph_t graph,
                                           const cudaGraphNode_t* dependencies, size_t count,
                                           const void* symbol, const void* from, size_t bytes,
                                           size_t offset, cudaMemcpyKind kind) {
    return at_symbol(symbol, bytes, offset, [&](void* to) {
        return add_node(node, graph, dependencies, count, of_bytes(to, from, bytes, kind));
    });
}
cudaError_t cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t* node, cudaGraph_t graph,
                                             const cudaGraphNode_t* dependencies, size_t count,
                                             void* to, const void* symbol, size_t bytes,
                                             size_t offset, cudaMemcpyKind kind) {
    return at_symbol(symbol, bytes, offset, [&](const void* from) {
        return add_node(node, graph, dependencies, count, of_bytes(to, from, bytes, kind));
    });
}
cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, cudaMemcpy3DParms* to) {
    return get(node, cudaGraphNodeTypeMemcpy, to,
               [](const auto& of) { return of.memcpy.copyParams; });
}
cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node, const cudaMemcpy3DParms* of) {
    return given(of, [&](const auto& copy) { return change_node(node, of_copy(copy)); });
}
cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void* to, const void* from,
                                           size_t bytes, cudaMemcpyKind kind) {
    return change_node(node, of_bytes(to, from, bytes, kind));
}
cudaError_t cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node, const void* symbol,
                                                 const void* from, size_t bytes, size_t offset,
                                                 cudaMemcpyKind kind) {
    return at_symbol(symbol, bytes, offset,
                     [&](void* to) { return change_node(node, of_bytes(to, from, bytes, kind)); });
}
cudaError_t cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node, void* to,
                                                   const void* symbol, size_t bytes, size_t offset,
                                                   cudaMemcpyKind kind) {
    return at_symbol(symbol, bytes, offset, [&](const void* from) {
        return change_node(node, of_bytes(to, from, bytes, kind));
    });
}
cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const cudaMemcpy3DParms* of) {
    return given(of, [&](const auto& copy) { return change_step(exec, node, of_copy(copy)); });
}
cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t exec, cudaGraphNode_t node, void* to,
                                               const void* from, size_t bytes,
                                               cudaMemcpyKind kind) {
    return change_step(exec, node, of_bytes(to, from, bytes, kind));
}
cudaError_t cudaGraphExecMemcpyNodeSetParamsToSymbol(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                     const void* symbol, const void* from,
                                                     size_t bytes, size_t offset,
                                                     cudaMemcpyKind kind) {
    return at_symbol(symbol, bytes, offset, [&](void* to) {
        return change_step(exec, node, of_bytes(to, from, bytes, kind));
    });
}
cudaError_t cudaGraphExecMemcpyNodeSetParamsFromSymbol(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                       void* to, const void* symbol, size_t bytes,
                                                       size_t offset, cudaMemcpyKind kind) {
    return at_symbol(symbol, bytes, offset, [&](const void* from) {
        return change_step(exec, node, of_bytes(to, from, bytes, kind));
    });
}

// ---------------------------------------------------------------- fills, host functions, graphs, events

cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* dependencies, size_t count,
                                   const cudaMemsetParams* of) {
    return given(of, [&](const auto& fill) {
        return add_node(node, graph, dependencies, count, of_fill(fill));
    });
}
cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t node, cudaMemsetParams* to) {
    return get(node, cudaGraphNodeTypeMemset, to, [](const auto& of) { return of.memset; });
}
cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node, const cudaMemsetParams* of) {
    return given(of, [&](const auto& fill) { return change_node(node, of_fill(fill)); });
}
cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const cudaMemsetParams* of) {
    return given(of, [&](const auto& fill) { return change_step(exec, node, of_fill(fill)); });
}

cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                 const cudaGraphNode_t* dependencies, size_t count,
                                 const cudaHostNodeParams* of) {
    return given(of, [&](const auto& host) {
        return add_node(node, graph, dependencies, count, of_host(host));
    });
}
cudaError_t cudaGraphHostNodeGetParams(cudaGraphNode_t node, cudaHostNodeParams* to) {
    return get(node, cudaGraphNodeTypeHost, to, [](const auto& of) { return of.host; });
}
cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node, const cudaHostNodeParams* of) {
    return given(of, [&](const auto& host) { return change_node(node, of_host(host)); });
}
cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                           const cudaHostNodeParams* of) {
    return given(of, [&](const auto& host) { return change_step(exec, node, of_host(host)); });
}

cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                       const cudaGraphNode_t* dependencies, size_t count,
                                       cudaGraph_t child) {
    return add_node(node, graph, dependencies, count, of_child(child));
}
cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t* child) {
    return get(node, cudaGraphNodeTypeGraph, child, [](const auto& of) { return of.graph.graph; });
}
cudaError_t cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                 cudaGraph_t child) {
    return change_step(exec, node, of_child(child));
}

cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                  const cudaGraphNode_t* dependencies, size_t count) {
    return add_node(node, graph, dependencies, count, params(cudaGraphNodeTypeEmpty, [](auto&) {}));
}

cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                     const cudaGraphNode_t* dependencies, size_t count,
                                     cudaMemAllocNodeParams* allocation) {
    if (allocation == nullptr) return remembered(cudaErrorInvalidValue);
    const auto all = params(cudaGraphNodeTypeMemAlloc, [&](auto& of) { of.alloc = *allocation; });
    const cudaError_t error = add_node(node, graph, dependencies, count, all);
    if (error == cudaSuccess) allocation->dptr = (*node)->body->of.alloc.dptr;
    return error;
}
cudaError_t cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node, cudaMemAllocNodeParams* to) {
    return get(node, cudaGraphNodeTypeMemAlloc, to, [](const auto& of) { return of.alloc; });
}
cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                    const cudaGraphNode_t* dependencies, size_t count,
                                    void* pointer) {
    const auto all = params(cudaGraphNodeTypeMemFree, [&](auto& of) { of.free.dptr = pointer; });
    return add_node(node, graph, dependencies, count, all);
}
cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void* to) {
    return get(node, cudaGraphNodeTypeMemFree, static_cast<void**>(to),
               [](const auto& of) { return of.free.dptr; });
}

cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                        const cudaGraphNode_t* dependencies, size_t count,
                                        cudaEvent_t event) {
    return add_node(node, graph, dependencies, count, of_record(event));
}
cudaError_t cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* event) {
    return get(node, cudaGraphNodeTypeEventRecord, event,
               [](const auto& of) { return of.eventRecord.event; });
}
cudaError_t cudaGraphEventRecordNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
    return change_node(node, of_record(event));
}
cudaError_t cudaGraphExecEventRecordNodeSetEvent(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                 cudaEvent_t event) {
    return change_step(exec, node, of_record(event));
}
cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                      const cudaGraphNode_t* dependencies, size_t count,
                                      cudaEvent_t event) {
    return add_node(node, graph, dependencies, count, of_wait(event));
}
cudaError_t cudaGraphEventWaitNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* event) {
    return get(node, cudaGraphNodeTypeWaitEvent, event,
               [](const auto& of) { return of.eventWait.event; });
}
cudaError_t cudaGraphEventWaitNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
    return change_node(node, of_wait(event));
}
cudaError_t cudaGraphExecEventWaitNodeSetEvent(cudaGraphExec_t exec, cudaGraphNode_t node,
                                               cudaEvent_t event) {
    return change_step(exec, node, of_wait(event));
}
