// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 04_warp_softmax/ask_once, version 1.0
//
// Stores the CUDA runtime's answers about the GPU, because getting an answer takes longer than a launch.
// 04's further/ and 05 use it; 04's lesson needs no answers.
#pragma once
#include <cstdint>
#include <map>
#include <mutex>
#include <utility>

#include <cuda_runtime.h>

namespace warp_softmax {

// Sets *answer to the runtime's answer for the current device. Calls ask(answer, device) once per device and key; the
// key is everything else that the answer depends on. Does not store a failure. After a failure, clears the runtime's
// last error, unless an error was pending before the call. (Every lambda has its own type and therefore its own map.)
template <class Answer, class Ask, class Key = int>
cudaError_t ask_once(Answer* answer, Ask ask, const Key& key = {}) {
    static std::mutex mutex;  // several host threads may launch
    static auto& answers = *new std::map<std::pair<int, Key>, Answer>;  // never destroyed
    const bool had_error = cudaPeekAtLastError() != cudaSuccess;
    int device = 0;
    cudaError_t error = cudaGetDevice(&device);
    const std::lock_guard<std::mutex> lock(mutex);
    const auto known = answers.find({device, key});
    if (error == cudaSuccess && known != answers.end()) {
        *answer = known->second;
        return cudaSuccess;
    }
    if (error == cudaSuccess) error = ask(answer, device);
    if (answers.size() == 4096) answers.clear();  // 05 may use any number of keys
    if (error == cudaSuccess) answers[{device, key}] = *answer;
    if (error != cudaSuccess && !had_error) cudaGetLastError();
    return error;
}

// Returns an attribute of the current device, or 0 without a device.
inline int64_t device_attribute(cudaDeviceAttr attribute) {
    int value = 0;
    const auto ask = [&](int* answer, int device) {
        return cudaDeviceGetAttribute(answer, attribute, device);
    };
    ask_once(&value, ask, attribute);
    return value;
}

// Sets an attribute of a kernel once per device, always to the same value, because another host thread may be
// about to launch the kernel. (A cudaDeviceReset undoes the setting, which this function does not notice.)
template <class... Parameters>
cudaError_t set_once(void (*kernel)(Parameters...), cudaFuncAttribute attribute, int value) {
    const auto set = [&](int*, int) { return cudaFuncSetAttribute(kernel, attribute, value); };
    return ask_once(&value, set, std::pair(reinterpret_cast<const void*>(kernel), attribute));
}

}  // namespace warp_softmax
