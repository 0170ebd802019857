// SPDX-License-Identifier: MIT
// Part of main.cu: no file of its own to the compiler.
__global__ void here(float* x) {
    x[threadIdx.x] = scaled(weights[threadIdx.x % 8]) + Pair{1.f, 2.f}.sum() + bent(0.f);
}
