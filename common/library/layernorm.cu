// SPDX-License-Identifier: MIT
#include <front_calls/layernorm.cuh>

#include "call.hpp"

namespace library {
namespace {

struct NormProblem {
    static constexpr bool kDoubles = false;
    int64_t rows, cols;
    softmax_stages_layernorm_options options;

    NormProblem(int64_t rows_, int64_t cols_, const softmax_stages_layernorm_options* given)
        : rows(rows_),
          cols(cols_),
          options(given != nullptr ? *given : softmax_stages_layernorm_defaults()) {}

    template <class T>
    softmax_stages::LayernormOptions<T> in_cpp() const {
        return {options.epsilon, static_cast<const T*>(options.bias),
                static_cast<const T*>(options.residual), static_cast<T*>(options.sum)};
    }
    template <class T>
    cudaError_t bytes(size_t* bytes) const {
        return softmax_stages::layernorm_workspace_bytes<T>(bytes, rows, cols, in_cpp<T>());
    }
    template <class T>
    auto plan(size_t bytes) const {
        return softmax_stages::layernorm_plan<T>(rows, cols, in_cpp<T>(),
                                                 softmax_stages::this_chip(), bytes);
    }
    bool is_empty() const { return rows == 0 || cols == 0; }
    void explain(Findings& findings, int /*type*/) const {
        findings.size("rows", rows);
        findings.size("cols", cols, softmax_stages::kMostLayernormCols);
        findings.need(options.epsilon >= 0.f, "options.epsilon is %g; it must be at least 0",
                      static_cast<double>(options.epsilon));
    }
};

}  // namespace
}  // namespace library

extern "C" {

softmax_stages_layernorm_options softmax_stages_layernorm_defaults() {
    return {1e-5f, nullptr, nullptr, nullptr};
}

int softmax_stages_layernorm(int type, const void* x, const void* gamma, const void* beta, void* y,
                             int64_t rows, int64_t cols,
                             const softmax_stages_layernorm_options* options, void* workspace,
                             size_t bytes, cudaStream_t stream) {
    const library::NormProblem problem(rows, cols, options);
    return library::call(
        "softmax_stages_layernorm", type, problem,
        [&](auto zero) {
            using T = decltype(zero);
            return softmax_stages::layernorm(static_cast<const T*>(x), static_cast<const T*>(gamma),
                                             static_cast<const T*>(beta), static_cast<T*>(y), rows,
                                             cols, problem.in_cpp<T>(), workspace, bytes, stream);
        },
        [&](library::Findings& findings) {
            const size_t element = library::bytes_of_type(type);
            findings.address("x", x, element);
            findings.address("gamma", gamma, element);
            findings.address("beta", beta, element);
            findings.address("y", y, element);
            findings.address("options.bias", problem.options.bias, element, true);
            findings.address("options.residual", problem.options.residual, element, true);
            findings.address("options.sum", problem.options.sum, element, true);
            findings.need(false, "probably, there are too many rows for a grid");
        });
}

int softmax_stages_layernorm_workspace_bytes(int type, size_t* bytes, int64_t rows, int64_t cols,
                                             const softmax_stages_layernorm_options* options) {
    return library::workspace_bytes("softmax_stages_layernorm_workspace_bytes", type, bytes,
                                    library::NormProblem(rows, cols, options));
}

int softmax_stages_layernorm_plan(int type, softmax_stages_plan* plan, int64_t rows, int64_t cols,
                                  const softmax_stages_layernorm_options* options, size_t bytes) {
    return library::plan("softmax_stages_layernorm_plan", type, plan, bytes,
                         library::NormProblem(rows, cols, options));
}

}  // extern "C"
