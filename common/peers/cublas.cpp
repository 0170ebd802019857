// SPDX-License-Identifier: MIT
// Products by cuBLAS: cublasGemmStridedBatchedEx with every value of its parameter `algo`, and what
// cuBLASLt's heuristic offers. Both are opened at run time; all get the same workspace, and what they
// refuse is no result: each status is looked at.
#include "common/operations/gemm/cublas.hpp"

#include <climits>
#include <string>

#include "common/operations/gemm/cublas_lt.hpp"
#include "common/peers/peers.hpp"
#include "common/peers/refusal.hpp"

namespace peers {
namespace {

using namespace operations::gemm;

// cublasStatus_t, where 0 is success
using Status = int;

class Cublas {
public:
    // The one instance. Never closed: a GPU's libraries may be gone by the end of the program.
    static Cublas& instance() {
        static Cublas& cublas = *new Cublas;
        return cublas;
    }

    const std::string& obstacle() const { return library_.obstacle(); }

    void multiply(int algorithm, Kind kind, const runner::Call& call) {
        if (handle_ == nullptr && obstacle().empty() && create_(&handle_) != 0)
            library_.fail("does not start");
        if (!obstacle().empty()) throw library::Refusal(cudaErrorNotSupported, obstacle());
        const operations::gemm::Shape shape = call.shape;
        for (const int64_t size : {shape.batch, shape.m, shape.n, shape.k}) {
            if (size > INT_MAX) throw library::Refusal(cudaErrorNotSupported, "counts in 32 bits");
        }
        const CublasTypes types = cublas_types(call.dtype, kind);
        const CublasProduct of(shape);
        const CublasScale alpha(shape.alpha, kind), beta(shape.beta, kind);
        const auto in_int = [](int64_t size) { return static_cast<int>(size); };
        Status status = set_stream_(handle_, call.stream);  // which takes the workspace away
        if (status == 0) status = set_workspace_(handle_, call.workspace, kCublasWorkspace);
        if (status == 0)
            status = multiply_(handle_, of.first.transposed, of.second.transposed, in_int(shape.n),
                               in_int(shape.m), in_int(shape.k), alpha.data(),
                               call.operands["b"].data, types.elements, in_int(of.first.rows),
                               of.first.elements(), call.operands["a"].data, types.elements,
                               in_int(of.second.rows), of.second.elements(), beta.data(),
                               call.operands["c"].data, types.results, in_int(of.result.rows),
                               of.result.elements(), in_int(shape.batch), types.sums, algorithm);
        if (status == 0) return;
        cudaGetLastError();  // said here, not to be found again later
        throw library::Refusal(cudaErrorNotSupported,
                               "refused with status " + std::to_string(status));
    }

private:
    Cublas() {
        library_.find("cublasCreate_v2", create_);
        library_.find("cublasSetStream_v2", set_stream_);
        library_.find("cublasSetWorkspace_v2", set_workspace_);
        library_.find("cublasGemmStridedBatchedEx", multiply_);
    }

    CublasLibrary library_{"libcublas"};
    void* handle_ = nullptr;
    Status (*create_)(void** handle) = nullptr;
    Status (*set_stream_)(void* handle, cudaStream_t stream) = nullptr;
    Status (*set_workspace_)(void* handle, void* workspace, size_t bytes) = nullptr;
    Status (*multiply_)(void* handle, int first_transposed, int second_transposed, int m, int n,
                        int k, const void* alpha, const void* first, int type_of_first,
                        int ld_of_first, long long stride_of_first, const void* second,
                        int type_of_second, int ld_of_second, long long stride_of_second,
                        const void* beta, void* c, int type_of_c, int ld_of_c,
                        long long stride_of_c, int batch, int sums, int algorithm) = nullptr;
};

runner::Variant variant(const std::string& name, const std::string& summary,
                        Kind kind = Kind::float_sums) {
    runner::Variant variant;
    variant.name = name;
    variant.summary = summary;
    variant.operation = operation(kind);
    variant.dtypes = {runner::DType::float32, runner::DType::float16, runner::DType::bfloat16};
    if (kind == Kind::half_sums) variant.dtypes = {runner::DType::float16};
    if (kind == Kind::tf32) variant.dtypes = {runner::DType::float32};
    variant.takes = {kTransposeA, kTransposeB, kAlpha, kBeta};
    variant.workspace_bytes = [](const runner::Shape&, runner::DType) { return kCublasWorkspace; };
    return variant;
}

// A value of cublasGemmAlgo_t.
runner::Variant with_algorithm(const std::string& name, int value, Kind kind = Kind::float_sums) {
    runner::Variant one = variant(name, "algo = " + std::to_string(value), kind);
    one.launch = [value, kind](const runner::Call& call) {
        Cublas::instance().multiply(value, kind, call);
        return cudaSuccess;
    };
    return one;
}

runner::Variant candidate(const std::string& name, size_t number, Kind kind) {
    runner::Variant one = variant(name + std::to_string(number),
                                  "number " + std::to_string(number) + " of what it offers", kind);
    one.obstacle = [number, kind](const runner::Shape& shape, runner::DType dtype) -> std::string {
        const size_t count = lt_candidates(shape, dtype, kind).count();
        return number < count ? "" : "the heuristic offers " + std::to_string(count);
    };
    one.launch = [number, kind](const runner::Call& call) {
        return lt_candidates(call.shape, call.dtype, kind)
            .launch(number, call.operands["a"].data, call.operands["b"].data,
                    call.operands["c"].data, call.workspace, call.stream);
    };
    return one;
}

}  // namespace

Peer cublas() {
    runner::Stage stage;
    stage.name = "cublas";
    stage.title = "cublasGemmStridedBatchedEx";
    stage.variants.push_back(with_algorithm("default", -1));
    for (int i = 0; i <= 23; ++i)
        stage.variants.push_back(with_algorithm("algo" + std::to_string(i), i));
    stage.variants.push_back(with_algorithm("default_tensor_op", 99));
    for (int i = 0; i <= 15; ++i)
        stage.variants.push_back(
            with_algorithm("algo" + std::to_string(i) + "_tensor_op", 100 + i));
    stage.variants.push_back(with_algorithm("half_sums", -1, Kind::half_sums));
    stage.variants.push_back(with_algorithm("tf32", -1, Kind::tf32));
    return {stage, Cublas::instance().obstacle()};
}

Peer cublas_lt() {
    runner::Stage stage;
    stage.name = "cublas_lt";
    stage.title = "cublasLtMatmul";
    for (size_t i = 0; i < kMostLtCandidates; ++i)
        stage.variants.push_back(candidate("candidate_", i, Kind::float_sums));
    for (size_t i = 0; i < kMostLtCandidates; ++i)
        stage.variants.push_back(candidate("e4m3_candidate_", i, Kind::e4m3));
    return {stage, cublas_lt_obstacle()};
}

}  // namespace peers
