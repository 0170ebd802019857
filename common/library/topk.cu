// SPDX-License-Identifier: MIT
#include <front_calls/topk.cuh>

#include "call.hpp"

namespace library {
namespace {

struct TopkProblem {
    static constexpr bool kDoubles = false;
    int64_t rows, cols, k;
    softmax_stages_topk_options options;

    TopkProblem(int64_t rows_, int64_t cols_, int64_t k_, const softmax_stages_topk_options* given)
        : rows(rows_),
          cols(cols_),
          k(k_),
          options(given != nullptr ? *given : softmax_stages_topk_defaults()) {}

    template <class T>
    softmax_stages::TopkOptions<T> in_cpp() const {
        return {static_cast<T*>(options.logits), options.log_sum_exp};
    }
    template <class T>
    cudaError_t bytes(size_t* bytes) const {
        return softmax_stages::topk_workspace_bytes<T>(bytes, rows, cols, k, in_cpp<T>());
    }
    template <class T>
    auto plan(size_t bytes) const {
        return softmax_stages::topk_plan<T>(rows, cols, k, in_cpp<T>(), softmax_stages::this_chip(),
                                            bytes);
    }
    bool is_empty() const { return rows == 0 || k == 0; }
    void explain(Findings& findings, int /*type*/) const {
        findings.size("rows", rows);
        findings.size("cols", cols, INT32_MAX);
        findings.size("k", k, std::min(cols, softmax_stages::kMostOfTopk));
    }
};

}  // namespace
}  // namespace library

extern "C" {

softmax_stages_topk_options softmax_stages_topk_defaults() {
    return {};
}

int softmax_stages_topk(int type, const void* x, void* probabilities, int column_type,
                        void* columns, int64_t rows, int64_t cols, int64_t k,
                        const softmax_stages_topk_options* options, void* workspace, size_t bytes,
                        cudaStream_t stream) {
    const library::TopkProblem problem(rows, cols, k, options);
    return library::call(
        "softmax_stages_topk", type, problem,
        [&](auto zero) {
            using T = decltype(zero);
            return library::with_index(column_type, columns, [&](auto* to) {
                return softmax_stages::topk(static_cast<const T*>(x),
                                            static_cast<T*>(probabilities), to, rows, cols, k,
                                            problem.in_cpp<T>(), workspace, bytes, stream);
            });
        },
        [&](library::Findings& findings) {
            const size_t element = library::bytes_of_type(type);
            findings.index_type("columns", column_type);
            findings.address("x", x, element);
            findings.address("probabilities", probabilities, element, true);
            findings.address("columns", columns, library::bytes_of_type(column_type), true);
            findings.address("options.logits", problem.options.logits, element, true);
            findings.address("options.log_sum_exp", problem.options.log_sum_exp, sizeof(float),
                             true);
        });
}

int softmax_stages_topk_workspace_bytes(int type, size_t* bytes, int64_t rows, int64_t cols,
                                        int64_t k, const softmax_stages_topk_options* options) {
    return library::workspace_bytes("softmax_stages_topk_workspace_bytes", type, bytes,
                                    library::TopkProblem(rows, cols, k, options));
}

int softmax_stages_topk_plan(int type, softmax_stages_plan* plan, int64_t rows, int64_t cols,
                             int64_t k, const softmax_stages_topk_options* options, size_t bytes) {
    return library::plan("softmax_stages_topk_plan", type, plan, bytes,
                         library::TopkProblem(rows, cols, k, options));
}

}  // extern "C"
