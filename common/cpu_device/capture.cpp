// SPDX-License-Identifier: MIT
#include "capture.hpp"

#include <map>
#include <mutex>
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
    bool blocking;           // the stream and the legacy stream wait for each other
    std::unique_ptr<CUgraph_st> graph = std::make_unique<CUgraph_st>();  // null: invalidated
};

struct Captures {
    std::mutex mutex;
    std::map<cudaStream_t, Capture> by_stream;
    CaptureId begun = 0;

    Capture* find(CaptureId id) {
        for (auto& [stream, capture] : by_stream) {
            if (capture.id == id) return &capture;
        }
        return nullptr;
    }

    // Whether there was any such.
    template <class Condition>
    bool invalidate_where(Condition in_the_way) {
        bool found = false;
        for (auto& [stream, capture] : by_stream) {
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
        for (const auto& [other, capture] : all.by_stream) {
            if (is_blocking(capture)) return remembered(cudaErrorStreamCaptureImplicit);
        }
    }
    const auto found = all.by_stream.find(stream);
    if (found == all.by_stream.end()) return cudaSuccess;
    const Capture& capture = found->second;
    *status = capture.graph ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusInvalidated;
    if (id != nullptr) *id = capture.id;
    return cudaSuccess;
}

}  // namespace

Admission admit(cudaStream_t stream) {
    judge_stream(stream);
    Captures& all = captures();
    const std::lock_guard<std::mutex> lock(all.mutex);
    if (is_legacy(stream)) {
        if (!all.invalidate_where(is_blocking)) return {};
        return {remembered(cudaErrorStreamCaptureImplicit),
                "the legacy default stream would wait for a stream that is capturing, which ends "
                "that capture"};
    }
    const auto found = all.by_stream.find(stream);
    if (found == all.by_stream.end()) return {};
    if (found->second.graph) return {cudaSuccess, "", found->second.id};
    return {remembered(cudaErrorStreamCaptureInvalidated),
            "its stream is capturing, and an earlier call has invalidated the capture"};
}

cudaError_t record(CaptureId id, cudaGraphNodeType type, Work work) {
    Captures& all = captures();
    const std::lock_guard<std::mutex> lock(all.mutex);
    Capture* const capture = all.find(id);
    if (capture == nullptr || !capture->graph) {
        return remembered(cudaErrorStreamCaptureInvalidated);
    }
    capture->graph->nodes.push_back(
        std::make_shared<CUgraphNode_st>(CUgraphNode_st{type, std::move(work)}));
    return cudaSuccess;
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
         "of one stream that the program made");
    return remembered(cudaErrorNotSupported);
}

cudaError_t refusal_of_unsafe_call() {
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
        if (const auto found = all.by_stream.find(stream); found != all.by_stream.end()) {
            found->second.graph.reset();
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

cudaError_t let_stream_wait(cudaStream_t stream, CaptureId recorded_in, bool was_recorded) {
    const Admission admission = admit(stream);
    if (admission.refusal != cudaSuccess) return admission.refusal;
    if (admission.capture == recorded_in) return cudaSuccess;  // it comes first here anyway
    if (!was_recorded) return cudaSuccess;
    if (admission.capture == 0 && goes_on(recorded_in) && !is_legacy(stream)) {
        return refuse_to_record(recorded_in, "a second stream that joins a capture by an event");
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
    if (stream == nullptr) {
        all.by_stream.clear();
    } else {
        all.by_stream.erase(stream);
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
    if (all.by_stream.count(stream) != 0) return remembered(cudaErrorIllegalState);
    all.by_stream.emplace(stream, Capture{++all.begun, mode, std::this_thread::get_id(),
                                          waits_for_legacy_stream(stream)});
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
    const auto found = all.by_stream.find(stream);
    if (found == all.by_stream.end()) return remembered(cudaErrorIllegalState);
    Capture ended = std::move(found->second);
    all.by_stream.erase(found);
    if (ended.mode != cudaStreamCaptureModeRelaxed && ended.thread != std::this_thread::get_id()) {
        return remembered(cudaErrorStreamCaptureWrongThread);
    }
    if (!ended.graph) return remembered(cudaErrorStreamCaptureInvalidated);
    if (graph != nullptr) *graph = hand_out(std::move(ended.graph));
    return cudaSuccess;
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
    return find_status(stream, status, nullptr);
}

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                     unsigned long long* id) {
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
