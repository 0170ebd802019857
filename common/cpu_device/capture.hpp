// SPDX-License-Identifier: MIT
//
// Which streams capture, and what that forbids. The rules and codes are those that an H100 with
// CUDA 13.0 showed (the names behind the numbers are in types.h):
//
//   work (a launch, copy, fill, recorded event)
//       into a capturing stream: kept; 901 once its capture is invalidated
//       into the legacy stream: 906 while a blocking stream captures, from whatever thread and in
//       whatever mode; as ever while only non-blocking ones do. cudaMemcpy and cudaMemset are such
//       into any other stream: as ever, at once
//   cudaDeviceSynchronize: 900 while anything captures
//   waiting for a capturing stream: 900; for an event last recorded there: 907, and once that
//       capture is over cudaErrorInvalidValue; the legacy stream for one: 906
//   waiting, in a stream that captures nothing, for an event of a capture: the stream joins it. Its work has to come back
//       to the stream that began the capture, by another event, before that ends it: else 904
//   what may hide a dependency (allocating, freeing, waiting for anything else, instantiating):
//       900 where the modes forbid it
//
// An error of this kind also invalidates the captures that were in its way.
#pragma once

#include "api.hpp"
#include "cpu_device/types.h"
#include "graph.hpp"

namespace cpu_device {

// Names a capture for the life of the process; no capture has the number 0.
using CaptureId = unsigned long long;

// What a call that puts work into a stream is told.
struct Admission {
    cudaError_t refusal = cudaSuccess;
    const char* why = "";   // of a refusal, in words
    CaptureId capture = 0;  // not 0: record() the work rather than do it
    cudaStream_t stream = nullptr;
};

// While one exists, the calling thread runs a graph: its nodes are work of the stream into which the graph was launched,
// and of no other.
class InsideGraph {
public:
    // `frees_first`: what the graph has allocated before and nobody has freed, a node that allocates it frees.
    explicit InsideGraph(bool frees_first);
    ~InsideGraph();
    static bool frees_first();
    InsideGraph(const InsideGraph&) = delete;
    InsideGraph& operator=(const InsideGraph&) = delete;
};

// The refusals here and below are remembered for cudaGetLastError.
Admission admit(cudaStream_t stream);

cudaError_t record(const Admission& to, cudaGraphNodeType type, Work work);

// After which nodes comes what the stream captures next: an event that is recorded there is worth as much.
Frontier frontier_of(const Admission& of);

void invalidate(CaptureId capture);

// For work that a graph on a GPU could hold and one here cannot: says so, invalidates the capture,
// and returns cudaErrorNotSupported.
cudaError_t refuse_to_record(CaptureId capture, const char* what);

// For calls that are not work of a stream: success, or why they may not be made now.
cudaError_t refusal_of_unsafe_call();
cudaError_t refusal_of_device_wait();
cudaError_t refusal_of_stream_wait(cudaStream_t stream);
cudaError_t refusal_of_event_wait(CaptureId recorded_in);

// `stream` is to wait for an event that was last recorded in that capture (0: in none), behind those nodes. A stream
// that captures nothing joins the capture so.
cudaError_t let_stream_wait(cudaStream_t stream, CaptureId recorded_in, const Frontier& behind,
                            bool was_recorded);

// Makes a call that is no work of a stream, and might hide from a capture what its graph depends on: call(). Remembers its
// error, or why it may not be made now.
template <class Call>
cudaError_t unless_captures_forbid(Call call) {
    refuse_to_kernels();
    if (const cudaError_t refusal = refusal_of_unsafe_call()) return refusal;
    if (const cudaError_t failure = lasting_failure()) return failure;
    return remembered(call());
}

// The stream is destroyed, or (null) all are reset: what they were capturing is dropped.
void forget_captures(cudaStream_t stream);

}  // namespace cpu_device
