// SPDX-License-Identifier: MIT
#include "softmax.hpp"

namespace library {
namespace {

struct SoftmaxProblem : RowsProblem {
    using RowsProblem::RowsProblem;
    template <class T>
    cudaError_t bytes(size_t* bytes) const {
        return softmax_stages::softmax_workspace_bytes<T>(bytes, rows, cols, in_cpp());
    }
    template <class T>
    auto plan(size_t bytes) const {
        return softmax_stages::softmax_plan<T>(rows, cols, in_cpp(), softmax_stages::this_chip(),
                                               bytes);
    }
};

}  // namespace
}  // namespace library

extern "C" {

softmax_stages_softmax_options softmax_stages_softmax_defaults() {
    return {1};
}

int softmax_stages_softmax(int type, const void* x, void* y, int64_t rows, int64_t cols,
                           const softmax_stages_softmax_options* options, void* workspace,
                           size_t bytes, cudaStream_t stream) {
    const library::SoftmaxProblem problem(rows, cols, options);
    return library::call(
        "softmax_stages_softmax", type, problem,
        [&](auto zero) {
            using T = decltype(zero);
            return softmax_stages::softmax(static_cast<const T*>(x), static_cast<T*>(y), rows, cols,
                                           problem.in_cpp(), workspace, bytes, stream);
        },
        [&](library::Findings& findings) {
            library::explain_rows(findings, type, {"x", "y", nullptr}, {x, y, nullptr});
        });
}

int softmax_stages_softmax_workspace_bytes(int type, size_t* bytes, int64_t rows, int64_t cols,
                                           const softmax_stages_softmax_options* options) {
    return library::workspace_bytes("softmax_stages_softmax_workspace_bytes", type, bytes,
                                    library::SoftmaxProblem(rows, cols, options));
}

int softmax_stages_softmax_plan(int type, softmax_stages_plan* plan, int64_t rows, int64_t cols,
                                const softmax_stages_softmax_options* options, size_t bytes) {
    return library::plan("softmax_stages_softmax_plan", type, plan, bytes,
                         library::SoftmaxProblem(rows, cols, options));
}

}  // extern "C"
