// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 07_batched_gemm/further/packed_lines, version 1.0
//
// Matrices that TMA cannot load, made loadable: a kernel copies their lines to a workspace, each to a multiple of 16 bytes.
//   new here   one kernel for A and B, a warp per line; then hopper_gemm.cuh's kernel multiplies the copies, and its threads
//              write C if C's lines do not begin at multiples of 16 bytes either. Elements of one or four bytes, which wgmma
//              reads only along k, are turned on the way
//   traffic    beside the product's own: A and B once more, read and written
//   accepts    the types of hopper_gemm.cuh, A and B each row-major or transposed, lines and matrices at any address; also
//              matrices that are given by pointers
//   needs      compute capability 9.0, compiled for sm_90a
//   source     the aligned copies that cuBLAS and PyTorch make for such matrices
#pragma once
#include "early_launch.cuh"
#include "hopper_gemm.cuh"

namespace batched_gemm {

// An operand's copies: `lines` lines of `length` elements of each of `matrices` matrices, at to + pitch * number. If `turns`,
// the lines of the copies are the columns of what lies in memory.
template <class T>
struct PackedLines {
    Matrices<const T> from{};
    int64_t matrices = 0, lines = 0, length = 0, pitch = 0;
    bool turns = false;
    T* to = nullptr;

    PackedLines() = default;
    // x: `line_count` lines of `line_length` elements, along k if is_along_k. Nothing has to be copied if TMA can load the
    // matrices and wgmma can read them as they are.
    PackedLines(const Matrices<const T>& x, int64_t batch, int64_t line_count, int64_t line_length,
                bool is_along_k) {
        turns = sizeof(T) != 2 && !is_along_k;
        if (is_loadable(x, batch) && !turns) return;
        from = x;
        matrices = x.each == nullptr && x.stride == 0 ? 1 : batch;
        lines = turns ? line_length : line_count;
        length = turns ? line_count : line_length;
        pitch = (length + kPerPack<T> - 1) / kPerPack<T> * kPerPack<T>;
    }
    __host__ __device__ int64_t all_lines() const { return matrices * lines; }
    size_t bytes() const { return sizeof(T) * static_cast<size_t>(all_lines() * pitch); }
    // The copies as matrices.
    Matrices<const T> packed() const {
        Matrices<const T> x;
        x.data = to;
        x.ld = pitch;
        x.stride = matrices == 1 ? 0 : lines * pitch;
        x.transposed = from.transposed != turns;
        return x;
    }
};

// Copies a line by a warp. A lane copies two neighbours: it reads single elements, which may lie anywhere, and writes pairs.
template <class T>
__device__ void copy_line(const PackedLines<T>& of, int64_t number, int lane) {
    const T* const from = first_of(of.from, number / of.lines) + number % of.lines * of.from.ld;
    T* const to = of.to + number * of.pitch;
#pragma unroll 4
    for (int64_t i = 2 * lane; i < of.length; i += 64) {
        Pack<T, 2> pair{};
        pair.element[0] = from[i];
        if (i + 1 < of.length) pair.element[1] = from[i + 1];
        *reinterpret_cast<Pack<T, 2>*>(to + i) = pair;  // a pitch is even, so a pair always fits
    }
}

// Each warp copies a line of `first` or `second`, then the line that lies as many lines further as there are warps.
template <class T>
__global__ void __launch_bounds__(256)
    pack_lines_kernel(const PackedLines<T> first, const PackedLines<T> second) {
    early_launch::let_next_begin();
    early_launch::wait_for_earlier();
    const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
    const int64_t of_first = first.all_lines(), count = of_first + second.all_lines();
    for (int64_t number = int64_t{blockIdx.x} * 8 + warp; number < count;
         number += int64_t{gridDim.x} * 8) {
        if (number < of_first) {
            copy_line(first, number, lane);
        } else {
            copy_line(second, number - of_first, lane);
        }
    }
}

// Copies and turns tiles of 32 x 32. Block (x, y, z) has lines 32 y to 32 y + 31 of the copy of matrix z, elements from 32 x on.
template <class T>
__global__ void __launch_bounds__(256) turn_lines_kernel(const PackedLines<T> of) {
    early_launch::let_next_begin();
    early_launch::wait_for_earlier();
    constexpr int kSide = 32;
    __shared__ T
        tile[kSide][kSide + 4 / sizeof(T)];  // a line begins one bank further than the line above
    const int lane = static_cast<int>(threadIdx.x) % kSide,
              warp = static_cast<int>(threadIdx.x) / kSide;
    const int64_t first = int64_t{blockIdx.x} * kSide, line = int64_t{blockIdx.y} * kSide;
    for (int64_t matrix = blockIdx.z; matrix < of.matrices; matrix += gridDim.z) {
        const T* const from = first_of(of.from, matrix);
#pragma unroll
        for (int j = 0; j < kSide; j += 8) {
            const int i = j + warp;
            if (first + i < of.length && line + lane < of.lines)
                tile[i][lane] = from[(first + i) * of.from.ld + line + lane];
        }
        __syncthreads();
#pragma unroll
        for (int j = 0; j < kSide; j += 8) {
            const int i = j + warp;
            if (line + i < of.lines && first + lane < of.length)
                of.to[(matrix * of.lines + line + i) * of.pitch + first + lane] = tile[lane][i];
        }
        __syncthreads();
    }
}
// Returns cudaErrorNotSupported for more lines than a grid has along y.
template <class T>
cudaError_t turn(const PackedLines<T>& of, cudaStream_t stream) {
    constexpr int64_t kMost = 65535;
    const int64_t down = (of.lines + 31) / 32;
    if (down > kMost) return cudaErrorNotSupported;
    const dim3 grid(static_cast<unsigned>((of.length + 31) / 32), static_cast<unsigned>(down),
                    static_cast<unsigned>(std::min(kMost, of.matrices)));
    return early_launch::launch(turn_lines_kernel<T>, grid, dim3(256), 0, stream, true, 0, of);
}

// The copies of a problem's operands, one after the other in a workspace.
template <class T>
struct PackedOperands {
    PackedLines<T> a, b;
    template <class Result>
    explicit PackedOperands(const Problem<T, Result>& g)
        : a(g.a, g.batch, g.a.transposed ? g.k : g.m, g.a.transposed ? g.m : g.k, !g.a.transposed),
          b(g.b, g.batch, g.b.transposed ? g.n : g.k, g.b.transposed ? g.k : g.n, g.b.transposed) {}
    size_t bytes() const { return a.bytes() + b.bytes(); }  // 0: TMA can load both
};

// Computes C = epilogue(alpha A B + beta C), with copies in `workspace`, PackedOperands(g).bytes() bytes at a multiple of 16.
// Asynchronous on stream. Returns the errors of launch_hopper(), and cudaErrorInvalidValue for a missing or misaligned workspace.
template <class T, class Result, class Epilogue>
cudaError_t packed_with(const Problem<T, Result>& g, const HopperPlan& plan, void* workspace,
                        const Epilogue& epilogue, cudaStream_t stream) {
    const cudaError_t status = status_of(g, HopperTile<64>::kRows, HopperTile<64>::kCols);
    if (status != cudaSuccess || is_empty(g)) return status;
    const auto multiply = [&](const Problem<T, Result>& of) {
        return launch_hopper(of, plan, softmax_stages::this_chip().multiprocessors, epilogue,
                             stream);
    };
    PackedOperands<T> packed(g);
    if (packed.bytes() == 0 || g.k == 0) return multiply(g);
    if (!softmax_stages::usable_bytes(workspace, 1)) return cudaErrorInvalidValue;
    if (softmax_stages::this_chip().capability != 9) return cudaErrorNotSupported;
    const cudaError_t compiled =
        check_compiled(hopper_kernel<T, Result, NarrowestTile<Result>, Epilogue>);
    if (compiled != cudaSuccess) return compiled;
    packed.a.to = static_cast<T*>(workspace);
    packed.b.to = packed.a.to + packed.a.bytes() / sizeof(T);
    Problem<T, Result> copied = g;
    if (packed.a.bytes() != 0) copied.a = packed.a.packed();
    if (packed.b.bytes() != 0) copied.b = packed.b.packed();

    cudaError_t error = cudaSuccess;
    if constexpr (sizeof(T) != 2) {
        for (PackedLines<T>* each : {&packed.a, &packed.b}) {
            if (!each->turns || error != cudaSuccess) continue;
            error = turn(*each, stream);
            *each = {};
        }
    }
    if (error != cudaSuccess) return error;
    const int64_t lines = packed.a.all_lines() + packed.b.all_lines();
    if (lines > 0) {
        constexpr int64_t kLinesOfBlock = 8, kBlocksAtOnce = 8;  // per multiprocessor
        const int64_t blocks =
            std::min((lines - 1) / kLinesOfBlock + 1,
                     kBlocksAtOnce * softmax_stages::this_chip().multiprocessors);
        error = early_launch::launch(pack_lines_kernel<T>, dim3(static_cast<unsigned>(blocks)),
                                     dim3(256), 0, stream, true, 0, packed.a, packed.b);
    }
    return error == cudaSuccess ? multiply(copied) : error;
}
// The same with a plan for the current device.
template <class T, class Result, class Epilogue>
cudaError_t packed_with(const Problem<T, Result>& g, void* workspace, const Epilogue& epilogue,
                        cudaStream_t stream) {
    return packed_with(g, hopper_plan(g), workspace, epilogue, stream);
}

}  // namespace batched_gemm
