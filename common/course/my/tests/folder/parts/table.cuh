// SPDX-License-Identifier: MIT
// What the files of one program share.
#pragma once

extern __device__ float scale;
extern __constant__ float offsets[4];
__device__ float scaled(float x);
struct Pair {
    float a, b;
    __device__ float sum() const;
};
inline __device__ float bent(float x) {
    return x + OWN;
}
__global__ void elsewhere(float* x);
__global__ void racing(float* x);
