// SPDX-License-Identifier: MIT
//
// What the parts of the host API share: the error that cudaGetLastError reports, and the streams.
#pragma once

#include "cpu_device/types.h"

namespace cpu_device {

// Remembers an error for the calling thread's cudaGetLastError, and returns it.
cudaError_t remembered(cudaError_t error);

// Ends the launch of a kernel that makes the call: cudaMalloc, cudaMemcpyAsync and the like.
void refuse_to_kernels();

// The error of a kernel that nobody has asked for yet, or success. Like CUDA's sticky errors it is
// returned by every call that waits for the device, but cudaGetLastError clears it.
cudaError_t pending_failure();

// The same where the program is run strictly, else success: then, as on a GPU, a fault spoils everything
// until the end of the program, allocations and launches as well, and cudaGetLastError clears nothing.
cudaError_t lasting_failure();
void remember_failure(cudaError_t error);

// Whether a launch or copy may name it: null, one of CUDA's two constants, or created and alive.
bool is_stream(cudaStream_t stream);

// Whether a stream that is_stream() and the legacy default stream wait for each other.
bool waits_for_legacy_stream(cudaStream_t stream);

// Whose stream it is; the default streams are those of the calling thread's device.
int device_of(cudaStream_t stream);

}  // namespace cpu_device
