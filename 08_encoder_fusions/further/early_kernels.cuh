// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 08_encoder_fusions/further/early_kernels, version 1.0
//
// An encoder for few tokens, whose kernels are so short that starting and ending them takes most of the time.
//   new here   programmatic dependent launch: each kernel begins while the previous one ends, and meanwhile requests
//              weights; split-K products, so that few rows still fill a GPU
//   accepts    as forward.cuh; kernels begin early with __half and __nv_bfloat16
//   needs      a GPU of compute capability 9.0; elsewhere forward.cuh's own kernels run
//   source     CUDA programming guide, programmatic dependent launch
#pragma once
#include "../../07_batched_gemm/further/split_k.cuh"
#include "forward.cuh"

namespace encoder_layers {

// Lets a norm begin early: the norm prefetches bias, gamma and beta, which no kernel writes, then waits for the
// previous kernel, and only then reads its row.
template <class From>
struct Early : From {
    using Pack = typename From::Pack;
    Norm<Pack> norm;
    int packs;  // of a row

    __device__ typename From::Fetched fetch(int64_t at) const {
        // A cache line has kOfLine packs. Only about one block per multiprocessor prefetches: if many blocks requested
        // the same lines, the prefetch would take as long as the norm itself.
        constexpr int kOfLine = 8;
        constexpr unsigned kAsking = 128;
        early_launch::let_next_begin();
        if (blockIdx.x < kAsking && threadIdx.y == 0) {
            const int64_t p = at - int64_t{blockIdx.x} * blockDim.y * packs;
            if (p % kOfLine == 0) {
                early_launch::ask_for(From::bias + p);
                early_launch::ask_for(norm.gamma + p);
                early_launch::ask_for(norm.beta + p);
            }
        }
        early_launch::wait_for_earlier();
        return From::fetch(at);
    }
};

// True if a norm of so many rows is short.
inline bool are_few_rows(int64_t rows) {
    constexpr int64_t kOfMultiprocessor = 8;
    return rows <= kOfMultiprocessor * softmax_stages::this_chip().multiprocessors;
}

// Launches a norm early; `from` waits for the previous kernel. The blocks of an early norm find a small L1 cache, because its
// neighbours need shared memory. So where there are many rows of up to 96 packs, a warp has a row to itself: four rows of a block
// then load bias, gamma and beta at about the same time. (For rows of 128 packs two warps are faster, measured.) Returns
// cudaErrorNotSupported for rows of more than 128 packs.
template <class From, class To>
cudaError_t norm_early(const From& from, const Norm<typename From::Pack>& norm, const To& to,
                       int64_t rows, int64_t packs, cudaStream_t stream) {
    using encoder_fusions::layernorm_kernel;
    const auto launch = [&](auto kernel, unsigned warps, unsigned rows_of_block) {
        const int64_t blocks = (rows - 1) / rows_of_block + 1;
        return early_launch::launch(kernel, dim3(static_cast<unsigned>(blocks)),
                                    dim3(32 * warps, rows_of_block), 0, stream, true, 0, from, norm,
                                    to, rows, static_cast<int>(packs));
    };
    if (packs <= 3 * 32)
        return are_few_rows(rows) ? launch(layernorm_kernel<From, To, 1, 3>, 3, 1)
                                  : launch(layernorm_kernel<From, To, 3, 1>, 1, 4);
    if (packs <= 4 * 32) return launch(layernorm_kernel<From, To, 2, 2>, 2, 1);
    return cudaErrorNotSupported;
}

// Launches early a product whose tiles are each shared along k by `parts` blocks. g.b: weights, which no kernel writes.
// Errors: see split_k_with().
template <class T, class Epilogue>
cudaError_t product_sharing_k(const batched_gemm::Problem<T>& g, int64_t parts,
                              const Epilogue& epilogue, cudaStream_t stream) {
    if constexpr (sizeof(T) == 2) {
        using Row = nvcuda::wmma::row_major;
        using Col = nvcuda::wmma::col_major;
        if (!g.b.transposed || g.a.transposed) return cudaErrorNotSupported;
        return batched_gemm::split_k_with<batched_gemm::Stored<Row, Col>>(g, parts, epilogue,
                                                                          stream, true);
    }
    return cudaErrorNotSupported;
}

// The steps between products, in the form that forward.cuh takes.
struct EarlyBetween : SeparateNorms {
    static constexpr bool kOnlyFused = false;
    template <class T>
    cudaError_t attention(const fused_attention::AttentionProblem<T>& g,
                          cudaStream_t stream) const {
        if constexpr (sizeof(T) == 2) {
            using namespace fused_attention;
            const softmax_stages::Chip chip = softmax_stages::this_chip();
            // The other kernels for tensor cores always begin early.
            if (softmax_stages::plan_of(g, chip, 0).way == softmax_stages::AttentionWay::mma) {
                const auto multiprocessors = static_cast<int>(chip.multiprocessors);
                const cudaError_t status = attention_mma(
                    g, 1, nullptr, 0, stream, queries_of_block(g, multiprocessors), true);
                if (status != cudaErrorNotSupported) return status;
            }
        }
        return Between{}.attention(g, stream);
    }

    template <class T>
    cudaError_t norm(const T* product, const T* bias, const T* residual, const Norm<T>& norm,
                     T* sum, T* y, int64_t rows, int64_t cols, cudaStream_t stream) const {
        if constexpr (sizeof(T) == 2) {
            constexpr int kPack = 8;
            using encoder_fusions::as_packs;
            using Pack = encoder_fusions::Pack<T, kPack>;
            using From = Early<encoder_fusions::SumOfThree<Pack>>;
            using To = encoder_fusions::NormAndSum<Pack>;
            const From from{
                {as_packs<kPack>(product), as_packs<kPack>(bias), as_packs<kPack>(residual)},
                as_packs<kPack>(norm),
                static_cast<int>(cols / kPack)};
            bool in_packs = rows > 0 && cols > 0;
            const T* const all[] = {
                product, bias, residual, norm.gamma, norm.beta, sum == nullptr ? y : sum, y};
            for (const T* each : all)
                in_packs = in_packs && encoder_fusions::takes_packs<kPack>(each, cols);
            if (in_packs) {
                const cudaError_t status = norm_early(from, as_packs<kPack>(norm),
                                                      To{as_packs<kPack>(sum), as_packs<kPack>(y)},
                                                      rows, cols / kPack, stream);
                if (status != cudaErrorNotSupported) return status;
            }
        }
        return Between{}.norm(product, bias, residual, norm, sum, y, rows, cols, stream);
    }
};

struct EarlyKernels : EarlyBetween {
    template <class T>
    cudaError_t product(const batched_gemm::Problem<T>& g, cudaStream_t stream) const {
        const cudaError_t status =
            product_sharing_k(g, batched_gemm::split_k_parts(g), batched_gemm::Plain{}, stream);
        return status != cudaErrorNotSupported ? status : OwnProducts{}.product(g, stream);
    }
    template <class T, class Activation>
    cudaError_t product(const batched_gemm::Problem<T>& g, const T* bias, Activation activation,
                        cudaStream_t stream) const {
        const cudaError_t status = product_sharing_k(
            g, batched_gemm::split_k_parts(g),
            batched_gemm::BiasActivation<T, Activation>{{bias}, activation}, stream);
        if (status != cudaErrorNotSupported) return status;
        return OwnProducts{}.product(g, bias, activation, stream);
    }
    template <class T>
    cudaError_t product_of_heads(const batched_gemm::Problem<T>& g, cudaStream_t stream) const {
        return OwnProducts{}.product_of_heads(g, stream);
    }
};

}  // namespace encoder_layers
