// SPDX-License-Identifier: MIT
//
// Results that no kernel has written in full, one program for each word on the command line; results.txt says what is
// said of each. A mark stays on its line:
// clang-format off

#include <cstdio>
#include <cstring>
#include <vector>

#include "words.cuh"

constexpr int kCount = 1000;
constexpr int kBytes = kCount * sizeof(float);

__global__ void fill(float* y, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 1.f;
}

struct Sample {
    double value;
    int index;
};
__global__ void samples(Sample* y) {
    y[threadIdx.x].value = 1;
    y[threadIdx.x].index = threadIdx.x;
}

float* device() {
    float* data = nullptr;
    cudaMalloc(&data, kBytes);
    return data;
}
float* managed() {
    float* data = nullptr;
    cudaMallocManaged(&data, kBytes);
    return data;
}
std::vector<float> host(kCount);

const Programs kPrograms = {
    {"rounded_down",
     [] {
         float* const y = device();
         fill<<<kCount / 256, 256>>>(y, kCount);
         cudaMemcpy(host.data(), y, kBytes, cudaMemcpyDeviceToHost);  // @rounded_down
     }},
    {"rounded_down_in_rows",
     [] {
         float* const y = device();
         fill<<<kCount / 256, 256>>>(y, kCount);
         cudaMemcpy2D(host.data(), 400, y, 400, 400, 10, cudaMemcpyDeviceToHost);  // @rounded_down_in_rows
     }},
    {"rounded_down_managed",
     [] {
         float* const y = managed();
         fill<<<kCount / 256, 256>>>(y, kCount);
         cudaDeviceSynchronize();
         float sum = 0;
         for (int i = 0; i < kCount; i++) sum += y[i];  // @rounded_down_managed
         std::printf("%f\n", sum);
     }},
    {"rounded_down_mapped",
     [] {
         float* y = nullptr;
         cudaMallocHost(&y, kBytes);
         fill<<<kCount / 256, 256>>>(y, kCount);
         cudaDeviceSynchronize();
         std::memcpy(host.data(), y, kBytes);  // @rounded_down_mapped
     }},
    {"nothing_ran", [] { cudaMemcpy(host.data(), device(), kBytes, cudaMemcpyDefault); }},  // @nothing_ran
    {"allocated_too_much",
     [] {
         float* const y = device();
         fill<<<1, 256>>>(y, 100);
         cudaMemcpy(host.data(), y, kBytes, cudaMemcpyDeviceToHost);  // @allocated_too_much
     }},
    {"copied_on_the_device",
     [] {
         cudaMemcpy(device(), device(), kBytes, cudaMemcpyDeviceToDevice);  // @copied_on_the_device
     }},
    {"right",
     [] {
         float* const y = device();
         fill<<<1, 256>>>(y, 100);
         cudaMemcpy(host.data(), y, 400, cudaMemcpyDeviceToHost);
         float* const x = managed();
         for (int i = 0; i < kCount; i++) x[i] = y == nullptr;
         std::memset(managed(), 0xff, kBytes);
         float* const written = managed();
         std::memset(written, 0xff, kBytes);
         std::memcpy(host.data(), written, kBytes);
         for (int i = 1; i < kCount; i++) x[0] += x[i];
         Sample* z = nullptr;
         cudaMalloc(&z, 32 * sizeof(Sample));
         samples<<<1, 32>>>(z);
         std::vector<Sample> all(32);
         cudaMemcpy(all.data(), z, 32 * sizeof(Sample), cudaMemcpyDeviceToHost);
     }},
};

int main(int count, char** words) {
    return run_word(count, words, kPrograms);
}
