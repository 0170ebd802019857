// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 04_warp_softmax/ask_once, version 1.0
//
// What a launcher has to know of the GPU, asked once: an answer of the CUDA runtime takes longer than a
// launch. 04's further/ and 05 use it; 04's lesson has nothing to ask.
#pragma once
#include <cstdint>
#include <map>
#include <mutex>
#include <utility>

#include <cuda_runtime.h>

namespace warp_softmax {

// What the runtime says of the current device: ask(answer, device) is called once for each device and
// key, which is what else the answer depends on. No launch should wait for an answer a second time.
// A failure is not remembered, and leaves no error for the next call to find, unless there was one.
// (Each lambda is a type of its own: what one asks is not mistaken for what another does.)
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
    if (answers.size() == 4096) answers.clear();  // of widths (05) there may be any number
    if (error == cudaSuccess) answers[{device, key}] = *answer;
    if (error != cudaSuccess && !had_error) cudaGetLastError();
    return error;
}

// Of the current device; 0 where there is none.
inline int64_t device_attribute(cudaDeviceAttr attribute) {
    int value = 0;
    const auto ask = [&](int* answer, int device) {
        return cudaDeviceGetAttribute(answer, attribute, device);
    };
    ask_once(&value, ask, attribute);
    return value;
}

}  // namespace warp_softmax
