// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 04_warp_softmax/ask_once, version 1.0
//
// Asks the CUDA runtime each question about the GPU once, because an answer takes longer than a launch.
// 04's further/ and 05 use it; 04's lesson has nothing to ask.
#pragma once
#include <cstdint>
#include <map>
#include <mutex>
#include <utility>

#include <cuda_runtime.h>

namespace warp_softmax {

// Returns the runtime's answer for the current device. It calls ask(answer, device) once per device and
// key; the key is whatever else the answer depends on. It does not remember a failure, and leaves no error
// for the next call to find, unless there was one before.
// (Every lambda has its own type and therefore its own map of answers.)
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
    if (answers.size() == 4096) answers.clear();  // 05 asks for any number of widths
    if (error == cudaSuccess) answers[{device, key}] = *answer;
    if (error != cudaSuccess && !had_error) cudaGetLastError();
    return error;
}

// An attribute of the current device; 0 without a device.
inline int64_t device_attribute(cudaDeviceAttr attribute) {
    int value = 0;
    const auto ask = [&](int* answer, int device) {
        return cudaDeviceGetAttribute(answer, attribute, device);
    };
    ask_once(&value, ask, attribute);
    return value;
}

}  // namespace warp_softmax
