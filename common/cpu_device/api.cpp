// SPDX-License-Identifier: MIT
//
// Errors, streams and events. Everything has happened when a call returns, so a stream is only a
// name and an event only a time, but for what a stream captures: see capture.hpp.
#include "api.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <map>
#include <mutex>
#include <set>

#include "capture.hpp"
#include "cpu_device/core.h"
#include "cpu_device/runtime_api.h"
#include "devices.hpp"
#include "memory.hpp"
#include "strict.hpp"
#include "worker.hpp"

struct CUstream_st {
    bool waits_for_legacy_stream;
    int priority;
    int device;
    unsigned long long id;
    std::map<cudaStreamAttrID, cudaStreamAttrValue> attributes{};
};

struct CUevent_st {
    bool has_time;
    int device;
    bool recorded = false;
    cpu_device::CaptureId recorded_in = 0;
    cpu_device::Frontier behind{};  // nodes of that capture
    std::chrono::steady_clock::time_point time{};
};

namespace cpu_device {
namespace {

struct State {
    std::mutex mutex;
    cudaError_t failure = cudaSuccess;
    std::set<cudaStream_t> streams;
    std::set<cudaEvent_t> events;
    unsigned long long streams_made = 0;
    // Of the default streams, which are no objects.
    std::map<cudaStream_t, std::map<cudaStreamAttrID, cudaStreamAttrValue>> default_attributes;
};

State& state() {
    static State* const instance = new State;  // alive until the very end of the process
    return *instance;
}

// Each thread of the host has its own, so that none finds the mistake of another.
thread_local cudaError_t last_error = cudaSuccess;

struct ErrorText {
    cudaError_t code;
    const char* name;
    const char* text;
};

#define CPU_DEVICE_ERROR_TEXT(name, value, text) {name, #name, text},
constexpr ErrorText kErrorTexts[] = {CPU_DEVICE_ERRORS(CPU_DEVICE_ERROR_TEXT)};
#undef CPU_DEVICE_ERROR_TEXT

ErrorText text_of(cudaError_t error) {
    const auto* const found =
        std::find_if(std::begin(kErrorTexts), std::end(kErrorTexts),
                     [error](const ErrorText& one) { return one.code == error; });
    constexpr const char* kUnknown = "unrecognized error code";
    return found == std::end(kErrorTexts) ? ErrorText{error, kUnknown, kUnknown} : *found;
}

bool is_created(cudaStream_t stream) {
    return stream != nullptr && stream != cudaStreamLegacy && stream != cudaStreamPerThread;
}

constexpr int kLeastPriority = 0;
constexpr int kGreatestPriority = -5;

// Streams have these; what they change is no concern of a device that runs one launch after the other.
bool is_stream_attribute(cudaStreamAttrID attribute) {
    return attribute == cudaStreamAttributeAccessPolicyWindow ||
           attribute == cudaStreamAttributeSynchronizationPolicy ||
           attribute == cudaStreamAttributePriority ||
           attribute == cudaStreamAttributeMemSyncDomainMap ||
           attribute == cudaStreamAttributeMemSyncDomain;
}

cudaStreamAttrValue attribute_at_first(cudaStream_t stream, cudaStreamAttrID attribute) {
    cudaStreamAttrValue value{};
    if (attribute == cudaStreamAttributeSynchronizationPolicy)
        value.syncPolicy = cudaSyncPolicyAuto;
    if (attribute == cudaStreamAttributePriority && is_created(stream)) {
        value.priority = stream->priority;
    }
    if (attribute == cudaStreamAttributeMemSyncDomainMap) value.memSyncDomainMap = {0, 1};
    return value;
}

// What was set of a stream; state().mutex is held.
std::map<cudaStreamAttrID, cudaStreamAttrValue>& attributes_of(cudaStream_t stream) {
    return is_created(stream) ? stream->attributes : state().default_attributes[stream];
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
    if (!is_created(stream)) return true;
    State& all = state();
    const std::lock_guard<std::mutex> lock(all.mutex);
    return all.streams.count(stream) != 0;
}

bool waits_for_legacy_stream(cudaStream_t stream) {
    return !is_created(stream) || stream->waits_for_legacy_stream;
}

int device_of(cudaStream_t stream) {
    return is_created(stream) ? stream->device : current_device();
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
    return text_of(error).name;
}

const char* cudaGetErrorString(cudaError_t error) {
    return text_of(error).text;
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
    if (is_strict()) free_everything_on(current_device());
    forget_peers();
    forget_captures(nullptr);
    remember_failure(cudaSuccess);
    cudaGetLastError();
    return cudaSuccess;
}

// As on a GPU a priority out of range is brought into it; here all streams run alike.
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority) {
    if (stream == nullptr || flags > cudaStreamNonBlocking) {
        return remembered(cudaErrorInvalidValue);
    }
    State& all = state();
    const std::lock_guard<std::mutex> lock(all.mutex);
    *stream = new CUstream_st{(flags & cudaStreamNonBlocking) == 0,
                              std::clamp(priority, kGreatestPriority, kLeastPriority),
                              current_device(), ++all.streams_made};
    all.streams.insert(*stream);
    return cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
    return cudaStreamCreateWithPriority(stream, flags, kLeastPriority);
}

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
    return cudaStreamCreateWithFlags(stream, cudaStreamDefault);
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
    if (least != nullptr) *least = kLeastPriority;
    if (greatest != nullptr) *greatest = kGreatestPriority;
    return cudaSuccess;
}

cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) {
    if (priority == nullptr) return remembered(cudaErrorInvalidValue);
    cudaStreamAttrValue value;
    const cudaError_t error = cudaStreamGetAttribute(stream, cudaStreamAttributePriority, &value);
    if (error == cudaSuccess) *priority = value.priority;
    return error;
}

cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned* flags) {
    if (flags == nullptr) return remembered(cudaErrorInvalidValue);
    if (!is_stream(stream)) return remembered(cudaErrorInvalidResourceHandle);
    *flags = waits_for_legacy_stream(stream) ? cudaStreamDefault : cudaStreamNonBlocking;
    return cudaSuccess;
}

// Those of the default streams come behind all that can be made.
cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long* id) {
    if (id == nullptr) return remembered(cudaErrorInvalidValue);
    if (!is_stream(stream)) return remembered(cudaErrorInvalidResourceHandle);
    const unsigned long long number = stream == cudaStreamPerThread ? 1 : 0;
    *id = is_created(stream) ? stream->id : ~0ull - number;
    return cudaSuccess;
}

cudaError_t cudaStreamGetDevice(cudaStream_t stream, int* device) {
    if (device == nullptr) return remembered(cudaErrorInvalidValue);
    if (!is_stream(stream)) return remembered(cudaErrorInvalidResourceHandle);
    *device = device_of(stream);
    return cudaSuccess;
}

cudaError_t cudaStreamGetAttribute(cudaStream_t stream, cudaStreamAttrID attribute,
                                   cudaStreamAttrValue* value) {
    if (value == nullptr || !is_stream_attribute(attribute)) {
        return remembered(cudaErrorInvalidValue);
    }
    if (!is_stream(stream)) return remembered(cudaErrorInvalidResourceHandle);
    const std::lock_guard<std::mutex> lock(state().mutex);
    const auto& set = attributes_of(stream);
    const auto found = set.find(attribute);
    *value = found == set.end() ? attribute_at_first(stream, attribute) : found->second;
    return cudaSuccess;
}

cudaError_t cudaStreamSetAttribute(cudaStream_t stream, cudaStreamAttrID attribute,
                                   const cudaStreamAttrValue* value) {
    if (value == nullptr || !is_stream_attribute(attribute)) {
        return remembered(cudaErrorInvalidValue);
    }
    if (!is_stream(stream)) return remembered(cudaErrorInvalidResourceHandle);
    const std::lock_guard<std::mutex> lock(state().mutex);
    attributes_of(stream)[attribute] = *value;
    return cudaSuccess;
}

cudaError_t cudaStreamCopyAttributes(cudaStream_t to, cudaStream_t from) {
    if (!is_stream(to) || !is_stream(from)) return remembered(cudaErrorInvalidResourceHandle);
    const std::lock_guard<std::mutex> lock(state().mutex);
    const auto copied = attributes_of(from);
    attributes_of(to) = copied;
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
    return admission.capture == 0 ? call() : record(admission, cudaGraphNodeTypeHost, call);
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
    return let_stream_wait(stream, event->recorded_in, event->behind, event->recorded);
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
    if (event == nullptr) return remembered(cudaErrorInvalidValue);
    constexpr unsigned kFlags =
        cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess;
    if ((flags & ~kFlags) != 0) return remembered(cudaErrorInvalidValue);
    if ((flags & cudaEventInterprocess) != 0) return refused("event for other processes");
    *event = new CUevent_st{(flags & cudaEventDisableTiming) == 0, current_device()};
    State& all = state();
    const std::lock_guard<std::mutex> lock(all.mutex);
    all.events.insert(*event);
    return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t* event) {
    return cudaEventCreateWithFlags(event, cudaEventDefault);
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags) {
    if (flags > cudaEventRecordExternal) return remembered(cudaErrorInvalidValue);
    if (!is_event(event) || !is_stream(stream) || event->device != device_of(stream)) {
        return remembered(cudaErrorInvalidResourceHandle);
    }
    const Admission admission = admit(stream);
    if (admission.refusal != cudaSuccess) return admission.refusal;
    event->recorded_in = admission.capture;
    event->behind = frontier_of(admission);
    event->time = std::chrono::steady_clock::now();
    event->recorded = true;
    return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    return cudaEventRecordWithFlags(event, stream, cudaEventRecordDefault);
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
    if (start->device != stop->device) return remembered(cudaErrorInvalidResourceHandle);
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
