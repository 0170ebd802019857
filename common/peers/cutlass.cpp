// SPDX-License-Identifier: MIT
// CUTLASS among the peers, where its headers were when this was built: the pip package nvidia-cutlass has them.
#include <string>

#include "common/peers/cutlass_gemm.cuh"
#include "common/peers/peers.hpp"
#include "common/runner/build_info.hpp"

namespace peers {
namespace {

using namespace operations::gemm;

runner::Variant variant(const std::string& name, CutlassTile tile) {
    runner::Variant variant;
    variant.name = name;
    variant.summary = "GemmBatched, multistage mma.sync, tiles of " + name;
    variant.operation = operation();
    variant.dtypes = {runner::DType::float16};
    variant.takes = {kTransposeB, kAlpha, kBeta};
    variant.obstacle = [](const runner::Shape& shape, runner::DType) -> std::string {
        return shape[2] % 8 == 0 && shape[3] % 8 == 0 ? "" : "compiled for lines of 8, 16, ...";
    };
    variant.launch = [tile](const runner::Call& call) -> cudaError_t {
#ifdef STAGES_HAS_CUTLASS
        return cutlass_gemm(tile, call.shape, call.operands["a"].data, call.operands["b"].data,
                            call.operands["c"].data, call.stream);
#else
        static_cast<void>(tile);
        static_cast<void>(call);
        return cudaErrorNotSupported;
#endif
    };
    return variant;
}

}  // namespace

Peer cutlass() {
    runner::Stage stage;
    stage.name = "cutlass";
    stage.title = "CUTLASS's GemmBatched";
    stage.variants = {variant("128x256", CutlassTile::wide),
                      variant("128x128", CutlassTile::square)};
    if (!runner::on_gpu()) return {stage, "needs a GPU"};
#ifdef STAGES_HAS_CUTLASS
    return {stage};
#else
    return {stage, "its headers were not here when this was built (pip package nvidia-cutlass)"};
#endif
}

}  // namespace peers
