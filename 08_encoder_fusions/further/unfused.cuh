// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 08_encoder_fusions/further/unfused, version 1.1
//
// Computes the results of the fused kernels with one kernel per step, like a framework without a compiler.
//   new here   nothing: this is the baseline of fusion. Each step moves packs of 16 bytes
//   traffic    each step reads the results of the previous step, and rounds once more
//   accepts    what the fused kernels accept
#pragma once
#include "tuned_bias_activation.cuh"
#include "tuned_heads.cuh"
#include "tuned_layernorm.cuh"
#include "tuned_masked_softmax.cuh"
#include "tuned_padding.cuh"

namespace encoder_fusions {

template <class Pack>
__global__ void add_kernel(const Pack* x, const Pack* z, Pack* y, int64_t packs) {
    const int64_t p = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (p >= packs) return;
    const Pack left = x[p], right = z[p];
    Pack result;
#pragma unroll
    for (int j = 0; j < Pack::kSize; ++j) {
        result.element[j] = static_cast<typename Pack::Element>(
            static_cast<float>(left.element[j]) + static_cast<float>(right.element[j]));
    }
    y[p] = result;
}

template <class Pack, class Activation>
__global__ void activation_kernel(const Pack* x, Pack* y, int64_t packs, Activation activation) {
    const int64_t p = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (p >= packs) return;
    const Pack from = x[p];
    Pack result;
#pragma unroll
    for (int j = 0; j < Pack::kSize; ++j) {
        result.element[j] =
            static_cast<typename Pack::Element>(activation(static_cast<float>(from.element[j])));
    }
    y[p] = result;
}

// Calls launch(pack, packs, blocks of 256 threads) for `count` elements at these addresses.
template <class T, class Launch>
cudaError_t for_each_pack(std::initializer_list<const T*> addresses, int64_t count, Launch launch) {
    if (count == 0) return cudaSuccess;
    return with_widest_pack<T>(addresses, count, [&](auto pack) {
        const int64_t packs = count / pack.value, blocks = (packs + 255) / 256;
        if (blocks > INT32_MAX) return cudaErrorInvalidValue;
        launch(pack, packs, static_cast<unsigned>(blocks));
        return cudaGetLastError();
    });
}

// y = x + z, of `count` elements each.
template <class T>
cudaError_t add(const T* x, const T* z, T* y, int64_t count, cudaStream_t stream) {
    return for_each_pack<T>({x, z, y}, count, [&](auto pack, int64_t packs, unsigned blocks) {
        using Pack = encoder_fusions::Pack<T, pack.value>;
        add_kernel<<<blocks, 256, 0, stream>>>(reinterpret_cast<const Pack*>(x),
                                               reinterpret_cast<const Pack*>(z),
                                               reinterpret_cast<Pack*>(y), packs);
    });
}

// y = activation(x + bias) in two kernels. Errors as add_bias_activation.
template <class T, class Activation>
cudaError_t unfused_bias_activation(const T* x, const T* bias, T* y, int64_t rows, int64_t cols,
                                    Activation activation, cudaStream_t stream) {
    const cudaError_t status =
        add_bias_activation(x, bias, y, rows, cols, batched_gemm::Identity{}, stream);
    if (status != cudaSuccess) return status;
    return for_each_pack<T>({y}, rows * cols, [&](auto pack, int64_t packs, unsigned blocks) {
        auto* const to = reinterpret_cast<Pack<T, pack.value>*>(y);
        activation_kernel<<<blocks, 256, 0, stream>>>(static_cast<const Pack<T, pack.value>*>(to),
                                                      to, packs, activation);
    });
}

// Loads the row to normalise, which an earlier kernel has added up. See SumOfThree.
template <class Pack_>
struct Alone {
    using Pack = Pack_;
    const Pack* x;

    struct Fetched {
        Pack x;
    };
    __device__ Fetched fetch(int64_t at) const { return {x[at]}; }
    __device__ void add_up(float (&held)[Pack::kSize], const Fetched& fetched, int) const {
#pragma unroll
        for (int j = 0; j < Pack::kSize; ++j) held[j] = static_cast<float>(fetched.x.element[j]);
    }
};
template <class T>
cudaError_t layernorm(const T* x, const Norm<T>& norm, T* y, int64_t rows, int64_t cols,
                      cudaStream_t stream) {
    if (rows == 0 || cols == 0) return cudaSuccess;
    return with_widest_pack<T>({x, norm.gamma, norm.beta, y}, cols, [&](auto pack) {
        constexpr int kPack = pack.value;
        using Pack = encoder_fusions::Pack<T, kPack>;
        Pack* const not_wanted = nullptr;
        return launch_norm<Most<Pack>::kStep, 1>(Alone<Pack>{as_packs<kPack>(x)},
                                                 as_packs<kPack>(norm), not_wanted,
                                                 as_packs<kPack>(y), rows, cols / kPack, stream);
    });
}

// sum = x + residual + bias and y = its layernorm in three kernels. Errors as add_bias_residual_prenorm.
template <class T>
cudaError_t unfused_prenorm(const T* x, const T* bias, const T* residual, const Norm<T>& norm,
                            T* sum, T* y, int64_t rows, int64_t cols, cudaStream_t stream) {
    if (rows < 0 || cols < 0 || cols > kMaxNormCols || rows > INT64_MAX / kMaxNormCols)
        return cudaErrorInvalidValue;
    cudaError_t status = add(x, residual, sum, rows * cols, stream);
    if (status == cudaSuccess)
        status = add_bias_activation(sum, bias, sum, rows, cols, batched_gemm::Identity{}, stream);
    if (status != cudaSuccess) return status;
    return layernorm(static_cast<const T*>(sum), norm, y, rows, cols, stream);
}
// The same without returning the sum: y holds the sum until the norm.
template <class T>
cudaError_t unfused_layernorm(const T* x, const T* bias, const T* residual, const Norm<T>& norm,
                              T* y, int64_t rows, int64_t cols, cudaStream_t stream) {
    return unfused_prenorm(x, bias, residual, norm, y, y, rows, cols, stream);
}

// y[b, col, row] = x[b, row, col], where each element is a block of `packs` packs. x_row: packs between rows of x.
template <class Pack>
__global__ void swap_rows_and_cols_kernel(const Pack* x, Pack* y, int64_t count, int64_t rows,
                                          int64_t cols, int packs, int64_t x_row) {
    const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const int64_t p = i % packs, row = i / packs % rows, col = i / packs / rows % cols;
    const int64_t b = i / packs / rows / cols;
    const Pack held = x[(b * rows + row) * x_row + col * packs + p];
    y[i] = held;
}

// x: batch x rows x cols blocks of `size` elements, its rows x_row elements apart; y: batch x cols x rows blocks.
template <class T>
cudaError_t swap_rows_and_cols(const T* x, T* y, int64_t batch, int64_t rows, int64_t cols,
                               int64_t size, int64_t x_row, cudaStream_t stream) {
    const int64_t count = batch * rows * cols * size;
    if (count == 0) return cudaSuccess;
    return with_widest_pack<T>({x, y}, size, [&](auto pack) {
        constexpr int kPack = pack.value;
        const int64_t blocks = (count / kPack + 255) / 256;
        if (blocks > INT32_MAX) return cudaErrorInvalidValue;
        swap_rows_and_cols_kernel<<<static_cast<unsigned>(blocks), 256, 0, stream>>>(
            as_packs<kPack>(x), as_packs<kPack>(y), count / kPack, rows, cols,
            static_cast<int>(size / kPack), x_row / kPack);
        return cudaGetLastError();
    });
}

// Returns the elements of scratch that the next two launchers need.
inline int64_t unfused_scratch(const Sequences& of, int64_t tokens, int64_t row) {
    return (of.offsets == nullptr ? 0 : of.batch * of.seq * row) + tokens * row;
}

// Does add_qkv_bias_transpose in four kernels: one adds the bias, three transpose Q, K and V. With packed sequences, a
// fifth inserts the padding. tokens: the number of tokens, which the host has to know. scratch:
// unfused_scratch(sequences, tokens, 3 * heads * size) elements.
template <class T>
cudaError_t unfused_qkv_transpose(const T* qkv, const T* bias, T* q, T* k, T* v,
                                  const Sequences& sequences, int64_t tokens, int64_t heads,
                                  int64_t size, T* scratch, cudaStream_t stream) {
    const int64_t hidden = heads * size;
    T* padded = scratch;
    cudaError_t status = add_bias_activation(qkv, bias, scratch, tokens, 3 * hidden,
                                             batched_gemm::Identity{}, stream);
    if (status == cudaSuccess && sequences.offsets != nullptr) {
        padded = scratch + tokens * 3 * hidden;
        status =
            rebuild_padding(static_cast<const T*>(scratch), padded, sequences, 3 * hidden, stream);
    }
    T* const parts[] = {q, k, v};
    for (int part = 0; part < 3 && status == cudaSuccess; ++part)
        status =
            swap_rows_and_cols(static_cast<const T*>(padded + part * hidden), parts[part],
                               sequences.batch, sequences.seq, heads, size, 3 * hidden, stream);
    return status;
}

// Does transpose_back with a second kernel that removes the padding. scratch: batch * seq * heads * size elements if
// sequences have offsets, otherwise none.
template <class T>
cudaError_t unfused_transpose_back(const T* x, T* y, const Sequences& sequences, int64_t heads,
                                   int64_t size, T* scratch, cudaStream_t stream) {
    T* const padded = sequences.offsets == nullptr ? y : scratch;
    const cudaError_t status = swap_rows_and_cols(x, padded, sequences.batch, heads, sequences.seq,
                                                  size, sequences.seq * size, stream);
    if (status != cudaSuccess || sequences.offsets == nullptr) return status;
    return remove_padding(static_cast<const T*>(padded), y, sequences, heads * size, stream);
}

// Writes a mask of [batch, heads, seq, seq]: true where row s of a sequence sees column col. Grid: batch * heads by
// seq / blockDim.y blocks. A warp writes a row, 16 bytes per thread if rows consist of such packs.
template <class Pack>
__global__ void mask_kernel(Pack* mask, Sequences sequences, int heads, bool causal) {
    const int64_t s = int64_t{blockIdx.y} * blockDim.y + threadIdx.y;
    if (s >= sequences.seq) return;
    const int64_t tokens = sequences.rows(blockIdx.x / heads).count;
    const auto seen = static_cast<int>(s >= tokens ? 0 : causal ? s + 1 : tokens);
    const auto packs = static_cast<int>(sequences.seq / Pack::kSize);
    for (int p = threadIdx.x; p < packs; p += blockDim.x) {
        Pack pack;
#pragma unroll
        for (int j = 0; j < Pack::kSize; ++j) pack.element[j] = p * Pack::kSize + j < seen;
        mask[(blockIdx.x * sequences.seq + s) * packs + p] = pack;
    }
}
template <class Pack>
cudaError_t write_mask(bool* mask, const Sequences& sequences, int64_t heads, bool causal,
                       cudaStream_t stream) {
    constexpr unsigned kRowsOfBlock = 8;
    const dim3 grid(static_cast<unsigned>(sequences.batch * heads),
                    static_cast<unsigned>((sequences.seq - 1) / kRowsOfBlock + 1));
    mask_kernel<<<grid, dim3(32, kRowsOfBlock), 0, stream>>>(
        reinterpret_cast<Pack*>(mask), sequences, static_cast<int>(heads), causal);
    return cudaGetLastError();
}

// Does masked_softmax in two kernels: one writes the mask, the other reads it. mask: batch * heads * seq * seq numbers.
template <class T>
cudaError_t unfused_masked_softmax(const T* x, T* y, float scale, bool causal,
                                   const Sequences& sequences, int64_t heads, bool* mask,
                                   cudaStream_t stream) {
    using warp_softmax::Algorithm;
    const int64_t seq = sequences.seq, rows = sequences.batch * heads * seq;
    if (rows * seq == 0) return cudaSuccess;
    constexpr int kMaskPack = 16;
    const cudaError_t status =
        takes_packs<kMaskPack>(mask, seq)
            ? write_mask<Pack<bool, kMaskPack>>(mask, sequences, heads, causal, stream)
            : write_mask<Pack<bool, 1>>(mask, sequences, heads, causal, stream);
    if (status != cudaSuccess) return status;
    const warp_softmax::ScaleMaskLoad<T> load{x, mask, scale, seq};
    const warp_softmax::DirectStore<T> store{y, seq};
    return seq <= warp_softmax::kMaxCols<T>
               ? warp_softmax::launch<Algorithm::softmax>(load, store, rows, seq, stream)
               : smem_softmax::launch<Algorithm::softmax>(load, store, rows, seq, stream);
}

}  // namespace encoder_fusions
