// SPDX-License-Identifier: MIT
//
// Kernels whose counters were read on an NVIDIA H200 (Nsight Compute 2025.3.1, CUDA 13.0, nvcc -O3
// -arch=sm_90; 256 x 1024 elements, one launch each). The expected figures are those readings.
#include <cuda_fp16.h>

#include <cmath>
#include <cub/block/block_reduce.cuh>

#include "common/runner/device.hpp"
#include "common/xray/tests/counted.hpp"

using namespace xray;

namespace {

constexpr int kRows = 256;
constexpr int kCols = 1024;
constexpr int kThreads = 128;

struct Maximum {
    __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};
struct Sum {
    __device__ float operator()(float a, float b) const { return a + b; }
};

template <class Operation>
__device__ float reduce_to_all(float mine) {
    using BlockReduce = cub::BlockReduce<float, kThreads>;
    __shared__ typename BlockReduce::TempStorage scratch;
    __shared__ float all;
    const float reduced = BlockReduce(scratch).Reduce(mine, Operation{});
    if (threadIdx.x == 0) all = reduced;
    __syncthreads();
    const float result = all;
    __syncthreads();  // before the next call overwrites it
    return result;
}

__global__ void naive(const float* x, float* y) {
    const float* x_row = x + blockIdx.x * kCols;
    float* y_row = y + blockIdx.x * kCols;
    float sum = 0;
    for (int col = threadIdx.x; col < kCols; col += kThreads) sum += expf(x_row[col]);
    sum = reduce_to_all<Sum>(sum);
    for (int col = threadIdx.x; col < kCols; col += kThreads) y_row[col] = expf(x_row[col]) / sum;
}

__global__ void safe(const float* x, float* y) {
    const float* x_row = x + blockIdx.x * kCols;
    float* y_row = y + blockIdx.x * kCols;
    float max = -INFINITY;
    for (int col = threadIdx.x; col < kCols; col += kThreads) max = fmaxf(max, x_row[col]);
    max = reduce_to_all<Maximum>(max);
    float sum = 0;
    for (int col = threadIdx.x; col < kCols; col += kThreads) sum += expf(x_row[col] - max);
    sum = reduce_to_all<Sum>(sum);
    for (int col = threadIdx.x; col < kCols; col += kThreads) {
        y_row[col] = expf(x_row[col] - max) / sum;
    }
}

struct __align__(8) Normalizer {
    float m, d;
};
struct Merge {
    __device__ Normalizer operator()(Normalizer a, Normalizer b) const {
        const Normalizer high = a.m > b.m ? a : b;
        const Normalizer low = a.m > b.m ? b : a;
        return {high.m, high.d + low.d * expf(low.m - high.m)};
    }
};

__global__ void online(const float* x, float* y) {
    using BlockReduce = cub::BlockReduce<Normalizer, kThreads>;
    __shared__ typename BlockReduce::TempStorage scratch;
    __shared__ Normalizer all;
    const float* x_row = x + blockIdx.x * kCols;
    float* y_row = y + blockIdx.x * kCols;
    Normalizer mine{-INFINITY, 0};
    for (int col = threadIdx.x; col < kCols; col += kThreads) {
        mine = Merge{}(mine, Normalizer{__ldg(x_row + col), 1});
    }
    mine = BlockReduce(scratch).Reduce(mine, Merge{});
    if (threadIdx.x == 0) all = mine;
    __syncthreads();
    const Normalizer row = all;
    for (int col = threadIdx.x; col < kCols; col += kThreads) {
        y_row[col] = expf(__ldg(x_row + col) - row.m) / row.d;
    }
}

// A warp per row, the row in registers.
__global__ void warp_packs(const float* x, float* y) {
    constexpr int kPacks = kCols / (4 * 32);
    const int row = blockIdx.x * blockDim.y + threadIdx.y;
    const float4* x_row = reinterpret_cast<const float4*>(x + row * kCols);
    float4* y_row = reinterpret_cast<float4*>(y + row * kCols);
    float4 packs[kPacks];
    float max = -INFINITY;
    for (int i = 0; i < kPacks; i++) {
        const float4 pack = x_row[i * 32 + threadIdx.x];
        packs[i] = pack;
        max = fmaxf(max, fmaxf(fmaxf(pack.x, pack.y), fmaxf(pack.z, pack.w)));
    }
    for (int other = 16; other > 0; other /= 2) {
        max = fmaxf(max, __shfl_xor_sync(0xffffffffu, max, other));
    }
    float sum = 0;
    for (int i = 0; i < kPacks; i++) {
        packs[i] = make_float4(expf(packs[i].x - max), expf(packs[i].y - max),
                               expf(packs[i].z - max), expf(packs[i].w - max));
        sum += packs[i].x + packs[i].y + packs[i].z + packs[i].w;
    }
    for (int other = 16; other > 0; other /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, other);
    for (int i = 0; i < kPacks; i++) {
        const float4 pack =
            make_float4(packs[i].x / sum, packs[i].y / sum, packs[i].z / sum, packs[i].w / sum);
        y_row[i * 32 + threadIdx.x] = pack;
    }
}

template <int n>
struct alignas(n * sizeof(float)) Pack {
    float of[n];
};

extern __shared__ __align__(16) unsigned char shared_bytes[];

// The row in shared memory: element i of pack p at p * n + i, or at i * packs + p.
template <int n, bool interleaved>
__global__ void row_in_shared_memory(const float* x, float* y) {
    constexpr int kPacks = kCols / n;
    float* row = reinterpret_cast<float*>(shared_bytes);
    const auto* x_row = reinterpret_cast<const Pack<n>*>(x + blockIdx.x * kCols);
    auto* y_row = reinterpret_cast<Pack<n>*>(y + blockIdx.x * kCols);
    float max = -INFINITY;
    for (int p = threadIdx.x; p < kPacks; p += kThreads) {
        const Pack<n> pack = x_row[p];
        for (int i = 0; i < n; i++) {
            row[interleaved ? i * kPacks + p : p * n + i] = pack.of[i];
            max = fmaxf(max, pack.of[i]);
        }
    }
    max = reduce_to_all<Maximum>(max);
    float sum = 0;
    for (int col = threadIdx.x; col < kCols; col += kThreads) {
        const float value = expf(row[col] - max);
        row[col] = value;
        sum += value;
    }
    sum = reduce_to_all<Sum>(sum);
    for (int p = threadIdx.x; p < kPacks; p += kThreads) {
        Pack<n> pack;
        for (int i = 0; i < n; i++) {
            pack.of[i] = row[interleaved ? i * kPacks + p : p * n + i] / sum;
        }
        y_row[p] = pack;
    }
}

__global__ void transpose_directly(const float* x, float* y) {
    const int col = blockIdx.x * 32 + threadIdx.x;
    const int row = blockIdx.y * 8 + threadIdx.y;
    y[col * kRows + row] = x[row * kCols + col];
}

template <int padding>
__global__ void transpose_tile(const float* x, float* y) {
    __shared__ float tile[32][32 + padding];
    const int row = blockIdx.y * 32 + threadIdx.y;
    const int col = blockIdx.x * 32 + threadIdx.x;
    for (int j = 0; j < 32; j += 8) {
        tile[threadIdx.y + j][threadIdx.x] = x[(row + j) * kCols + col];
    }
    __syncthreads();
    const int y_row = blockIdx.x * 32 + threadIdx.y;
    const int y_col = blockIdx.y * 32 + threadIdx.x;
    for (int j = 0; j < 32; j += 8) {
        y[(y_row + j) * kRows + y_col] = tile[threadIdx.x][threadIdx.y + j];
    }
}

__global__ void transpose_half2(const half2* x, half2* y) {
    __shared__ union {
        half one[64][66];
        half2 two[64][33];
    } tile;
    const int row = blockIdx.y * 64 + threadIdx.y;
    const int pair = blockIdx.x * 32 + threadIdx.x;
    for (int j = 0; j < 64; j += 8) {
        tile.two[threadIdx.y + j][threadIdx.x] = x[(row + j) * (kCols / 2) + pair];
    }
    __syncthreads();
    const int y_row = blockIdx.x * 64 + threadIdx.y;
    const int y_pair = blockIdx.y * 32 + threadIdx.x;
    for (int j = 0; j < 64; j += 8) {
        y[(y_row + j) * (kRows / 2) + y_pair] =
            __halves2half2(tile.one[2 * threadIdx.x][threadIdx.y + j],
                           tile.one[2 * threadIdx.x + 1][threadIdx.y + j]);
    }
}

__global__ void add_scaled_half2(const half2* x, half2* y, half2 factor) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = __hfma2(factor, x[i], y[i]);
}

struct Counters {  // of the H200
    int64_t load_requests, load_sectors, store_requests, store_sectors;
    int64_t bank_conflicts;
};

// Which of the x-ray's columns the hardware's bank conflicts are found in.
enum class Column { as_written, as_fused };

void expect(const std::vector<KernelCounts>& kernels, const Counters& read,
            Column column = Column::as_written) {
    CHECK(requests(kernels, AccessKind::global_load) == read.load_requests);
    CHECK(sectors(kernels, AccessKind::global_load) == read.load_sectors);
    CHECK(requests(kernels, AccessKind::global_store) == read.store_requests);
    CHECK(sectors(kernels, AccessKind::global_store) == read.store_sectors);
    CHECK((column == Column::as_written ? conflicts(kernels) : fused_conflicts(kernels)) ==
          read.bank_conflicts);
    CHECK(kernels.front().races.empty());
    CHECK(kernels.front().uninitialized_reads.empty());
}

}  // namespace

TEST_CASE("counts of float kernels equal an H200's counters") {
    runner::DeviceBuffer<float> input(kRows * kCols), output(kRows * kCols);
    float* const x = input.data();
    float* const y = output.data();
    const dim3 tiles(kCols / 32, kRows / 32), tile(32, 8);
    const size_t row_bytes = kCols * sizeof(float);

    SECTION("naive softmax") {
        expect(counted([&] { naive<<<kRows, kThreads>>>(x, y); }),
               {16'384, 65'536, 8'192, 32'768, 0});
    }
    SECTION("safe softmax") {
        expect(counted([&] { safe<<<kRows, kThreads>>>(x, y); }),
               {24'576, 98'304, 8'192, 32'768, 0});
    }
    SECTION("online softmax") {
        expect(counted([&] { online<<<kRows, kThreads>>>(x, y); }),
               {16'384, 65'536, 8'192, 32'768, 0});
    }
    SECTION("a warp per row, packs of four") {
        expect(counted([&] { warp_packs<<<kRows / 4, dim3(32, 4)>>>(x, y); }),
               {2'048, 32'768, 2'048, 32'768, 0});
    }
    SECTION("in shared memory, packs of two side by side") {
        const auto kernels =
            counted([&] { row_in_shared_memory<2, false><<<kRows, kThreads, row_bytes>>>(x, y); });
        // The compiler proves the alignment and makes one access of each two.
        expect(kernels, {4'096, 32'768, 4'096, 32'768, 0}, Column::as_fused);
        CHECK(conflicts(kernels) == 16'384);
    }
    SECTION("in shared memory, packs of two interleaved") {
        expect(
            counted([&] { row_in_shared_memory<2, true><<<kRows, kThreads, row_bytes>>>(x, y); }),
            {4'096, 32'768, 4'096, 32'768, 0});
    }
    SECTION("in shared memory, packs of four side by side") {
        const auto kernels =
            counted([&] { row_in_shared_memory<4, false><<<kRows, kThreads, row_bytes>>>(x, y); });
        expect(kernels, {2'048, 32'768, 2'048, 32'768, 0}, Column::as_fused);
        CHECK(conflicts(kernels) == 49'152);
    }
    SECTION("transpose without a tile") {
        expect(counted([&] { transpose_directly<<<dim3(kCols / 32, kRows / 8), tile>>>(x, y); }),
               {8'192, 32'768, 8'192, 262'144, 0});
    }
    SECTION("transpose, tile of 32 x 32") {
        expect(counted([&] { transpose_tile<0><<<tiles, tile>>>(x, y); }),
               {8'192, 32'768, 8'192, 32'768, 253'952});
    }
    SECTION("transpose, tile of 32 x 33") {
        expect(counted([&] { transpose_tile<1><<<tiles, tile>>>(x, y); }),
               {8'192, 32'768, 8'192, 32'768, 0});
    }
}

TEST_CASE("counts of half kernels equal an H200's counters") {
    runner::DeviceBuffer<half2> input(kRows * kCols / 2), output(kRows * kCols / 2);
    half2* const x = input.data();
    half2* const y = output.data();

    SECTION("transpose in pairs") {
        expect(
            counted([&] { transpose_half2<<<dim3(kCols / 64, kRows / 64), dim3(32, 8)>>>(x, y); }),
            {4'096, 16'384, 4'096, 16'384, 8'192});
    }
    SECTION("y += factor * x in pairs") {
        expect(counted([&] {
                   add_scaled_half2<<<kRows * kCols / 2 / 256, 256>>>(x, y, __float2half2_rn(0.5f));
               }),
               {8'192, 32'768, 4'096, 16'384, 0});
    }
}
