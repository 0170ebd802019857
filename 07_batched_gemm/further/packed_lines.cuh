// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 07_batched_gemm/further/packed_lines, version 1.0
//
// Matrices that TMA cannot load, made loadable: a kernel copies their lines to a workspace, each to a multiple of 16 bytes.
//   new here   one kernel for A and B: a thread loads two aligned words of 16 bytes and shifts what it needs out of them; then
//              hopper_gemm.cuh's kernel multiplies the copies, and its threads write C if C's lines do not begin at multiples of
//              16 bytes either. Elements of one or four bytes, which wgmma reads only along k, are turned on the way
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
    int log_threads = 0;  // 2^log_threads threads copy a line, at most a block
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
        while (log_threads < 8 && pitch > kPerPack<T> << log_threads) ++log_threads;
    }
    size_t bytes() const { return sizeof(T) * static_cast<size_t>(matrices * lines * pitch); }
    int64_t blocks_of_matrix() const { return ((lines << log_threads) + 255) / 256; }
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

// Returns the aligned 16 bytes at `word`. Only the first and the last word of a matrix, [begin, end), may have elements outside of
// it; the others of these are loaded one by one.
template <class T>
__device__ uint4 load_word(const T* word, const T* begin, const T* end) {
    if (word >= begin && word + kPerPack<T> <= end) return *reinterpret_cast<const uint4*>(word);
    Pack<T, kPerPack<T>> pack{};
#pragma unroll
    for (int i = 0; i < kPerPack<T>; ++i) {
        if (word + i >= begin && word + i < end) pack.element[i] = word[i];
    }
    uint4 bits;
    memcpy(&bits, &pack, sizeof bits);
    return bits;
}
// Returns 16 of 32 bytes, those from number `first` on: 0 to 15.
__device__ inline uint4 shift_out(const uint4& low, const uint4& high, unsigned first) {
    uint32_t words[] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
#pragma unroll
    for (int by = 2; by >= 1; by /= 2) {
#pragma unroll
        for (int i = 0; i + by < 8; ++i) words[i] = (first / 4 & by) ? words[i + by] : words[i];
    }
    const unsigned bits = first % 4 * 8;
#pragma unroll
    for (int i = 0; i < 4; ++i) words[i] = __funnelshift_r(words[i], words[i + 1], bits);
    return make_uint4(words[0], words[1], words[2], words[3]);
}

// Copies lines. Number `thread` of all threads along x copies packs of line thread >> log_threads of each matrix blockIdx.y,
// blockIdx.y + gridDim.y, ...
template <class T>
__device__ void copy_lines(const PackedLines<T>& of, int64_t thread) {
    constexpr int kPack = kPerPack<T>;
    const int64_t line = thread >> of.log_threads, packs = of.pitch / kPack;
    if (line >= of.lines) return;
    for (int64_t matrix = blockIdx.y; matrix < of.matrices; matrix += gridDim.y) {
        const T* const begin = first_of(of.from, matrix);
        const T* const end = begin + (of.lines - 1) * of.from.ld + of.length;
        uint4* const to = reinterpret_cast<uint4*>(of.to) + (matrix * of.lines + line) * packs;
#pragma unroll 1
        for (int64_t pack = thread - (line << of.log_threads); pack < packs;
             pack += 1 << of.log_threads) {
            const T* const from = begin + line * of.from.ld + pack * kPack;
            const auto first = static_cast<unsigned>(reinterpret_cast<uintptr_t>(from) % 16);
            const T* const word = from - first / sizeof(T);
            const uint4 low = load_word(word, begin, end);
            uint4 high{};
            if (first != 0) high = load_word(word + kPack, begin, end);
            to[pack] = shift_out(low, high, first);
        }
    }
}
// Blocks with z = 0 copy lines of `first`, those with z = 1 lines of `second`.
template <class T>
__global__ void __launch_bounds__(256)
    pack_lines_kernel(const PackedLines<T> first, const PackedLines<T> second) {
    early_launch::let_next_begin();
    early_launch::wait_for_earlier();
    const int64_t thread = int64_t{blockIdx.x} * 256 + threadIdx.x;
    blockIdx.z == 0 ? copy_lines(first, thread) : copy_lines(second, thread);
}
template <class T>
cudaError_t pack(const PackedLines<T>& a, const PackedLines<T>& b, cudaStream_t stream) {
    constexpr int64_t kMost = 65535;  // blocks along y
    if (a.lines == 0 && b.lines == 0) return cudaSuccess;
    if (a.lines == 0) return pack(b, a, stream);
    const dim3 grid(static_cast<unsigned>(std::max(a.blocks_of_matrix(), b.blocks_of_matrix())),
                    static_cast<unsigned>(std::min(kMost, std::max(a.matrices, b.matrices))),
                    b.lines == 0 ? 1 : 2);
    return early_launch::launch(pack_lines_kernel<T>, grid, dim3(256), 0, stream, true, 0, a, b);
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
    if (softmax_stages::this_chip().capability != 9 || !has_coordinates(g))
        return cudaErrorNotSupported;
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
    if (error == cudaSuccess) error = pack(packed.a, packed.b, stream);
    return error == cudaSuccess ? multiply(copied) : error;
}
// The same with a plan for the current device.
template <class T, class Result, class Epilogue>
cudaError_t packed_with(const Problem<T, Result>& g, void* workspace, const Epilogue& epilogue,
                        cudaStream_t stream) {
    return packed_with(g, hopper_plan(g), workspace, epilogue, stream);
}

}  // namespace batched_gemm
