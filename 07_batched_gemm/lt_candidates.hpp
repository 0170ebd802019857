// SPDX-License-Identifier: MIT
// Candidates for further/gemm_tuner.hpp from cuBLASLt, where that library is available.
#pragma once
#include <string>
#include <vector>

#include "07_batched_gemm/further/gemm_tuner.hpp"
#include "common/operations/gemm/cublas_lt.hpp"
#include "common/runner/dtype.hpp"

namespace batched_gemm_variants {

// True if two problems differ at most in their addresses.
template <class T>
bool are_alike(const batched_gemm::Problem<T>& g, const batched_gemm::Problem<T>& of) {
    const auto lie_alike = [](const auto& x, const auto& y) {
        return x.ld == y.ld && x.stride == y.stride && x.transposed == y.transposed &&
               x.each == y.each;
    };
    return g.batch == of.batch && g.m == of.m && g.n == of.n && g.k == of.k &&
           g.alpha == of.alpha && g.beta == of.beta && lie_alike(g.a, of.a) &&
           lie_alike(g.b, of.b) && lie_alike(g.c, of.c);
}

// Returns the candidates of cuBLASLt's heuristic if all matrices are contiguous, otherwise none. A candidate depends on
// everything in g but the addresses: it refuses any other problem, even one with the same problem_text().
// workspace: kCublasWorkspace bytes that must live as long as the candidates.
template <class T>
std::vector<batched_gemm::Candidate<T>> lt_candidates_of(const batched_gemm::Problem<T>& g,
                                                         void* workspace) {
    using operations::gemm::LtCandidates;
    const auto is_close = [](const auto& x, int64_t lines, int64_t length) {
        return x.each == nullptr && x.ld == length && x.stride == lines * length;
    };
    if (!is_close(g.a, g.a.transposed ? g.k : g.m, g.a.transposed ? g.m : g.k) ||
        !is_close(g.b, g.b.transposed ? g.n : g.k, g.b.transposed ? g.k : g.n) ||
        !is_close(g.c, g.m, g.n))
        return {};
    const operations::gemm::Shape shape =
        operations::gemm::Shape(g.batch, g.m, g.n, g.k)
            .with_transposed(g.a.transposed, g.b.transposed)
            .with_scales(static_cast<double>(g.alpha), static_cast<double>(g.beta));
    const LtCandidates& ways = operations::gemm::lt_candidates(shape, runner::dtype_of<T>);
    std::vector<batched_gemm::Candidate<T>> all;
    for (size_t i = 0; i < ways.count(); ++i) {
        all.push_back(
            {"cublas_lt " + std::to_string(i),
             [&ways, g, i, workspace](const batched_gemm::Problem<T>& of, cudaStream_t stream) {
                 if (!are_alike(g, of)) return cudaErrorNotSupported;
                 return ways.launch(i, of.a.data, of.b.data, of.c.data, workspace, stream);
             }});
    }
    return all;
}

}  // namespace batched_gemm_variants
