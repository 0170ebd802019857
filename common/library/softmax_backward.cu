// SPDX-License-Identifier: MIT
#include "softmax.hpp"

namespace library {
namespace {

struct SoftmaxGradientProblem : RowsProblem {
    using RowsProblem::RowsProblem;
    template <class T>
    cudaError_t bytes(size_t* bytes) const {
        return softmax_stages::softmax_backward_workspace_bytes<T>(bytes, rows, cols, in_cpp());
    }
    template <class T>
    auto plan(size_t bytes) const {
        return softmax_stages::softmax_backward_plan<T>(rows, cols, in_cpp(),
                                                        softmax_stages::this_chip(), bytes);
    }
};

}  // namespace
}  // namespace library

extern "C" {

int softmax_stages_softmax_backward(int type, const void* y, const void* dy, void* dx, int64_t rows,
                                    int64_t cols, const softmax_stages_softmax_options* options,
                                    void* workspace, size_t bytes, cudaStream_t stream) {
    const library::SoftmaxGradientProblem problem(rows, cols, options);
    return library::call(
        "softmax_stages_softmax_backward", type, problem,
        [&](auto zero) {
            using T = decltype(zero);
            return softmax_stages::softmax_backward(
                static_cast<const T*>(y), static_cast<const T*>(dy), static_cast<T*>(dx), rows,
                cols, problem.in_cpp(), workspace, bytes, stream);
        },
        [&](library::Findings& findings) {
            library::explain_rows(findings, type, {"y", "dy", "dx"}, {y, dy, dx});
        });
}

int softmax_stages_softmax_backward_workspace_bytes(int type, size_t* bytes, int64_t rows,
                                                    int64_t cols,
                                                    const softmax_stages_softmax_options* options) {
    return library::workspace_bytes("softmax_stages_softmax_backward_workspace_bytes", type, bytes,
                                    library::SoftmaxGradientProblem(rows, cols, options));
}

int softmax_stages_softmax_backward_plan(int type, softmax_stages_plan* plan, int64_t rows,
                                         int64_t cols,
                                         const softmax_stages_softmax_options* options,
                                         size_t bytes) {
    return library::plan("softmax_stages_softmax_backward_plan", type, plan, bytes,
                         library::SoftmaxGradientProblem(rows, cols, options));
}

}  // extern "C"
