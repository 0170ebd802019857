// SPDX-License-Identifier: MIT
#include "cross_entropy.hpp"

namespace library {
namespace {

struct LossAlone : LossProblem {
    using LossProblem::LossProblem;
    template <class T>
    cudaError_t bytes(size_t* bytes) const {
        return softmax_stages::cross_entropy_loss_workspace_bytes<T>(bytes, rows, cols,
                                                                     in_cpp<T>());
    }
    template <class T>
    auto plan(size_t bytes) const {
        return softmax_stages::cross_entropy_loss_plan<T>(rows, cols, in_cpp<T>(),
                                                          softmax_stages::this_chip(), bytes);
    }
};

}  // namespace
}  // namespace library

extern "C" {

int softmax_stages_cross_entropy_loss(int type, const void* logits, int target_type,
                                      const void* targets, void* loss, int64_t rows, int64_t cols,
                                      const softmax_stages_cross_entropy_options* options,
                                      void* workspace, size_t bytes, cudaStream_t stream) {
    const library::LossAlone problem(rows, cols, options);
    return library::call(
        "softmax_stages_cross_entropy_loss", type, problem,
        [&](auto zero) {
            using T = decltype(zero);
            using Sum = library::SumOf<T>;
            return library::with_index(target_type, targets, [&](const auto* of_rows) {
                return softmax_stages::cross_entropy_loss(
                    static_cast<const T*>(logits), of_rows, static_cast<Sum*>(loss), rows, cols,
                    problem.in_cpp<T>(), workspace, bytes, stream);
            });
        },
        [&](library::Findings& findings) {
            problem.explain_operands(findings, type, logits, target_type, targets, loss, false,
                                     nullptr);
        });
}

int softmax_stages_cross_entropy_loss_workspace_bytes(
    int type, size_t* bytes, int64_t rows, int64_t cols,
    const softmax_stages_cross_entropy_options* options) {
    return library::workspace_bytes("softmax_stages_cross_entropy_loss_workspace_bytes", type,
                                    bytes, library::LossAlone(rows, cols, options));
}

int softmax_stages_cross_entropy_loss_plan(int type, softmax_stages_plan* plan, int64_t rows,
                                           int64_t cols,
                                           const softmax_stages_cross_entropy_options* options,
                                           size_t bytes) {
    return library::plan("softmax_stages_cross_entropy_loss_plan", type, plan, bytes,
                         library::LossAlone(rows, cols, options));
}

}  // extern "C"
