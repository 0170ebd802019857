// SPDX-License-Identifier: MIT
//
// Ways in which a program ends, one for each word on the command line; endings.txt says with which exit status and
// verdict. A mark stays on its line:
// clang-format off
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "words.cuh"

constexpr int kCount = 64;

__global__ void reversed(int* x) {
    __shared__ int tile[kCount];
    tile[threadIdx.x] = x[threadIdx.x];
    x[threadIdx.x] = tile[kCount - 1 - threadIdx.x];
}

__global__ void filled(int* x) {
    x[threadIdx.x] = 1;  // @filled
}

int* device() {
    int* data = nullptr;
    cudaMalloc(&data, kCount * sizeof(int));
    cudaMemset(data, 0, kCount * sizeof(int));
    return data;
}

void run_right() {
    filled<<<1, kCount>>>(device());
}
void run_wrong() {
    reversed<<<1, kCount>>>(device());
}

const Programs kPrograms = {
    {"right_then_exit", [] { run_right(); std::exit(0); }},
    {"wrong_then_exit", [] { run_wrong(); std::exit(0); }},
    {"right_then_at_once", [] { run_right(); std::_Exit(0); }},
    {"wrong_then_at_once", [] { run_wrong(); _exit(0); }},
    {"wrong_then_seven", [] { run_wrong(); std::_Exit(7); }},
    {"wrong_then_quick", [] { run_wrong(); std::quick_exit(0); }},
    {"right_then_quick_seven", [] { run_right(); std::quick_exit(7); }},
    {"wrong_then_abort", [] { run_wrong(); std::abort(); }},  // @abort
    {"child_ends_first",
     [] {
         run_right();
         if (fork() == 0) _exit(3);
         usleep(100000);
     }},
    {"reset_then_new",
     [] {
         run_wrong();
         cudaDeviceReset();
         run_right();
     }},
    {"reset_then_used",
     [] {
         int* const x = device();
         cudaDeviceReset();
         filled<<<1, kCount>>>(x);
     }},
    {"reset_then_freed",
     [] {
         int* const x = device();
         cudaDeviceReset();
         cudaFree(x);  // @freed
     }},
};

int main(int count, char** words) {
    return run_word(count, words, kPrograms);
}
