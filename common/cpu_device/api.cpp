// SPDX-License-Identifier: MIT
//
// Errors, streams and events. Everything has happened when a call returns, so a stream is only a
// name and an event only a time, but for what a stream captures: see capture.hpp.
#include "api.hpp"

#include <chrono>
#include <map>
#include <mutex>
#include <set>

#include "capture.hpp"
#include "cpu_device/core.h"
#include "cpu_device/runtime_api.h"
#include "memory.hpp"
#include "strict.hpp"
#include "worker.hpp"

struct CUstream_st {
    bool waits_for_legacy_stream;
};

struct CUevent_st {
    bool has_time;
    bool recorded = false;
    cpu_device::CaptureId recorded_in = 0;
    std::chrono::steady_clock::time_point time{};
};

namespace cpu_device {
namespace {

struct State {
    std::mutex mutex;
    cudaError_t failure = cudaSuccess;
    std::set<cudaStream_t> streams;
    std::set<cudaEvent_t> events;
};

State& state() {
    static State* const instance = new State;  // alive until the very end of the process
    return *instance;
}

// Each thread of the host has its own, so that none finds the mistake of another.
thread_local cudaError_t last_error = cudaSuccess;

struct ErrorText {
    const char* name;
    const char* text;
};

const std::map<cudaError_t, ErrorText>& error_texts() {
    static const std::map<cudaError_t, ErrorText> texts{
        {cudaSuccess, {"cudaSuccess", "no error"}},
        {cudaErrorInvalidValue, {"cudaErrorInvalidValue", "invalid argument"}},
        {cudaErrorMemoryAllocation, {"cudaErrorMemoryAllocation", "out of memory"}},
        {cudaErrorInitializationError, {"cudaErrorInitializationError", "initialization error"}},
        {cudaErrorInvalidConfiguration,
         {"cudaErrorInvalidConfiguration", "invalid configuration argument"}},
        {cudaErrorInvalidPitchValue, {"cudaErrorInvalidPitchValue", "invalid pitch argument"}},
        {cudaErrorInvalidSymbol, {"cudaErrorInvalidSymbol", "invalid device symbol"}},
        {cudaErrorInvalidDevicePointer,
         {"cudaErrorInvalidDevicePointer", "invalid device pointer"}},
        {cudaErrorInvalidMemcpyDirection,
         {"cudaErrorInvalidMemcpyDirection", "invalid copy direction for memcpy"}},
        {cudaErrorInsufficientDriver,
         {"cudaErrorInsufficientDriver",
          "CUDA driver version is insufficient for CUDA runtime version"}},
        {cudaErrorInvalidDeviceFunction,
         {"cudaErrorInvalidDeviceFunction", "invalid device function"}},
        {cudaErrorNoDevice, {"cudaErrorNoDevice", "no CUDA-capable device is detected"}},
        {cudaErrorInvalidDevice, {"cudaErrorInvalidDevice", "invalid device ordinal"}},
        {cudaErrorInvalidResourceHandle,
         {"cudaErrorInvalidResourceHandle", "invalid resource handle"}},
        {cudaErrorIllegalState,
         {"cudaErrorIllegalState", "the operation cannot be performed in the present state"}},
        {cudaErrorNotReady, {"cudaErrorNotReady", "device not ready"}},
        {cudaErrorIllegalAddress,
         {"cudaErrorIllegalAddress", "an illegal memory access was encountered"}},
        {cudaErrorLaunchOutOfResources,
         {"cudaErrorLaunchOutOfResources", "too many resources requested for launch"}},
        {cudaErrorLaunchTimeout,
         {"cudaErrorLaunchTimeout", "the launch timed out and was terminated"}},
        {cudaErrorAssert, {"cudaErrorAssert", "device-side assert triggered"}},
        {cudaErrorHostMemoryAlreadyRegistered,
         {"cudaErrorHostMemoryAlreadyRegistered",
          "part or all of the requested memory range is already mapped"}},
        {cudaErrorHostMemoryNotRegistered,
         {"cudaErrorHostMemoryNotRegistered",
          "pointer does not correspond to a registered memory region"}},
        {cudaErrorHardwareStackError, {"cudaErrorHardwareStackError", "hardware stack error"}},
        {cudaErrorIllegalInstruction,
         {"cudaErrorIllegalInstruction", "an illegal instruction was encountered"}},
        {cudaErrorMisalignedAddress, {"cudaErrorMisalignedAddress", "misaligned address"}},
        {cudaErrorLaunchFailure, {"cudaErrorLaunchFailure", "unspecified launch failure"}},
        {cudaErrorCooperativeLaunchTooLarge,
         {"cudaErrorCooperativeLaunchTooLarge", "too many blocks in cooperative launch"}},
        {cudaErrorNotPermitted, {"cudaErrorNotPermitted", "operation not permitted"}},
        {cudaErrorNotSupported, {"cudaErrorNotSupported", "operation not supported"}},
        {cudaErrorStreamCaptureUnsupported,
         {"cudaErrorStreamCaptureUnsupported", "operation not permitted when stream is capturing"}},
        {cudaErrorStreamCaptureInvalidated,
         {"cudaErrorStreamCaptureInvalidated",
          "operation failed due to a previous error during capture"}},
        {cudaErrorStreamCaptureMerge,
         {"cudaErrorStreamCaptureMerge",
          "operation would result in a merge of separate capture sequences"}},
        {cudaErrorStreamCaptureUnmatched,
         {"cudaErrorStreamCaptureUnmatched",
          "capture was not ended in the same stream as it began"}},
        {cudaErrorStreamCaptureUnjoined,
         {"cudaErrorStreamCaptureUnjoined", "capturing stream has unjoined work"}},
        {cudaErrorStreamCaptureIsolation,
         {"cudaErrorStreamCaptureIsolation",
          "dependency created on uncaptured work in another stream"}},
        {cudaErrorStreamCaptureImplicit,
         {"cudaErrorStreamCaptureImplicit",
          "operation would make the legacy stream depend on a capturing blocking stream"}},
        {cudaErrorCapturedEvent,
         {"cudaErrorCapturedEvent",
          "operation not permitted on an event last recorded in a capturing stream"}},
        {cudaErrorStreamCaptureWrongThread,
         {"cudaErrorStreamCaptureWrongThread",
          "attempt to terminate a thread-local capture sequence from another thread"}},
        {cudaErrorInvalidClusterSize,
         {"cudaErrorInvalidClusterSize", "a cluster configuration is not supported"}},
        {cudaErrorUnknown, {"cudaErrorUnknown", "unknown error"}},
    };
    return texts;
}

bool is_event(cudaEvent_t event) {
    State& all = state();
    const std::lock_guard<std::mutex> lock(all.mutex);
    return all.events.count(event) != 0;
}

}  // namespace

void refuse_to_kernels() {
    if (current.lane == nullptr) return;
    fail(cudaErrorNotSupported,
         "a kernel allocates, copies or waits by a function of the host's, which the CPU device "
         "does "
         "not support");
}

cudaError_t remembered(cudaError_t error) {
    if (error != cudaSuccess) last_error = error;
    return error;
}

cudaError_t pending_failure() {
    State& all = state();
    const std::lock_guard<std::mutex> lock(all.mutex);
    return all.failure;
}

cudaError_t lasting_failure() {
    return is_strict() ? pending_failure() : cudaSuccess;
}

void remember_failure(cudaError_t error) {
    State& all = state();
    const std::lock_guard<std::mutex> lock(all.mutex);
    all.failure = error;
}

bool is_stream(cudaStream_t stream) {
    if (stream == nullptr || stream == cudaStreamLegacy || stream == cudaStreamPerThread) {
        return true;
    }
    State& all = state();
    const std::lock_guard<std::mutex> lock(all.mutex);
    return all.streams.count(stream) != 0;
}

bool waits_for_legacy_stream(cudaStream_t stream) {
    const bool created =
        stream != nullptr && stream != cudaStreamLegacy && stream != cudaStreamPerThread;
    return !created || stream->waits_for_legacy_stream;
}

}  // namespace cpu_device

using namespace cpu_device;

cudaError_t cudaPeekAtLastError() {
    State& all = state();
    const std::lock_guard<std::mutex> lock(all.mutex);
    return all.failure != cudaSuccess ? all.failure : last_error;
}

cudaError_t cudaGetLastError() {
    const cudaError_t error = cudaPeekAtLastError();
    State& all = state();
    const std::lock_guard<std::mutex> lock(all.mutex);
    last_error = cudaSuccess;
    if (!is_strict()) all.failure = cudaSuccess;
    return error;
}

const char* cudaGetErrorName(cudaError_t error) {
    const auto found = error_texts().find(error);
    return found == error_texts().end() ? "unrecognized error code" : found->second.name;
}

const char* cudaGetErrorString(cudaError_t error) {
    const auto found = error_texts().find(error);
    return found == error_texts().end() ? "unrecognized error code" : found->second.text;
}

cudaError_t cudaDeviceSynchronize() {
    refuse_to_kernels();
    if (const cudaError_t refusal = refusal_of_device_wait()) return refusal;
    return pending_failure();
}

// Where a learner's program is run the memory is gone, as on a GPU. A launcher is only told of: its caller's memory
// is still needed for the verdict.
cudaError_t cudaDeviceReset() {
    refuse_to_kernels();
    judge_reset();
    if (is_strict()) free_everything();
    forget_captures(nullptr);
    remember_failure(cudaSuccess);
    cudaGetLastError();
    return cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
    if (stream == nullptr || flags > cudaStreamNonBlocking) {
        return remembered(cudaErrorInvalidValue);
    }
    *stream = new CUstream_st{(flags & cudaStreamNonBlocking) == 0};
    State& all = state();
    const std::lock_guard<std::mutex> lock(all.mutex);
    all.streams.insert(*stream);
    return cudaSuccess;
}

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
    return cudaStreamCreateWithFlags(stream, cudaStreamDefault);
}

// As on a GPU a priority out of range is brought into it; here all streams run alike.
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int) {
    return cudaStreamCreateWithFlags(stream, flags);
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
    if (least != nullptr) *least = 0;
    if (greatest != nullptr) *greatest = -5;
    return cudaSuccess;
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
    refuse_to_kernels();
    if (function == nullptr) return remembered(cudaErrorInvalidValue);
    if (!is_stream(stream)) return remembered(cudaErrorInvalidResourceHandle);
    const Admission admission = admit(stream);
    if (admission.refusal != cudaSuccess) return admission.refusal;
    const auto call = [=] {
        // As on a GPU it is not called once a kernel has failed.
        const cudaError_t failure = pending_failure();
        if (failure == cudaSuccess) function(data);
        return failure;
    };
    return admission.capture == 0 ? call() : record(admission.capture, cudaGraphNodeTypeHost, call);
}

// The older of the two, which no capture takes, and which is called after a failure as well.
cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t function, void* data,
                                  unsigned flags) {
    refuse_to_kernels();
    if (function == nullptr || flags != 0) return remembered(cudaErrorInvalidValue);
    if (!is_stream(stream)) return remembered(cudaErrorInvalidResourceHandle);
    const Admission admission = admit(stream);
    if (admission.refusal != cudaSuccess) return admission.refusal;
    if (admission.capture != 0) return remembered(cudaErrorStreamCaptureUnsupported);
    function(stream, pending_failure(), data);
    return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
    State& all = state();
    {
        const std::lock_guard<std::mutex> lock(all.mutex);
        if (all.streams.erase(stream) == 0) return remembered(cudaErrorInvalidResourceHandle);
    }
    forget_captures(stream);
    delete stream;
    return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
    if (!is_stream(stream)) return remembered(cudaErrorInvalidResourceHandle);
    if (const cudaError_t refusal = refusal_of_stream_wait(stream)) return refusal;
    return pending_failure();
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
    return cudaStreamSynchronize(stream);
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
    if (!is_stream(stream) || !is_event(event)) return remembered(cudaErrorInvalidResourceHandle);
    return let_stream_wait(stream, event->recorded_in, event->recorded);
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
    if (event == nullptr) return remembered(cudaErrorInvalidValue);
    *event = new CUevent_st{(flags & cudaEventDisableTiming) == 0};
    State& all = state();
    const std::lock_guard<std::mutex> lock(all.mutex);
    all.events.insert(*event);
    return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t* event) {
    return cudaEventCreateWithFlags(event, cudaEventDefault);
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    if (!is_event(event) || !is_stream(stream)) return remembered(cudaErrorInvalidResourceHandle);
    const Admission admission = admit(stream);
    if (admission.refusal != cudaSuccess) return admission.refusal;
    event->recorded_in = admission.capture;
    event->time = std::chrono::steady_clock::now();
    event->recorded = true;
    return cudaSuccess;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
    if (!is_event(event)) return remembered(cudaErrorInvalidResourceHandle);
    if (const cudaError_t refusal = refusal_of_event_wait(event->recorded_in)) return refusal;
    return pending_failure();
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
    return cudaEventSynchronize(event);
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t stop) {
    if (milliseconds == nullptr) return remembered(cudaErrorInvalidValue);
    for (const cudaEvent_t event : {start, stop}) {
        if (!is_event(event) || !event->has_time || !event->recorded) {
            return remembered(cudaErrorInvalidResourceHandle);
        }
        if (event->recorded_in != 0) return refusal_of_event_wait(event->recorded_in);
    }
    *milliseconds = std::chrono::duration<float, std::milli>(stop->time - start->time).count();
    return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
    State& all = state();
    {
        const std::lock_guard<std::mutex> lock(all.mutex);
        if (all.events.erase(event) != 0) {
            delete event;
            return cudaSuccess;
        }
    }
    return remembered(cudaErrorInvalidResourceHandle);
}
