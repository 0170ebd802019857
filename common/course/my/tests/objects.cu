// SPDX-License-Identifier: MIT
//
// Objects and variables that go from the host to the device, one program for each word on the command line; objects.txt
// says what is said of each. A mark stays on its line:
// clang-format off
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdio>
#include <cstring>
#include <new>
#include <vector>

#include "words.cuh"

struct Shape {
    __host__ __device__ explicit Shape(float size) : size(size) {}
    __host__ __device__ virtual float area() const { return size; }
    float size;
};
struct Square : Shape {
    __host__ __device__ explicit Square(float size) : Shape(size) {}
    __host__ __device__ float area() const override { return size * size; }
};

__global__ void add_areas(Shape* const* shapes, float* y, int n) {
    float total = 0;
    for (int i = 0; i < n; i++) total += shapes[i]->area();  // @area
    y[0] = total;
}
__global__ void construct(Square* to) {
    new (to + threadIdx.x) Square(threadIdx.x);
}
__global__ void of_value(Square square, float* y) {
    y[0] = square.area();
}

constexpr int kCount = 4;
struct Shapes {
    Square* objects = nullptr;
    Shape** pointers = nullptr;
    float* sum = nullptr;

    explicit Shapes(bool managed = false) {
        if (managed) {
            cudaMallocManaged(&objects, kCount * sizeof(Square));
        } else {
            cudaMalloc(&objects, kCount * sizeof(Square));
        }
        cudaMalloc(&pointers, kCount * sizeof(Shape*));
        cudaMalloc(&sum, sizeof(float));
        Shape* of_host[kCount];
        for (int i = 0; i < kCount; i++) of_host[i] = objects + i;
        cudaMemcpy(pointers, of_host, sizeof of_host, cudaMemcpyHostToDevice);
    }
    void copy() const {
        const Square of_host[kCount] = {Square(0), Square(1), Square(2), Square(3)};
        cudaMemcpy(objects, of_host, sizeof of_host, cudaMemcpyHostToDevice);
    }
    void add_up() const {
        add_areas<<<1, 1>>>(pointers, sum, kCount);
        float result = 0;
        cudaMemcpy(&result, sum, sizeof result, cudaMemcpyDeviceToHost);
        if (result != 14) std::printf("sum %g\n", result);
    }
};

__constant__ float table[kCount];
__global__ void read_table(float* y) {
    y[threadIdx.x] = table[threadIdx.x];
}

const Programs kPrograms = {
    {"copied",
     [] {
         const Shapes shapes;
         shapes.copy();
         shapes.add_up();
     }},
    {"made_in_managed_memory",
     [] {
         const Shapes shapes(true);
         for (int i = 0; i < kCount; i++) new (shapes.objects + i) Square(i);
         shapes.add_up();
     }},
    {"given_by_value",
     [] {
         const Shapes shapes;
         of_value<<<1, 1>>>(Square(3), shapes.sum);  // @by_value
     }},
    {"made_in_a_kernel",
     [] {
         const Shapes shapes;
         shapes.copy();
         construct<<<1, kCount>>>(shapes.objects);
         shapes.add_up();
     }},
    {"pointer_to_symbol",
     [] {
         const float values[kCount] = {1, 2, 3, 4};
         cudaMemcpyToSymbol(&table, values, sizeof values);  // @symbol
     }},
    {"bytes_into_small_floats",
     [] {
         const std::vector<unsigned short> bits(8, 0x3f80);
         __nv_bfloat16 values[8];
         __half halves[8];
         std::memcpy(values, bits.data(), sizeof values);
         std::memcpy(halves, values, sizeof halves);
         std::memset(halves, 0, sizeof halves);
         std::printf("%g %g\n", __bfloat162float(values[7]), __half2float(halves[7]));
     }},
};

int main(int count, char** words) {
    return run_word(count, words, kPrograms);
}
