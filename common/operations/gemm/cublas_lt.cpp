// SPDX-License-Identifier: MIT
#include "common/operations/gemm/cublas_lt.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <tuple>

#include "common/operations/gemm/cublas.hpp"
#include "common/runner/device.hpp"

namespace operations::gemm {
namespace {

// ---- what is used of cublasLt.h

using Status = int;  // cublasStatus_t, where 0 is success

struct Algorithm {  // cublasLtMatmulAlgo_t
    uint64_t data[8];
};
struct HeuristicResult {  // cublasLtMatmulHeuristicResult_t
    Algorithm algorithm;
    size_t workspace_bytes;
    Status state;
    float waves;
    int reserved[4];
};

// Attributes of the three kinds of descriptors.
enum OfProduct {
    kTransposeFirst = 3,
    kTransposeSecond = 4,
    kEpilogue = 7,
    kBias = 8,
    kFastSums = 25  // of e4m3: sums stay in the tensor cores, as in our kernel
};
enum OfLayout { kBatchCount = 5, kBatchStride = 6 };
enum OfPreference { kMostWorkspace = 1 };

class CublasLt {
public:
    // The one instance. Never closed: a GPU's libraries may be gone by the end of the program.
    static CublasLt& instance() {
        static CublasLt& lt = *new CublasLt;
        return lt;
    }
    const std::string& obstacle() const { return library_.obstacle(); }

    // At the first product, not at the first look: it takes time and memory to start.
    void* handle() {
        if (handle_ == nullptr && obstacle().empty() && create_(&handle_) != 0)
            library_.fail("does not start");
        return handle_;
    }

    Status (*create_product)(void** descriptor, int sums, int scales) = nullptr;
    Status (*set_of_product)(void* descriptor, int attribute, const void* value,
                             size_t bytes) = nullptr;
    Status (*destroy_product)(void* descriptor) = nullptr;
    Status (*create_layout)(void** layout, int type, uint64_t rows, uint64_t cols,
                            int64_t ld) = nullptr;
    Status (*set_of_layout)(void* layout, int attribute, const void* value, size_t bytes) = nullptr;
    Status (*destroy_layout)(void* layout) = nullptr;
    Status (*create_preference)(void** preference) = nullptr;
    Status (*set_of_preference)(void* preference, int attribute, const void* value,
                                size_t bytes) = nullptr;
    Status (*destroy_preference)(void* preference) = nullptr;
    Status (*find_algorithms)(void* handle, void* product, void* first, void* second, void* c,
                              void* d, void* preference, int wanted, HeuristicResult* results,
                              int* count) = nullptr;
    Status (*multiply)(void* handle, void* product, const void* alpha, const void* first,
                       void* of_first, const void* second, void* of_second, const void* beta,
                       const void* c, void* of_c, void* d, void* of_d, const Algorithm* algorithm,
                       void* workspace, size_t workspace_bytes, cudaStream_t stream) = nullptr;
    size_t (*version)() = nullptr;

private:
    CublasLt() {
        library_.find("cublasLtCreate", create_);
        library_.find("cublasLtMatmulDescCreate", create_product);
        library_.find("cublasLtMatmulDescSetAttribute", set_of_product);
        library_.find("cublasLtMatmulDescDestroy", destroy_product);
        library_.find("cublasLtMatrixLayoutCreate", create_layout);
        library_.find("cublasLtMatrixLayoutSetAttribute", set_of_layout);
        library_.find("cublasLtMatrixLayoutDestroy", destroy_layout);
        library_.find("cublasLtMatmulPreferenceCreate", create_preference);
        library_.find("cublasLtMatmulPreferenceSetAttribute", set_of_preference);
        library_.find("cublasLtMatmulPreferenceDestroy", destroy_preference);
        library_.find("cublasLtMatmulAlgoGetHeuristic", find_algorithms);
        library_.find("cublasLtMatmul", multiply);
        library_.find("cublasLtGetVersion", version);
    }

    CublasLibrary library_{"libcublasLt"};
    void* handle_ = nullptr;
    Status (*create_)(void** handle) = nullptr;
};

bool is_aligned(const void* pointer) {
    return reinterpret_cast<uintptr_t>(pointer) % 256 == 0;  // as the heuristic takes for granted
}

// A value of cublasLtEpilogue_t.
int32_t number_of(LtEpilogue epilogue) {
    switch (epilogue) {
        case LtEpilogue::none:
            break;
        case LtEpilogue::bias:
            return 4;
        case LtEpilogue::bias_gelu:
            return 36;
    }
    return 1;
}

}  // namespace

// Null where they could not be made; then nothing is found either.
struct LtCandidates::Descriptors {
    Descriptors(const Shape& shape, DType dtype, Kind kind, LtEpilogue epilogue) {
        const CublasTypes types = cublas_types(dtype, kind);
        const CublasProduct of(shape);
        const int32_t first_transposed = of.first.transposed ? 1 : 0;  // cublasOperation_t
        const int32_t second_transposed = of.second.transposed ? 1 : 0;
        const int32_t ending = number_of(epilogue);
        const int8_t is_fast = 1;
        const auto is_whole = [](double scale) { return scale == std::trunc(scale); };
        const bool has_scales = kind != Kind::s8 || (is_whole(shape.alpha) && is_whole(shape.beta));
        const void* const some_bias =
            this;  // aligned, as each launch's will be: of none nothing is found
        const uint64_t most_workspace = kCublasWorkspace;
        void* preference = nullptr;
        int count = 0;
        const bool good =
            has_scales && lt.handle() != nullptr &&
            lt.create_product(&product, types.sums, types.scales) == 0 &&
            lt.set_of_product(product, kTransposeFirst, &first_transposed, 4) == 0 &&
            lt.set_of_product(product, kTransposeSecond, &second_transposed, 4) == 0 &&
            lt.set_of_product(product, kEpilogue, &ending, 4) == 0 &&
            (kind != Kind::e4m3 ||
             lt.set_of_product(product, kFastSums, &is_fast, sizeof(is_fast)) == 0) &&
            (epilogue == LtEpilogue::none ||
             lt.set_of_product(product, kBias, &some_bias, sizeof(some_bias)) == 0) &&
            set_layout(first, types.elements, of.first, shape.batch) &&
            set_layout(second, types.elements, of.second, shape.batch) &&
            set_layout(result, types.results, of.result, shape.batch) &&
            lt.create_preference(&preference) == 0 &&
            lt.set_of_preference(preference, kMostWorkspace, &most_workspace, 8) == 0 &&
            lt.find_algorithms(lt.handle(), product, first, second, result, result, preference,
                               kMostLtCandidates, found.data(), &count) == 0;
        if (preference != nullptr) lt.destroy_preference(preference);
        const auto end = found.begin() + (good ? count : 0);
        found.resize(static_cast<size_t>(std::remove_if(found.begin(), end,
                                                        [](const HeuristicResult& each) {
                                                            return each.state != 0 ||
                                                                   each.workspace_bytes >
                                                                       kCublasWorkspace;
                                                        }) -
                                         found.begin()));
    }
    Descriptors(const Descriptors&) = delete;
    Descriptors& operator=(const Descriptors&) = delete;
    ~Descriptors() {
        for (void* layout : {first, second, result}) {
            if (layout != nullptr) lt.destroy_layout(layout);
        }
        if (product != nullptr) lt.destroy_product(product);
    }

    bool set_layout(void*& layout, int type, const CublasMatrix& of, int64_t batch) const {
        const auto count = static_cast<int32_t>(batch);
        const int64_t stride = of.elements();
        return count == batch &&
               lt.create_layout(&layout, type, static_cast<uint64_t>(of.rows),
                                static_cast<uint64_t>(of.cols), of.rows) == 0 &&
               lt.set_of_layout(layout, kBatchCount, &count, sizeof(count)) == 0 &&
               lt.set_of_layout(layout, kBatchStride, &stride, sizeof(stride)) == 0;
    }

    CublasLt& lt = CublasLt::instance();
    void* product = nullptr;
    void* first = nullptr;
    void* second = nullptr;
    void* result = nullptr;
    std::vector<HeuristicResult> found = std::vector<HeuristicResult>(kMostLtCandidates);
};

LtCandidates::LtCandidates(const Shape& shape, DType dtype, Kind kind, LtEpilogue epilogue)
    : of_(std::make_unique<Descriptors>(shape, dtype, kind, epilogue)),
      alpha_(shape.alpha, kind),
      beta_(shape.beta, kind),
      has_bias_(epilogue != LtEpilogue::none) {}
LtCandidates::~LtCandidates() = default;

size_t LtCandidates::count() const {
    return of_->found.size();
}

cudaError_t LtCandidates::launch(size_t candidate, const void* a, const void* b, void* c,
                                 void* workspace, cudaStream_t stream, const void* bias) const {
    if (candidate >= count()) return cudaErrorNotSupported;
    if (!is_aligned(a) || !is_aligned(b) || !is_aligned(c) || !is_aligned(workspace))
        return cudaErrorInvalidValue;
    if (has_bias_ && (bias == nullptr || !is_aligned(bias) ||
                      of_->lt.set_of_product(of_->product, kBias, &bias, sizeof(bias)) != 0))
        return cudaErrorInvalidValue;
    const Status status =
        of_->lt.multiply(of_->lt.handle(), of_->product, alpha_.data(), b, of_->first, a,
                         of_->second, beta_.data(), c, of_->result, c, of_->result,
                         &of_->found[candidate].algorithm, workspace, kCublasWorkspace, stream);
    if (status == 0) return cudaSuccess;
    cudaGetLastError();  // said here, not to be found again later
    return cudaErrorNotSupported;
}

std::string cublas_lt_obstacle() {
    return CublasLt::instance().obstacle();
}

std::string cublas_lt_version() {
    const CublasLt& lt = CublasLt::instance();
    if (!lt.obstacle().empty()) return "no cuBLAS";
    const size_t number = lt.version();  // 130100 is 13.1.0
    return "cuBLAS " + std::to_string(number / 10000) + "." + std::to_string(number / 100 % 100) +
           "." + std::to_string(number % 100);
}

const LtCandidates& lt_candidates(const Shape& shape, DType dtype, Kind kind, LtEpilogue epilogue) {
    static std::map<std::tuple<std::string, DType, Kind, LtEpilogue>, LtCandidates> kept;
    return kept
        .try_emplace({text_of(runner::Shape(shape)), dtype, kind, epilogue}, shape, dtype, kind,
                     epilogue)
        .first->second;
}

std::vector<runner::Work> lt_works(const Shape& of, DType dtype, Kind kind, const void* a,
                                   const void* b) {
    // It takes operands of e4m3 along k alone: as many of them as any other layout has.
    const Shape shape = kind == Kind::e4m3 ? of.with_transposed(false, true) : of;
    const LtCandidates& candidates = lt_candidates(shape, dtype, kind);
    using Buffer = runner::DeviceBuffer<unsigned char>;
    const size_t size = kind == Kind::s8 ? sizeof(int) : runner::size_of(dtype);
    const size_t bytes = static_cast<size_t>(shape.batch * shape.m * shape.n) * size;
    const auto c = std::make_shared<Buffer>(bytes);
    const auto workspace = std::make_shared<Buffer>(kCublasWorkspace);
    runner::check_cuda(cudaMemset(c->data(), 0, bytes), "clearing what a roof writes to");
    std::vector<runner::Work> works;
    for (size_t i = 0; i < candidates.count(); ++i) {
        const auto launch = [=, &candidates](cudaStream_t stream) {
            return candidates.launch(i, a, b, c->data(), workspace->data(), stream);
        };
        if (launch(nullptr) != cudaSuccess) continue;  // offered, and then refused
        works.emplace_back([launch](cudaStream_t stream) {
            runner::check_cuda(launch(stream), "launching what cuBLASLt offers");
        });
    }
    if (works.empty()) {  // of k = 0, say: nobody does without writing C
        works.emplace_back([=](cudaStream_t stream) {
            runner::check_cuda(cudaMemsetAsync(c->data(), 0, bytes, stream), "setting C");
        });
    }
    return works;
}

}  // namespace operations::gemm
