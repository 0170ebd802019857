// SPDX-License-Identifier: MIT
#include "capture.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>

#include "api.hpp"
#include "cpu_device/runtime_api.h"
#include "launch.hpp"
#include "strict.hpp"

namespace cpu_device {
namespace {

struct Capture {
    CaptureId id;
    cudaStreamCaptureMode mode;
    std::thread::id thread;  // that began it
    cudaStream_t origin;     // in which
    bool blocking;           // one of its streams and the legacy stream wait for each other
    std::map<cudaStream_t, Frontier> streams;
    std::unique_ptr<CUgraph_st> graph = std::make_unique<CUgraph_st>();  // null: invalidated
};

struct Captures {
    std::mutex mutex;
    std::map<CaptureId, Capture> all;
    CaptureId begun = 0;

    Capture* find(CaptureId id) {
        const auto found = all.find(id);
        return found == all.end() ? nullptr : &found->second;
    }

    Capture* of_stream(cudaStream_t stream) {
        for (auto& [id, capture] : all) {
            if (capture.streams.count(stream) != 0) return &capture;
        }
        return nullptr;
    }

    // Whether there was any such.
    template <class Condition>
    bool invalidate_where(Condition in_the_way) {
        bool found = false;
        for (auto& [id, capture] : all) {
            if (!in_the_way(capture)) continue;
            capture.graph.reset();
            found = true;
        }
        return found;
    }
};

Captures& captures() {
    static Captures* const instance = new Captures;  // alive until the very end of the process
    return *instance;
}

thread_local int graphs_around = 0;
thread_local bool graph_frees_first = false;
thread_local cudaStreamCaptureMode mode_of_thread = cudaStreamCaptureModeGlobal;

bool is_legacy(cudaStream_t stream) {
    return stream == nullptr || stream == cudaStreamLegacy;
}

bool is_blocking(const Capture& capture) {
    return capture.blocking;
}

// Whether this capture keeps the calling thread from what might hide a dependency: see
// cudaThreadExchangeStreamCaptureMode in the toolkit's documentation.
bool restricts_this_thread(const Capture& capture) {
    if (mode_of_thread == cudaStreamCaptureModeRelaxed) return false;
    if (capture.thread == std::this_thread::get_id()) {
        return capture.mode != cudaStreamCaptureModeRelaxed;
    }
    return mode_of_thread == cudaStreamCaptureModeGlobal &&
           capture.mode == cudaStreamCaptureModeGlobal;
}

// Whether the capture is not over, if only because nobody has ended it.
bool goes_on(CaptureId id) {
    Captures& all = captures();
    const std::lock_guard<std::mutex> lock(all.mutex);
    return all.find(id) != nullptr;
}

// Whether the work of each stream comes before what the stream that began the capture would do next.
bool all_have_come_back(const Capture& capture) {
    std::set<const CUgraphNode_st*> before;
    Frontier open = capture.streams.at(capture.origin);
    while (!open.empty()) {
        const CUgraphNode_st* const node = open.back();
        open.pop_back();
        if (!before.insert(node).second) continue;
        open.insert(open.end(), node->dependencies.begin(), node->dependencies.end());
    }
    return std::all_of(capture.streams.begin(), capture.streams.end(), [&](const auto& stream) {
        return std::all_of(stream.second.begin(), stream.second.end(),
                           [&](const auto* node) { return before.count(node) != 0; });
    });
}

cudaError_t refused_if(bool yes, cudaError_t code) {
    return yes ? remembered(code) : cudaSuccess;
}

cudaError_t find_status(cudaStream_t stream, cudaStreamCaptureStatus* status, CaptureId* id) {
    if (status == nullptr) return remembered(cudaErrorInvalidValue);
    if (!is_stream(stream)) return remembered(cudaErrorInvalidResourceHandle);
    Captures& all = captures();
    const std::lock_guard<std::mutex> lock(all.mutex);
    *status = cudaStreamCaptureStatusNone;
    // Asking does not invalidate.
    if (is_legacy(stream)) {
        for (const auto& [other, capture] : all.all) {
            if (is_blocking(capture)) return remembered(cudaErrorStreamCaptureImplicit);
        }
    }
    const Capture* const capture = all.of_stream(stream);
    if (capture == nullptr) return cudaSuccess;
    *status = capture->graph ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusInvalidated;
    if (id != nullptr) *id = capture->id;
    return cudaSuccess;
}

}  // namespace

InsideGraph::InsideGraph(bool frees_first) {
    ++graphs_around;
    graph_frees_first = frees_first;
}

bool InsideGraph::frees_first() {
    return graph_frees_first;
}

InsideGraph::~InsideGraph() {
    --graphs_around;
}

Admission admit(cudaStream_t stream) {
    if (graphs_around > 0) return {};
    judge_stream(stream);
    Captures& all = captures();
    const std::lock_guard<std::mutex> lock(all.mutex);
    if (is_legacy(stream)) {
        if (!all.invalidate_where(is_blocking)) return {};
        return {remembered(cudaErrorStreamCaptureImplicit),
                "the legacy default stream would wait for a stream that is capturing, which ends "
                "that capture"};
    }
    const Capture* const capture = all.of_stream(stream);
    if (capture == nullptr) return {};
    if (capture->graph) return {cudaSuccess, "", capture->id, stream};
    return {remembered(cudaErrorStreamCaptureInvalidated),
            "its stream is capturing, and an earlier call has invalidated the capture"};
}

cudaError_t record(const Admission& to, cudaGraphNodeType type, Work work) {
    Captures& all = captures();
    const std::lock_guard<std::mutex> lock(all.mutex);
    Capture* const capture = all.find(to.capture);
    if (capture == nullptr || !capture->graph) {
        return remembered(cudaErrorStreamCaptureInvalidated);
    }
    append(*capture->graph, type, std::move(work), capture->streams[to.stream]);
    return cudaSuccess;
}

Frontier frontier_of(const Admission& of) {
    Captures& all = captures();
    const std::lock_guard<std::mutex> lock(all.mutex);
    Capture* const capture = all.find(of.capture);
    return capture == nullptr ? Frontier{} : capture->streams[of.stream];
}

void invalidate(CaptureId id) {
    Captures& all = captures();
    const std::lock_guard<std::mutex> lock(all.mutex);
    if (Capture* const capture = all.find(id)) capture->graph.reset();
}

cudaError_t refuse_to_record(CaptureId id, const char* what) {
    invalidate(id);
    tell(std::string(what) +
         " cannot be captured: the CPU device keeps launches, copies and fills " +
         "of streams that the program made");
    return remembered(cudaErrorNotSupported);
}

cudaError_t refusal_of_unsafe_call() {
    if (graphs_around > 0) return cudaSuccess;
    Captures& all = captures();
    const std::lock_guard<std::mutex> lock(all.mutex);
    return refused_if(all.invalidate_where(restricts_this_thread),
                      cudaErrorStreamCaptureUnsupported);
}

cudaError_t refusal_of_device_wait() {
    Captures& all = captures();
    const std::lock_guard<std::mutex> lock(all.mutex);
    return refused_if(all.invalidate_where([](const Capture&) { return true; }),
                      cudaErrorStreamCaptureUnsupported);
}

cudaError_t refusal_of_stream_wait(cudaStream_t stream) {
    {
        Captures& all = captures();
        const std::lock_guard<std::mutex> lock(all.mutex);
        if (is_legacy(stream) && all.invalidate_where(is_blocking)) {
            return remembered(cudaErrorStreamCaptureImplicit);
        }
        if (Capture* const capture = all.of_stream(stream)) {
            capture->graph.reset();
            return remembered(cudaErrorStreamCaptureUnsupported);
        }
    }
    return refusal_of_unsafe_call();
}

cudaError_t refusal_of_event_wait(CaptureId recorded_in) {
    if (recorded_in == 0) return refusal_of_unsafe_call();
    if (!goes_on(recorded_in)) return remembered(cudaErrorInvalidValue);
    invalidate(recorded_in);
    return remembered(cudaErrorCapturedEvent);
}

cudaError_t let_stream_wait(cudaStream_t stream, CaptureId recorded_in, const Frontier& behind,
                            bool was_recorded) {
    const Admission admission = admit(stream);
    if (admission.refusal != cudaSuccess) return admission.refusal;
    if (!was_recorded || (admission.capture == 0 && recorded_in == 0)) return cudaSuccess;
    const bool may_join = admission.capture == 0 && goes_on(recorded_in) && !is_legacy(stream);
    if (admission.capture == recorded_in || may_join) {
        Captures& all = captures();
        const std::lock_guard<std::mutex> lock(all.mutex);
        Capture* const capture = all.find(recorded_in);
        if (capture == nullptr || !capture->graph) {
            return remembered(cudaErrorStreamCaptureInvalidated);
        }
        capture->blocking |= waits_for_legacy_stream(stream);
        Frontier& frontier = capture->streams[stream];
        for (CUgraphNode_st* const node : behind) {
            if (std::find(frontier.begin(), frontier.end(), node) == frontier.end()) {
                frontier.push_back(node);
            }
        }
        return cudaSuccess;
    }
    const bool outside = recorded_in == 0;
    cudaError_t error = outside ? cudaErrorStreamCaptureIsolation : cudaErrorStreamCaptureMerge;
    if (is_legacy(stream)) error = cudaErrorStreamCaptureImplicit;
    if (!outside && !goes_on(recorded_in)) error = cudaErrorInvalidValue;
    invalidate(admission.capture);
    invalidate(recorded_in);
    return remembered(error);
}

void forget_captures(cudaStream_t stream) {
    Captures& all = captures();
    const std::lock_guard<std::mutex> lock(all.mutex);
    if (stream == nullptr) all.all.clear();
    if (const Capture* const capture = all.of_stream(stream)) {
        if (capture->origin == stream) all.all.erase(capture->id);
    }
}

}  // namespace cpu_device

using namespace cpu_device;

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
    if (!is_stream(stream)) return remembered(cudaErrorInvalidResourceHandle);
    if (mode < cudaStreamCaptureModeGlobal || mode > cudaStreamCaptureModeRelaxed) {
        return remembered(cudaErrorInvalidValue);
    }
    if (is_legacy(stream)) {
        const Admission admission = admit(stream);
        return remembered(admission.refusal != cudaSuccess ? admission.refusal
                                                           : cudaErrorStreamCaptureUnsupported);
    }
    // One name for as many streams as there are threads.
    if (stream == cudaStreamPerThread) return refuse_to_record(0, "cudaStreamPerThread");
    Captures& all = captures();
    const std::lock_guard<std::mutex> lock(all.mutex);
    if (all.of_stream(stream) != nullptr) return remembered(cudaErrorIllegalState);
    const CaptureId id = ++all.begun;
    all.all.emplace(id, Capture{id,
                                mode,
                                std::this_thread::get_id(),
                                stream,
                                waits_for_legacy_stream(stream),
                                {{stream, {}}}});
    return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
    if (graph != nullptr) *graph = nullptr;
    if (!is_stream(stream)) return remembered(cudaErrorInvalidResourceHandle);
    if (is_legacy(stream)) {
        const Admission admission = admit(stream);
        return remembered(admission.refusal != cudaSuccess ? admission.refusal
                                                           : cudaErrorIllegalState);
    }
    Captures& all = captures();
    const std::lock_guard<std::mutex> lock(all.mutex);
    Capture* const capture = all.of_stream(stream);
    if (capture == nullptr) return remembered(cudaErrorIllegalState);
    if (capture->origin != stream) {
        capture->graph.reset();
        return remembered(cudaErrorStreamCaptureUnmatched);
    }
    Capture ended = std::move(*capture);
    all.all.erase(ended.id);
    if (ended.mode != cudaStreamCaptureModeRelaxed && ended.thread != std::this_thread::get_id()) {
        return remembered(cudaErrorStreamCaptureWrongThread);
    }
    if (!ended.graph) return remembered(cudaErrorStreamCaptureInvalidated);
    if (!all_have_come_back(ended)) return remembered(cudaErrorStreamCaptureUnjoined);
    if (graph != nullptr) *graph = hand_out(std::move(ended.graph));
    return cudaSuccess;
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
    return find_status(stream, status, nullptr);
}

// What comes after all that was captured so far depends on the last of it.
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                     unsigned long long* id, cudaGraph_t* graph,
                                     const cudaGraphNode_t** dependencies,
                                     const cudaGraphEdgeData** edges, size_t* dependency_count) {
    if (graph != nullptr || dependencies != nullptr || edges != nullptr ||
        dependency_count != nullptr) {
        return refused("cudaStreamGetCaptureInfo of a graph's nodes");
    }
    return find_status(stream, status, id);
}

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
    if (mode == nullptr || *mode < cudaStreamCaptureModeGlobal ||
        *mode > cudaStreamCaptureModeRelaxed) {
        return remembered(cudaErrorInvalidValue);
    }
    std::swap(*mode, mode_of_thread);
    return cudaSuccess;
}
