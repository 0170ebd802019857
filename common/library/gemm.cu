// SPDX-License-Identifier: MIT
#include <front_calls/gemm.cuh>

#include "call.hpp"

namespace library {
namespace {

struct GemmProblem {
    static constexpr bool kDoubles = false;
    int64_t batch, m, n, k;
    softmax_stages_gemm_options options;

    GemmProblem(int64_t batch_, int64_t m_, int64_t n_, int64_t k_,
                const softmax_stages_gemm_options* given)
        : batch(batch_),
          m(m_),
          n(n_),
          k(k_),
          options(given != nullptr ? *given : softmax_stages_gemm_defaults()) {}

    softmax_stages::GemmOptions in_cpp() const {
        return {options.alpha,
                options.beta,
                options.transpose_a != 0,
                options.transpose_b != 0,
                options.ld_a,
                options.ld_b,
                options.ld_c,
                options.stride_a,
                options.stride_b,
                options.stride_c};
    }
    template <class T>
    cudaError_t bytes(size_t* bytes) const {
        return softmax_stages::gemm_workspace_bytes<T>(bytes, batch, m, n, k, in_cpp());
    }
    template <class T>
    auto plan(size_t bytes) const {
        return softmax_stages::gemm_plan<T>(batch, m, n, k, in_cpp(), softmax_stages::this_chip(),
                                            bytes);
    }
    bool is_empty() const { return batch == 0 || m == 0 || n == 0; }
    void explain(Findings& findings, int /*type*/) const {
        findings.size("batch", batch);
        findings.size("m", m);
        findings.size("n", n);
        findings.size("k", k);
        const auto distance = [&](const char* name, int64_t value, int64_t least) {
            findings.need(value == softmax_stages::kClose || value >= least,
                          "options.%s is %lld; it must be -1 (contiguous) or at least %lld", name,
                          static_cast<long long>(value), static_cast<long long>(least));
        };
        distance("ld_a", options.ld_a, options.transpose_a != 0 ? m : k);
        distance("ld_b", options.ld_b, options.transpose_b != 0 ? k : n);
        distance("ld_c", options.ld_c, n);
        distance("stride_a", options.stride_a, 0);
        distance("stride_b", options.stride_b, 0);
        distance("stride_c", options.stride_c, 1);
    }
};

}  // namespace
}  // namespace library

extern "C" {

softmax_stages_gemm_options softmax_stages_gemm_defaults() {
    constexpr int64_t kClose = softmax_stages::kClose;
    return {1.f, 0.f, 0, 0, kClose, kClose, kClose, kClose, kClose, kClose};
}

int softmax_stages_gemm(int type, const void* a, const void* b, void* c, int64_t batch, int64_t m,
                        int64_t n, int64_t k, const softmax_stages_gemm_options* options,
                        void* workspace, size_t bytes, cudaStream_t stream) {
    const library::GemmProblem problem(batch, m, n, k, options);
    return library::call(
        "softmax_stages_gemm", type, problem,
        [&](auto zero) {
            using T = decltype(zero);
            return softmax_stages::gemm(static_cast<const T*>(a), static_cast<const T*>(b),
                                        static_cast<T*>(c), batch, m, n, k, problem.in_cpp(),
                                        workspace, bytes, stream);
        },
        [&](library::Findings& findings) {
            const size_t element = library::bytes_of_type(type);
            if (k > 0) findings.address("a", a, element);
            if (k > 0) findings.address("b", b, element);
            findings.address("c", c, element);
            findings.need(
                false,
                "probably, the lines or matrices of c overlap, or c has too many tiles for a grid "
                "(2^31 or more)");
        });
}

int softmax_stages_gemm_workspace_bytes(int type, size_t* bytes, int64_t batch, int64_t m,
                                        int64_t n, int64_t k,
                                        const softmax_stages_gemm_options* options) {
    return library::workspace_bytes("softmax_stages_gemm_workspace_bytes", type, bytes,
                                    library::GemmProblem(batch, m, n, k, options));
}

int softmax_stages_gemm_plan(int type, softmax_stages_plan* plan, int64_t batch, int64_t m,
                             int64_t n, int64_t k, const softmax_stages_gemm_options* options,
                             size_t bytes) {
    return library::plan("softmax_stages_gemm_plan", type, plan, bytes,
                         library::GemmProblem(batch, m, n, k, options));
}

}  // extern "C"
