// SPDX-License-Identifier: MIT
#include "common/operations/gemm/cutlass_product.hpp"

#include <climits>
#include <memory>
#include <string>
#include <tuple>

#include <cutlass/cutlass.h>
#include <cutlass/version.h>

#include <cutlass/epilogue/collective/collective_builder.hpp>
#include <cutlass/gemm/collective/collective_builder.hpp>
#include <cutlass/gemm/device/gemm_universal_adapter.h>
#include <cutlass/gemm/kernel/gemm_universal.hpp>
#include <cutlass/util/packed_stride.hpp>

#include "04_warp_softmax/ask_once.cuh"
#include "07_batched_gemm/further/activations.cuh"

namespace operations::gemm {
namespace {

using cute::Int;
using cute::Shape;
using RowMajor = cutlass::layout::RowMajor;
using ColumnMajor = cutlass::layout::ColumnMajor;

// 07's, of one number or several, as CUTLASS calls it.
template <class T>
struct ExactGelu {
    __device__ float operator()(float x) const { return batched_gemm::Gelu{}(x); }
};
template <class T, int kCount>
struct ExactGelu<cutlass::Array<T, kCount>> {
    __device__ cutlass::Array<T, kCount> operator()(cutlass::Array<T, kCount> x) const {
#pragma unroll
        for (int i = 0; i < kCount; ++i) x[i] = ExactGelu<T>{}(x[i]);
        return x;
    }
};

// Two groups of warps multiply: each its half of a tile, or a tile each, in turn.
struct HalfEach {
    using Mainloop = cutlass::gemm::KernelTmaWarpSpecializedCooperative;
    using Epilogue = cutlass::epilogue::TmaWarpSpecializedCooperative;
};
struct InTurn {
    using Mainloop = cutlass::gemm::KernelTmaWarpSpecializedPingpong;
    using Epilogue = cutlass::epilogue::TmaWarpSpecialized;
};

// What a product ends in; a bias that is nullptr counts as 0.
template <class T>
using OfBias = cutlass::epilogue::fusion::LinCombPerColBias<T, float, T, void>;
template <class T>
using OfBiasGelu = cutlass::epilogue::fusion::LinCombPerColBiasEltAct<ExactGelu, T, float, T, void>;

// kCluster: tiles below each other, whose blocks load weights together.
template <class T, class Ending, int kRows, int kCols, int kCluster, class Schedule>
cudaError_t multiply(int m, int n, int k, const void* a, const void* weight, const void* bias,
                     void* c, cudaStream_t stream) {
    using Tile = Shape<Int<kRows>, Int<kCols>, Int<64>>;
    using Cluster = Shape<Int<kCluster>, Int<1>, Int<1>>;
    using Epilogue = typename cutlass::epilogue::collective::CollectiveBuilder<
        cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, Tile, Cluster,
        cutlass::epilogue::collective::EpilogueTileAuto, float, float, void, RowMajor, 8, T,
        RowMajor, 8, typename Schedule::Epilogue, Ending>::CollectiveOp;
    using Mainloop = typename cutlass::gemm::collective::CollectiveBuilder<
        cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, T, RowMajor, 8, T, ColumnMajor, 8,
        float, Tile, Cluster,
        cutlass::gemm::collective::StageCountAutoCarveout<static_cast<int>(
            sizeof(typename Epilogue::SharedStorage))>,
        typename Schedule::Mainloop>::CollectiveOp;
    using Kernel =
        cutlass::gemm::kernel::GemmUniversal<Shape<int, int, int, int>, Mainloop, Epilogue>;
    using Gemm = cutlass::gemm::device::GemmUniversalAdapter<Kernel>;

    // How memory is read is told to the driver, which takes longer than a launch: once for each place in it.
    std::shared_ptr<Gemm> gemm;
    const auto prepare = [&](std::shared_ptr<Gemm>* prepared, int) {
        typename Gemm::Arguments arguments{
            cutlass::gemm::GemmUniversalMode::kGemm,
            {m, n, k, 1},
            {static_cast<const T*>(a),
             cutlass::make_cute_packed_stride(typename Kernel::StrideA{}, {m, k, 1}),
             static_cast<const T*>(weight),
             cutlass::make_cute_packed_stride(typename Kernel::StrideB{}, {n, k, 1})},
            {{},
             nullptr,
             {},
             static_cast<T*>(c),
             cutlass::make_cute_packed_stride(typename Kernel::StrideD{}, {m, n, 1})}};
        arguments.epilogue.thread.alpha = 1.f;
        arguments.epilogue.thread.bias_ptr = static_cast<const T*>(bias);
        *prepared = std::make_shared<Gemm>();
        const bool is_taken = Gemm::can_implement(arguments) == cutlass::Status::kSuccess &&
                              Gemm::get_workspace_size(arguments) == 0 &&
                              (*prepared)->initialize(arguments) == cutlass::Status::kSuccess;
        return is_taken ? cudaSuccess : cudaErrorNotSupported;
    };
    const cudaError_t status =
        warp_softmax::ask_once(&gemm, prepare, std::tuple(m, n, k, a, weight, bias, c));
    if (status != cudaSuccess) return status;
    if (gemm->run(stream, nullptr, true) == cutlass::Status::kSuccess) return cudaGetLastError();
    cudaGetLastError();  // said here, not to be found again later
    return cudaErrorNotSupported;
}

template <class T, class Ending>
cudaError_t multiply(int way, int m, int n, int k, const void* a, const void* weight,
                     const void* bias, void* c, cudaStream_t stream) {
    switch (way) {
        case 0:
            return multiply<T, Ending, 128, 256, 2, HalfEach>(m, n, k, a, weight, bias, c, stream);
        case 1:
            return multiply<T, Ending, 128, 192, 1, HalfEach>(m, n, k, a, weight, bias, c, stream);
        case 2:
            return multiply<T, Ending, 64, 96, 1, InTurn>(m, n, k, a, weight, bias, c, stream);
        default:
            return cudaErrorNotSupported;
    }
}

}  // namespace

std::string cutlass_version() {
    return "CUTLASS " + std::to_string(CUTLASS_MAJOR) + "." + std::to_string(CUTLASS_MINOR) + "." +
           std::to_string(CUTLASS_PATCH);
}

int cutlass_ways() {
    int device = 0, major = 0, minor = 0;
    const bool is_known =
        cudaGetDevice(&device) == cudaSuccess &&
        cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) == cudaSuccess &&
        cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device) == cudaSuccess;
    return is_known && major == 9 && minor == 0 ? 3 : 0;
}

cudaError_t cutlass_product(int way, CutlassEnding ending, runner::DType dtype, int64_t m,
                            int64_t n, int64_t k, const void* a, const void* weight,
                            const void* bias, void* c, cudaStream_t stream) {
    for (const int64_t size : {m, n, k}) {
        if (size > INT_MAX) return cudaErrorNotSupported;
    }
    // CUTLASS looks at sizes alone, and what the driver then says of addresses it only prints.
    for (const void* const address : {a, weight, bias, static_cast<const void*>(c)}) {
        if (reinterpret_cast<uintptr_t>(address) % 16 != 0) return cudaErrorNotSupported;
    }
    const auto launch = [&](auto of) {
        using T = decltype(of);
        const auto multiply_by =
            ending == CutlassEnding::bias ? multiply<T, OfBias<T>> : multiply<T, OfBiasGelu<T>>;
        return multiply_by(way, static_cast<int>(m), static_cast<int>(n), static_cast<int>(k), a,
                           weight, bias, c, stream);
    };
    switch (dtype) {
        case runner::DType::float16:
            return launch(cutlass::half_t{});
        case runner::DType::bfloat16:
            return launch(cutlass::bfloat16_t{});
        default:
            return cudaErrorNotSupported;
    }
}

}  // namespace operations::gemm
