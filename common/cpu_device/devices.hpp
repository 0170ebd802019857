// SPDX-License-Identifier: MIT
//
// How many devices there are, and which may use whose memory. All of them are this machine's cores: what differs is
// whose an allocation, a stream or an event is.
#pragma once

namespace cpu_device {

// 1, unless CPU_DEVICE_COUNT says 2 to 16, or whoever runs the program does.
int device_count();
void have_devices(int count);

// The calling thread's, as cudaSetDevice has chosen it.
int current_device();

bool is_device(int device);

// Whether kernels of `device` may use the memory of `owner`: it is the same, or cudaDeviceEnablePeerAccess has said so.
bool may_access(int device, int owner);

// After cudaDeviceReset of the calling thread's device.
void forget_peers();

}  // namespace cpu_device
