// SPDX-License-Identifier: MIT
#include "common/operations/all.hpp"

#include "common/operations/attention/operation.hpp"
#include "common/operations/encoder/operation.hpp"
#include "common/operations/gemm/operation.hpp"
#include "common/operations/heads/operation.hpp"
#include "common/operations/sampling/operation.hpp"
#include "common/operations/softmax/operation.hpp"
#include "common/operations/softmax/shape.hpp"
#include "common/operations/tokens/operation.hpp"
#include "common/operations/topk/operation.hpp"
#include "common/operations/transpose/operation.hpp"

namespace operations {

std::vector<const runner::Operation*> all() {
    std::vector<const runner::Operation*> all;
    using Softmax = softmax::Kind;
    for (const auto kind :
         {Softmax::softmax, Softmax::log_softmax, Softmax::log_sum_exp, Softmax::scale_mask_softmax,
          Softmax::causal_softmax, Softmax::softmax_backward, Softmax::log_softmax_backward})
        all.push_back(softmax::operation_of(kind));
    for (const auto kind : topk::kAllKinds) all.push_back(topk::operation_of(kind));
    for (const auto kind : sampling::kAllKinds) all.push_back(sampling::operation_of(kind));
    for (const auto kind : {gemm::Kind::float_sums, gemm::Kind::half_sums, gemm::Kind::tf32})
        all.push_back(gemm::operation(kind));
    all.push_back(transpose::operation());
    for (const auto kind : tokens::kAllKinds) {
        for (const auto rounding : {tokens::Rounding::once, tokens::Rounding::each_step})
            all.push_back(tokens::operation_of(kind, rounding));
    }
    for (const auto kind : heads::kAllKinds) all.push_back(heads::operation_of(kind));
    for (const auto kind : {attention::Kind::attention, attention::Kind::attention_with_sum})
        all.push_back(attention::operation_of(kind));
    all.push_back(encoder::operation());
    return all;
}

}  // namespace operations
