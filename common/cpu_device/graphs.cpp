// SPDX-License-Identifier: MIT
//
// Graphs: their nodes and edges, and running them. node_bodies.cpp says what a node does.
#include <algorithm>
#include <cstdio>
#include <mutex>
#include <numeric>
#include <set>
#include <utility>

#include "api.hpp"
#include "capture.hpp"
#include "cpu_device/graph_api.h"
#include "graph.hpp"
#include "launch.hpp"
#include "node_bodies.hpp"

namespace cpu_device {
namespace {

using Graph = CUgraph_st;
using Node = CUgraphNode_st;

// A node of an executable graph, and of a child's or conditional node the graphs that it runs.
struct Step {
    std::shared_ptr<const Node> node;
    std::shared_ptr<const NodeBody> body;
    std::vector<std::vector<Step>> inner;
    std::vector<Node*> dependencies;  // when it was instantiated
    bool enabled = true;
};
using Steps = std::vector<Step>;

}  // namespace
}  // namespace cpu_device

struct CUgraphExec_st {
    std::mutex one_launch;  // a launch is ordered behind earlier ones of the same graph
    cpu_device::Steps steps;
    unsigned long long flags = 0;
    std::map<cudaGraphConditionalHandle, unsigned> at_launch;
};

namespace cpu_device {
namespace {

// What the program holds, so that a handle that it has given back is an error and no crash.
struct Handles {
    std::mutex mutex;
    std::map<cudaGraph_t, std::shared_ptr<Graph>> graphs;
    std::map<cudaGraph_t, std::weak_ptr<Graph>> inner;  // of nodes: these go with their node
    std::set<cudaGraphExec_t> execs;
};

Handles& handles() {
    static Handles* const instance = new Handles;  // alive until the very end of the process
    return *instance;
}

std::shared_ptr<Graph> find_graph(cudaGraph_t graph) {
    Handles& all = handles();
    const std::lock_guard<std::mutex> lock(all.mutex);
    if (const auto found = all.graphs.find(graph); found != all.graphs.end()) return found->second;
    const auto found = all.inner.find(graph);
    return found == all.inner.end() ? nullptr : found->second.lock();
}

bool is_exec(cudaGraphExec_t exec) {
    Handles& all = handles();
    const std::lock_guard<std::mutex> lock(all.mutex);
    return all.execs.count(exec) != 0;
}

bool has_node(const Graph& graph, const Node* node) {
    return std::any_of(graph.nodes.begin(), graph.nodes.end(),
                       [node](const auto& one) { return one.get() == node; });
}

// In a graph that the program still has.
bool is_node(cudaGraphNode_t node) {
    Handles& all = handles();
    const std::lock_guard<std::mutex> lock(all.mutex);
    const auto holds = [node](const std::shared_ptr<Graph>& graph) {
        return graph != nullptr && has_node(*graph, node);
    };
    return std::any_of(all.graphs.begin(), all.graphs.end(),
                       [&](const auto& one) { return holds(one.second); }) ||
           std::any_of(all.inner.begin(), all.inner.end(),
                       [&](const auto& one) { return holds(one.second.lock()); });
}

void make_known(const NodeBody& body) {
    Handles& all = handles();
    const std::lock_guard<std::mutex> lock(all.mutex);
    for (const auto& graph : body.graphs) all.inner[graph.get()] = graph;
}

// ---------------------------------------------------------------- order

// Those of the program's order, each behind all that it depends on; fewer where they depend on each other in a circle.
std::vector<std::shared_ptr<const Node>> in_order(const Graph& graph) {
    std::vector<std::shared_ptr<const Node>> ordered;
    std::set<const Node*> done;
    while (ordered.size() < graph.nodes.size()) {
        const auto next =
            std::find_if(graph.nodes.begin(), graph.nodes.end(), [&](const auto& node) {
                return done.count(node.get()) == 0 &&
                       std::all_of(node->dependencies.begin(), node->dependencies.end(),
                                   [&](const Node* on) { return done.count(on) != 0; });
            });
        if (next == graph.nodes.end()) return {};
        ordered.push_back(*next);
        done.insert(next->get());
    }
    return ordered;
}

bool make_steps(const Graph& graph, Steps& steps) {
    const auto nodes = in_order(graph);
    if (nodes.size() != graph.nodes.size()) return false;
    for (const auto& node : nodes) {
        Step step{node, node->body, {}, node->dependencies};
        for (const auto& inner : node->body->graphs) {
            step.inner.emplace_back();
            if (!make_steps(*inner, step.inner.back())) return false;
        }
        steps.push_back(std::move(step));
    }
    return true;
}

Step* find_step(Steps& steps, const Node* node) {
    for (Step& step : steps) {
        if (step.node.get() == node) return &step;
        for (Steps& inner : step.inner) {
            if (Step* const found = find_step(inner, node)) return found;
        }
    }
    return nullptr;
}

// ---------------------------------------------------------------- running

cudaError_t run(const Steps& steps);

cudaError_t run_conditional(const Step& step) {
    const cudaConditionalNodeParams& condition = step.body->of.conditional;
    const auto value = [&] { return conditional_value(condition.handle); };
    switch (condition.type) {
        case cudaGraphCondTypeIf:
            if (value() != 0) return run(step.inner[0]);
            return step.inner.size() > 1 ? run(step.inner[1]) : cudaSuccess;
        case cudaGraphCondTypeWhile:
            while (value() != 0) {
                if (const cudaError_t error = run(step.inner[0])) return error;
            }
            return cudaSuccess;
        case cudaGraphCondTypeSwitch:
            return value() < step.inner.size() ? run(step.inner[value()]) : cudaSuccess;
    }
    return cudaErrorInvalidValue;
}

cudaError_t run(const Step& step) {
    if (!step.enabled) return cudaSuccess;
    if (step.body->of.type == cudaGraphNodeTypeGraph) return run(step.inner[0]);
    if (step.body->of.type == cudaGraphNodeTypeConditional) return run_conditional(step);
    return step.body->work();
}

// Ends with the first node that fails: what comes after it builds on it.
cudaError_t run(const Steps& steps) {
    for (const Step& step : steps) {
        if (const cudaError_t error = run(step)) return error;
    }
    return cudaSuccess;
}

// ---------------------------------------------------------------- changing

// Copies handles as calls do that are asked twice, once how many there are.
template <class Handle>
cudaError_t list(const std::vector<Handle>& present, Handle* to, size_t* count) {
    if (to == nullptr) {
        *count = present.size();
        return cudaSuccess;
    }
    for (size_t i = 0; i < *count; i++) to[i] = i < present.size() ? present[i] : nullptr;
    *count = std::min(*count, present.size());
    return cudaSuccess;
}

cudaError_t change_edges(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                         size_t count, bool add) {
    const auto held = find_graph(graph);
    if (held == nullptr || (count > 0 && (from == nullptr || to == nullptr))) {
        return cudaErrorInvalidValue;
    }
    for (size_t i = 0; i < count; i++) {
        if (!has_node(*held, from[i]) || !has_node(*held, to[i]) || from[i] == to[i]) {
            return cudaErrorInvalidValue;
        }
        std::vector<Node*>& of = to[i]->dependencies;
        const auto found = std::find(of.begin(), of.end(), from[i]);
        if ((found == of.end()) != add) return cudaErrorInvalidValue;
        if (add) {
            of.push_back(from[i]);
        } else {
            of.erase(found);
        }
    }
    return cudaSuccess;
}

const char* name_of(cudaGraphNodeType type) {
    switch (type) {
        case cudaGraphNodeTypeKernel:
            return "kernel";
        case cudaGraphNodeTypeMemcpy:
            return "copy";
        case cudaGraphNodeTypeMemset:
            return "fill";
        case cudaGraphNodeTypeHost:
            return "host function";
        case cudaGraphNodeTypeGraph:
            return "graph";
        case cudaGraphNodeTypeEmpty:
            return "empty";
        case cudaGraphNodeTypeWaitEvent:
            return "wait for event";
        case cudaGraphNodeTypeEventRecord:
            return "record event";
        case cudaGraphNodeTypeConditional:
            return "conditional";
        default:
            return "node";
    }
}

// The same nodes with the same edges, of which each may do something else.
const Node* first_difference(const Steps& first, const Steps& second,
                             cudaGraphExecUpdateResult& how) {
    const auto edges = [](const Steps& of) {
        return std::accumulate(of.begin(), of.end(), size_t{0}, [](size_t sum, const Step& step) {
            return sum + step.dependencies.size();
        });
    };
    how = cudaGraphExecUpdateErrorTopologyChanged;
    if (first.size() != second.size() || edges(first) != edges(second))
        return second.empty() ? nullptr : second.back().node.get();
    std::map<const Node*, size_t> place_in_first, place_in_second;
    const auto places = [](const Step& of, const std::map<const Node*, size_t>& place) {
        std::set<size_t> all;
        for (const Node* const on : of.dependencies) all.insert(place.at(on));
        return all;
    };
    for (size_t i = 0; i < first.size(); i++) {
        place_in_first[first[i].node.get()] = place_in_second[second[i].node.get()] = i;
    }
    for (size_t i = 0; i < first.size(); i++) {
        how = cudaGraphExecUpdateErrorNodeTypeChanged;
        if (first[i].body->of.type != second[i].body->of.type) return second[i].node.get();
        how = cudaGraphExecUpdateErrorTopologyChanged;
        if (places(first[i], place_in_first) != places(second[i], place_in_second) ||
            first[i].inner.size() != second[i].inner.size()) {
            return second[i].node.get();
        }
        for (size_t k = 0; k < first[i].inner.size(); k++) {
            const Node* const inside = first_difference(first[i].inner[k], second[i].inner[k], how);
            if (inside != nullptr) return inside;
        }
    }
    how = cudaGraphExecUpdateSuccess;
    return nullptr;
}

void take_over(Steps& to, const Steps& from) {
    for (size_t i = 0; i < to.size(); i++) {
        to[i].body = from[i].body;
        for (size_t k = 0; k < to[i].inner.size(); k++) take_over(to[i].inner[k], from[i].inner[k]);
    }
}

}  // namespace

cudaGraph_t hand_out(std::unique_ptr<Graph> graph) {
    Handles& all = handles();
    const std::lock_guard<std::mutex> lock(all.mutex);
    std::shared_ptr<Graph> held = std::move(graph);
    const cudaGraph_t handle = held.get();
    all.graphs.emplace(handle, std::move(held));
    return handle;
}

void append(Graph& graph, cudaGraphNodeType type, Work work, Frontier& frontier) {
    auto body = std::make_shared<NodeBody>();
    body->of.type = type;
    body->is_captured = true;
    body->work = std::move(work);
    auto node = std::make_shared<Node>(Node{std::move(body), &graph, frontier});
    frontier = {node.get()};
    graph.nodes.push_back(std::move(node));
}

std::unique_ptr<Graph> clone_of(const Graph& original) {
    auto clone = std::make_unique<Graph>();
    std::map<const Node*, Node*> copies;
    for (const auto& node : original.nodes) {
        clone->nodes.push_back(
            std::make_shared<Node>(Node{node->body, clone.get(), {}, node.get()}));
        copies[node.get()] = clone->nodes.back().get();
    }
    for (const auto& node : original.nodes) {
        for (const Node* const on : node->dependencies) {
            copies[node.get()]->dependencies.push_back(copies[on]);
        }
    }
    clone->at_launch = original.at_launch;
    return clone;
}

std::shared_ptr<Graph> graph_of(cudaGraph_t graph) {
    return find_graph(graph);
}

cudaError_t add_node(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                     size_t count, const cudaGraphNodeParams& of) {
    const auto held = find_graph(graph);
    if (node == nullptr || held == nullptr || (count > 0 && dependencies == nullptr)) {
        return remembered(cudaErrorInvalidValue);
    }
    auto made = std::make_shared<Node>(Node{nullptr, held.get(), {}});
    for (size_t i = 0; i < count; i++) {
        const auto& known = made->dependencies;
        if (!has_node(*held, dependencies[i]) ||
            std::find(known.begin(), known.end(), dependencies[i]) != known.end()) {
            return remembered(cudaErrorInvalidValue);
        }
        made->dependencies.push_back(dependencies[i]);
    }
    if (const cudaError_t error = make_body(of, made->body)) return remembered(error);
    make_known(*made->body);
    held->nodes.push_back(made);
    *node = made.get();
    return cudaSuccess;
}

cudaError_t change_node(cudaGraphNode_t node, const cudaGraphNodeParams& of) {
    if (!is_node(node) || node->body->of.type != of.type) return remembered(cudaErrorInvalidValue);
    std::shared_ptr<const NodeBody> body;
    if (const cudaError_t error = make_body(of, body)) return remembered(error);
    make_known(*body);
    node->body = std::move(body);
    return cudaSuccess;
}

cudaError_t change_step(cudaGraphExec_t exec, cudaGraphNode_t node, const cudaGraphNodeParams& of) {
    if (!is_exec(exec)) return remembered(cudaErrorInvalidValue);
    const std::lock_guard<std::mutex> lock(exec->one_launch);
    Step* const step = find_step(exec->steps, node);
    if (step == nullptr || step->body->of.type != of.type) return remembered(cudaErrorInvalidValue);
    std::shared_ptr<const NodeBody> body;
    if (const cudaError_t error = make_body(of, body)) return remembered(error);
    if (of.type == cudaGraphNodeTypeGraph) {
        Steps inner;
        cudaGraphExecUpdateResult how{};
        if (!make_steps(*body->graphs[0], inner) ||
            first_difference(step->inner[0], inner, how) != nullptr) {
            return remembered(cudaErrorInvalidValue);
        }
        take_over(step->inner[0], inner);
    }
    step->body = std::move(body);
    return cudaSuccess;
}

cudaError_t body_of(cudaGraphNode_t node, cudaGraphNodeType type,
                    std::shared_ptr<const NodeBody>& body) {
    if (!is_node(node) || node->body->of.type != type) return remembered(cudaErrorInvalidValue);
    if (node->body->is_captured) return refused("parameters of a captured node");
    body = node->body;
    return cudaSuccess;
}

void replace_body(cudaGraphNode_t node, std::shared_ptr<const NodeBody> body) {
    node->body = std::move(body);
}

}  // namespace cpu_device

using namespace cpu_device;

cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned flags) {
    if (graph == nullptr || flags != 0) return remembered(cudaErrorInvalidValue);
    *graph = hand_out(std::make_unique<Graph>());
    return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
    std::shared_ptr<Graph> last;
    {
        Handles& all = handles();
        const std::lock_guard<std::mutex> lock(all.mutex);
        const auto found = all.graphs.find(graph);
        if (found == all.graphs.end()) return remembered(cudaErrorInvalidValue);
        last = std::move(found->second);
        all.graphs.erase(found);
    }
    for (const auto& [object, count] : last->objects) cudaUserObjectRelease(object, count);
    return cudaSuccess;
}

cudaError_t cudaGraphClone(cudaGraph_t* clone, cudaGraph_t original) {
    const auto held = find_graph(original);
    if (clone == nullptr || held == nullptr) return remembered(cudaErrorInvalidValue);
    *clone = hand_out(clone_of(*held));
    return cudaSuccess;
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
    const auto held = find_graph(graph);
    if (held == nullptr || count == nullptr) return remembered(cudaErrorInvalidValue);
    std::vector<cudaGraphNode_t> present;
    for (const auto& node : held->nodes) present.push_back(node.get());
    return list(present, nodes, count);
}

cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
    const auto held = find_graph(graph);
    if (held == nullptr || count == nullptr) return remembered(cudaErrorInvalidValue);
    std::vector<cudaGraphNode_t> present;
    for (const auto& node : held->nodes) {
        if (node->dependencies.empty()) present.push_back(node.get());
    }
    return list(present, nodes, count);
}

cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to,
                              cudaGraphEdgeData* edges, size_t* count) {
    const auto held = find_graph(graph);
    if (held == nullptr || count == nullptr || (from == nullptr) != (to == nullptr)) {
        return remembered(cudaErrorInvalidValue);
    }
    std::vector<cudaGraphNode_t> begins, ends;
    for (const auto& node : held->nodes) {
        for (Node* const on : node->dependencies) {
            begins.push_back(on);
            ends.push_back(node.get());
        }
    }
    if (edges != nullptr) std::fill_n(edges, std::min(*count, begins.size()), cudaGraphEdgeData{});
    size_t same = *count;
    list(begins, from, &same);
    return list(ends, to, count);
}

// Edges of other kinds are a GPU's ways to begin early: here nothing does.
cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                     const cudaGraphNode_t* to, const cudaGraphEdgeData*,
                                     size_t count) {
    return remembered(change_edges(graph, from, to, count, true));
}

cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                        const cudaGraphNode_t* to, const cudaGraphEdgeData*,
                                        size_t count) {
    return remembered(change_edges(graph, from, to, count, false));
}

cudaError_t cudaGraphDebugDotPrint(cudaGraph_t graph, const char* path, unsigned) {
    const auto held = find_graph(graph);
    if (held == nullptr || path == nullptr) return remembered(cudaErrorInvalidValue);
    std::FILE* const file = std::fopen(path, "w");
    if (file == nullptr) return remembered(cudaErrorOperatingSystem);
    std::map<const Node*, size_t> numbers;
    std::fputs("digraph graph_1 {\n", file);
    for (const auto& node : held->nodes) {
        const size_t number = numbers.emplace(node.get(), numbers.size()).first->second;
        std::fprintf(file, "    n%zu [label=\"%zu: %s\"];\n", number, number,
                     name_of(node->body->of.type));
    }
    for (const auto& node : held->nodes) {
        for (const Node* const on : node->dependencies) {
            std::fprintf(file, "    n%zu -> n%zu;\n", numbers[on], numbers[node.get()]);
        }
    }
    std::fputs("}\n", file);
    return remembered(std::fclose(file) == 0 ? cudaSuccess : cudaErrorOperatingSystem);
}

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType* type) {
    if (!is_node(node) || type == nullptr) return remembered(cudaErrorInvalidValue);
    *type = node->body->of.type;
    return cudaSuccess;
}

cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t* nodes,
                                         cudaGraphEdgeData* edges, size_t* count) {
    if (!is_node(node) || count == nullptr) return remembered(cudaErrorInvalidValue);
    if (edges != nullptr) {
        std::fill_n(edges, std::min(*count, node->dependencies.size()), cudaGraphEdgeData{});
    }
    return list(node->dependencies, nodes, count);
}

cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t* nodes,
                                           cudaGraphEdgeData* edges, size_t* count) {
    if (!is_node(node) || count == nullptr) return remembered(cudaErrorInvalidValue);
    std::vector<cudaGraphNode_t> present;
    for (const auto& other : node->graph->nodes) {
        const auto& on = other->dependencies;
        if (std::find(on.begin(), on.end(), node) != on.end()) present.push_back(other.get());
    }
    if (edges != nullptr) std::fill_n(edges, std::min(*count, present.size()), cudaGraphEdgeData{});
    return list(present, nodes, count);
}

cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t* node, cudaGraphNode_t original,
                                     cudaGraph_t clone) {
    const auto held = find_graph(clone);
    if (node == nullptr || held == nullptr) return remembered(cudaErrorInvalidValue);
    const auto found =
        std::find_if(held->nodes.begin(), held->nodes.end(),
                     [original](const auto& one) { return one->original == original; });
    if (found == held->nodes.end()) return remembered(cudaErrorInvalidValue);
    *node = found->get();
    return cudaSuccess;
}

cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node) {
    if (!is_node(node)) return remembered(cudaErrorInvalidValue);
    auto& nodes = node->graph->nodes;
    for (const auto& other : nodes) {
        auto& on = other->dependencies;
        on.erase(std::remove(on.begin(), on.end(), node), on.end());
    }
    nodes.erase(std::find_if(nodes.begin(), nodes.end(),
                             [node](const auto& one) { return one.get() == node; }));
    return cudaSuccess;
}

cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned enabled) {
    if (!is_exec(exec)) return remembered(cudaErrorInvalidValue);
    const std::lock_guard<std::mutex> lock(exec->one_launch);
    Step* const step = find_step(exec->steps, node);
    if (step == nullptr || step->body->of.type > cudaGraphNodeTypeMemset) {
        return remembered(cudaErrorInvalidValue);
    }
    step->enabled = enabled != 0;
    return cudaSuccess;
}

cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned* enabled) {
    if (!is_exec(exec) || enabled == nullptr) return remembered(cudaErrorInvalidValue);
    const std::lock_guard<std::mutex> lock(exec->one_launch);
    const Step* const step = find_step(exec->steps, node);
    if (step == nullptr) return remembered(cudaErrorInvalidValue);
    *enabled = step->enabled ? 1 : 0;
    return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph,
                                 unsigned long long flags) {
    if (const cudaError_t refusal = refusal_of_unsafe_call()) return refusal;
    constexpr unsigned long long kNothingToDo =
        cudaGraphInstantiateFlagAutoFreeOnLaunch | cudaGraphInstantiateFlagUseNodePriority;
    const auto held = find_graph(graph);
    if (exec == nullptr || held == nullptr) return remembered(cudaErrorInvalidValue);
    if (flags == cudaGraphInstantiateFlagDeviceLaunch) {
        tell("a graph that kernels launch: the CPU device does not support launches by a kernel");
        return remembered(cudaErrorNotSupported);
    }
    if ((flags & ~kNothingToDo) != 0) return remembered(cudaErrorInvalidValue);
    auto made = std::make_unique<CUgraphExec_st>();
    if (!make_steps(*held, made->steps)) return remembered(cudaErrorInvalidValue);
    made->flags = flags;
    made->at_launch = held->at_launch;
    Handles& all = handles();
    const std::lock_guard<std::mutex> lock(all.mutex);
    *exec = *all.execs.insert(made.release()).first;
    return cudaSuccess;
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* exec, cudaGraph_t graph,
                                          unsigned long long flags) {
    return cudaGraphInstantiate(exec, graph, flags);
}

cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t* exec, cudaGraph_t graph,
                                           cudaGraphInstantiateParams* how) {
    if (how == nullptr) return remembered(cudaErrorInvalidValue);
    const unsigned long long upload = cudaGraphInstantiateFlagUpload;
    const cudaError_t error = cudaGraphInstantiate(exec, graph, how->flags & ~upload);
    how->errNode_out = nullptr;
    how->result_out =
        error == cudaSuccess ? cudaGraphInstantiateSuccess : cudaGraphInstantiateInvalidStructure;
    return error;
}

cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t exec, unsigned long long* flags) {
    if (!is_exec(exec) || flags == nullptr) return remembered(cudaErrorInvalidValue);
    *flags = exec->flags;
    return cudaSuccess;
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph,
                                cudaGraphExecUpdateResultInfo* result) {
    const auto held = find_graph(graph);
    if (!is_exec(exec) || held == nullptr || result == nullptr) {
        return remembered(cudaErrorInvalidValue);
    }
    const std::lock_guard<std::mutex> lock(exec->one_launch);
    *result = {cudaGraphExecUpdateError, nullptr, nullptr};
    Steps steps;
    if (!make_steps(*held, steps)) return remembered(cudaErrorGraphExecUpdateFailure);
    result->errorNode = const_cast<Node*>(first_difference(exec->steps, steps, result->result));
    if (result->result != cudaGraphExecUpdateSuccess) {
        return remembered(cudaErrorGraphExecUpdateFailure);
    }
    take_over(exec->steps, steps);
    return cudaSuccess;
}

cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream) {
    if (!is_exec(exec)) return remembered(cudaErrorInvalidValue);
    return remembered(is_stream(stream) ? cudaSuccess : cudaErrorInvalidResourceHandle);
}

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
    const InsideGraph inside((exec->flags & cudaGraphInstantiateFlagAutoFreeOnLaunch) != 0);
    for (const auto& [handle, value] : exec->at_launch) cudaGraphSetConditional(handle, value);
    return run(exec->steps);
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
